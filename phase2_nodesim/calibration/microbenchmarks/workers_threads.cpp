// Workers that are threads of this process, each on a processor of its own: on a core of its own as long as there are
// enough.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

// Package and core of a processor. What the system does not say is -1, or the processor itself as a core of its own.
std::pair<int, int> core_of(int cpu) {
  const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  int package = -1;
  int core = cpu;
  if (int value = 0; std::ifstream(topology + "physical_package_id") >> value) {
    package = value;
  }
  if (int value = 0; std::ifstream(topology + "core_id") >> value) {
    core = value;
  }
  return {package, core};
}

// The first processor of each core, then the others: as many workers as there are cores get a whole one each, however
// the system numbers the threads of a core. Host.cores of host.py counts the same cores.
std::vector<int> first_of_each_core(const std::vector<int>& all) {
  std::set<std::pair<int, int>> cores;
  std::vector<int> first;
  std::vector<int> others;
  for (const int cpu : all) {
    (cores.insert(core_of(cpu)).second ? first : others).push_back(cpu);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

// In the order in which workers get them.
const std::vector<int> allowed = first_of_each_core(processors());

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
