#include "progress.hpp"

#include "result_writer.hpp"

namespace manynode::sst_element {

namespace {

// The clock is read once per this many calls of a rank; a call costs SST some microseconds.
constexpr std::uint32_t kLookEvery = 256;

}  // namespace

std::string progress_line(network::Picoseconds now, std::uint64_t steps, std::optional<std::uint64_t> of) {
  std::string line = "manynode-progress {\"simulated_s\":";
  line += network::shortest(network::to_seconds(now));
  line += ",\"steps\":";
  line += std::to_string(steps);
  line += ",\"of\":";
  line += of ? std::to_string(*of) : "null";
  line += '}';
  return line;
}

bool Progress::due() {
  if (!wanted_) return false;
  thread_local std::uint32_t calls = 0;
  if (++calls % kLookEvery != 0) return false;
  const Clock::rep now = Clock::now().time_since_epoch().count();
  Clock::rep last = last_.load(std::memory_order_relaxed);
  if (Clock::duration(now - last) < std::chrono::seconds(2)) return false;
  return last_.compare_exchange_strong(last, now);
}

}  // namespace manynode::sst_element
