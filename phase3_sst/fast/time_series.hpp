// The traffic of links in each interval of simulated time, per class of link or per link.
#pragma once

#include <cstdint>
#include <vector>

#include "network.hpp"
#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

// LinkStalls, summed over links.
struct StallSums {
  TimeSum credit{0};
  TimeSum inq{0};
};

struct SeriesRow {
  Picoseconds start{0};
  Picoseconds end{0};
  std::uint32_t link{kNone};  // kNone: all links of the class
  std::uint8_t link_class{0};
  std::uint64_t bytes{0};  // of chunks that started in the interval
  TimeSum busy{0};         // within the interval
  TimeSum stall{0};        // of chunks that came to the link in the interval
  StallSums stalls;        // within the interval
  double queue_bytes{0};   // unsent at its end
};

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

}  // namespace manynode::fast
