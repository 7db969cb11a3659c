// The traffic of links in each interval of simulated time, per class of link or per link.
#pragma once

#include <cstdint>
#include <vector>

#include "network.hpp"
#include "replica_result.hpp"
#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::network {

class TimeSeries {
 public:
  // `network` outlives this object.
  TimeSeries(const CountersConfig& config, const Network& network);

  // The time at which close() is due.
  Picoseconds next() const { return end_; }

  // Ends the intervals that are over at `now`; rows without sending, waiting or stalls are left out.
  void close(Picoseconds now);
  // Also ends the last interval, at `now`.
  void finish(Picoseconds now);

  std::vector<SeriesRow> take() { return std::move(rows_); }

 private:
  // The counts up to the end of the previous interval.
  struct Mark {
    std::uint64_t bytes{0};
    TimeSum busy{0};
    TimeSum stall{0};
    StallSums stalls;
  };

  void close_one(Picoseconds end);

  const Network& network_;
  bool per_link_;
  Picoseconds interval_;
  Picoseconds start_{0};
  Picoseconds end_;
  std::vector<Mark> marks_;  // [class] or [link]
  std::vector<SeriesRow> rows_;
};

}  // namespace manynode::network
