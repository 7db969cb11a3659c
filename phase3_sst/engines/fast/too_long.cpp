// The error of a run whose times or bytes do not fit: the responsible key, or the operation that took the time.
#include <algorithm>
#include <string>

#include "end_of_time.hpp"
#include "manynode/error_report.hpp"
#include "replica.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

namespace {

constexpr std::size_t kMostOperations = 3;

std::string seconds_text(Picoseconds time) {
  return (time > kEndOfTime ? "more than " + rounded(kEndOfTime_s) : rounded(to_seconds(time))) + " s";
}

}  // namespace

void Replica::check_length(const Rank& rank, std::uint32_t index, const Message& message) const {
  network_.check_length(message);
  constexpr Picoseconds kMost = 2 * kLongestStep;
  const Picoseconds send = overhead_send_.of_any(message.bytes);
  const Picoseconds receive = overhead_receive_.of_any(message.bytes);
  if (send > kMost) refuse_time(rank, index, send, Spent::Send, message.bytes);
  if (receive > kMost) refuse_time(rank, index, receive, Spent::Receive, message.bytes);
}

// An operation this long is the cause itself; otherwise everything before it is.
void Replica::refuse_time(const Rank& rank, std::uint32_t index, Picoseconds duration, Spent on,
                          std::uint64_t amount) const {
  if (duration < kLongestStep) end_of_time();
  const HostConfig& host = config_.network.host;
  const std::string bytes = std::to_string(amount) + " bytes";
  std::string key;
  std::string what;
  std::string remedy = "correct ";
  switch (on) {
    case Spent::Compute: {
      key = "timing profile, phase " + jobs_[rank.job].application->phases()[amount];
      what = "computing";
      remedy = "correct the times of this phase, or simulate.slow_node.factor: ";
      break;
    }
    case Spent::Pause:
      key = "pause of the application";
      what = "a pause";
      break;
    case Spent::Reduce:
      key = "network.host.reduce_bandwidth";
      what = "combining " + bytes + " at " + rounded(host.reduce_bandwidth_Bps.of(amount)) + " B/s";
      break;
    case Spent::Copy:
      key = "network.host.copy_bandwidth";
      what = "copying " + bytes + " at " + rounded(host.copy_bandwidth_Bps->of(amount)) + " B/s";
      break;
    case Spent::Fresh:
      key = "network.host.fresh_bandwidth";
      what = "writing " + bytes + " of fresh memory at " + rounded(host.fresh_bandwidth_Bps->of(amount)) + " B/s";
      break;
    case Spent::CollectiveCall:
      key = "network.host.collective_call";
      what = "entering a collective";
      break;
    case Spent::CollectiveStep:
      key = "network.host.collective_step";
      what = "a step of a collective";
      break;
    case Spent::Send:
      key = "network.host.overhead_send";
      what = "sending " + bytes;
      break;
    case Spent::Receive:
      key = "network.host.overhead_recv";
      what = "receiving " + bytes;
      break;
  }
  throw UserError("an operation takes too long", key,
                  rank_name(index) + ", at " + seconds_text(rank.clock) + ", step " + std::to_string(rank.steps) +
                      ": " + what + " takes " + seconds_text(duration),
                  "a run of at most " + rounded(kEndOfTime_s) + " s (92 days)", remedy + key);
}

void Replica::refuse_end_of_time() const {
  std::uint32_t latest = 0;
  for (std::uint32_t index = 1; index < ranks_.size(); ++index) {
    if (ranks_[index].clock > ranks_[latest].clock) latest = index;
  }
  const Rank& rank = ranks_[latest];
  const std::string when = "after " + std::to_string(result_.events) + " events, at " + seconds_text(events_.now()) +
                           "; the rank that has come farthest is " + rank_name(latest) + ", step " +
                           std::to_string(rank.steps) + ", at " + seconds_text(rank.clock);
  std::vector<std::pair<Picoseconds, std::string>> operations;
  const auto& uses = result_.jobs[rank.job].ranks[latest - jobs_[rank.job].first];
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    if (uses[kind].time == 0) continue;
    operations.emplace_back(uses[kind].time, std::string(kCallNames[kind]) + ": " + seconds_text(uses[kind].time) +
                                                 " in " + std::to_string(uses[kind].calls) + " calls");
  }
  std::sort(operations.rbegin(), operations.rend());
  std::vector<std::string> details;
  for (const auto& [time, text] : operations) {
    if (details.size() < kMostOperations) details.push_back(rank_name(latest) + ", " + text);
  }
  const std::uint64_t messages = result_.messages();
  const double mean = static_cast<double>(result_.bytes()) / static_cast<double>(std::max<std::uint64_t>(1, messages));
  throw end_of_time_error(config_, when, std::move(details), mean);
}

void Replica::refuse_bytes(const Message& message) const {
  throw SimulationError("the messages of a job have more bytes than the tables of links can hold",
                        {describe_message(message),
                         "a job sends at most " + std::to_string(most_bytes_of_job_) + " bytes on this topology"},
                        "correct the sizes in the application's parameters, or simulate fewer iterations");
}

}  // namespace manynode::network
