// Workers that are threads of this process, each on a processor of its own.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "workers.hpp"

namespace manynode::calibration {
namespace {

using Clock = std::chrono::steady_clock;

// Spins: a worker that sleeps would start late.
class Gate {
 public:
  void open_for(int count) { count_ = count; }
  void wait() {
    if (count_ == 1) {
      return;
    }
    const int turn = turn_.load();
    if (waiting_.fetch_add(1) + 1 == count_) {
      waiting_ = 0;
      turn_ = turn + 1;
    } else {
      while (turn_.load(std::memory_order_acquire) == turn) {
      }
    }
  }

 private:
  int count_{1};
  std::atomic<int> waiting_{0};
  std::atomic<int> turn_{0};
};

Gate gate;
std::vector<double> values;
thread_local Clock::time_point start;

std::vector<int> processors() {
  cpu_set_t set;
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        found.push_back(cpu);
      }
    }
  }
  return found.empty() ? std::vector<int>{0} : found;
}

const std::vector<int> allowed = processors();

void pin(int index) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(allowed[static_cast<std::size_t>(index)], &set);
  // A process that may not choose its processor measures all the same.
  (void)sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

void workers_begin(int*, char***) {}
void workers_end() {}
int most_workers() { return static_cast<int>(allowed.size()); }
int standard_workers() { return 1; }
bool reports() { return true; }

void with_workers(int count, const std::string&, const std::function<void(const Worker&)>& work) {
  gate.open_for(count);
  values.assign(static_cast<std::size_t>(count), 0);
  if (count == 1) {
    // No thread: not every simulator has them.
    pin(0);
    work({0, 1});
    return;
  }
  std::vector<std::thread> threads;
  // Parameters that a microbenchmark refuses are refused by all workers, so that none waits for another.
  std::exception_ptr failure;
  for (int index = 0; index < count; ++index) {
    threads.emplace_back([&work, &failure, index, count] {
      pin(index);
      try {
        work({index, count});
      } catch (...) {
        if (index == 0) {
          failure = std::current_exception();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void region_begin() {
  gate.wait();
  start = Clock::now();
}

double region_end() {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  gate.wait();
  return seconds;
}

double largest(double value, const Worker& worker) {
  values[static_cast<std::size_t>(worker.index)] = value;
  gate.wait();
  return *std::max_element(values.begin(), values.end());
}

}  // namespace manynode::calibration
