// Reports progress on stderr: one line of JSON after "manynode-progress", at most every two seconds, and only while
// ranks progress. Missing lines mean a standstill.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sim_time.hpp"

namespace manynode::sst_element {

// "manynode-progress {"simulated_s":0.5,"steps":3,"of":50}"; `of` null where it is unknown.
std::string progress_line(network::Picoseconds now, std::uint64_t steps, std::optional<std::uint64_t> of);

class Progress {
 public:
  explicit Progress(bool wanted) : wanted_(wanted) {}

  // True once when the next line is due; any thread may call it often.
  bool due();

 private:
  using Clock = std::chrono::steady_clock;

  bool wanted_;
  std::atomic<Clock::rep> last_{Clock::now().time_since_epoch().count()};
};

}  // namespace manynode::sst_element
