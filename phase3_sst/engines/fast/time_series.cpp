#include "time_series.hpp"

#include <algorithm>

namespace manynode::network {

TimeSeries::TimeSeries(const CountersConfig& config, const Network& network)
    : network_(network),
      per_link_(config.per_link),
      interval_(std::max<Picoseconds>(1, to_picoseconds(config.interval_s))),
      end_(interval_),
      marks_(config.per_link ? network.links().size() : network.classes()) {}

void TimeSeries::close(Picoseconds now) {
  while (end_ <= now) {
    close_one(end_);
    start_ = end_;
    // Nothing happens before `now`, but links may still be sending their data.
    end_ += interval_;
  }
}

void TimeSeries::finish(Picoseconds now) {
  close(now);
  if (now > start_) close_one(now);
}

void TimeSeries::close_one(Picoseconds end) {
  std::vector<SeriesRow> rows(marks_.size());
  const auto& links = network_.links();
  for (std::uint32_t link = 0; link < links.size(); ++link) {
    const LinkUse& use = links[link];
    if (use.chunks == 0) continue;
    const std::size_t place = per_link_ ? link : use.link_class;
    SeriesRow& row = rows[place];
    row.link = per_link_ ? link : kAllLinks;
    row.link_class = use.link_class;
    // A link counts a whole chunk when the chunk's turn is settled; the part after `end` is not done yet.
    const Picoseconds ahead = std::max<Picoseconds>(0, use.free - end);
    row.bytes += use.bytes;
    row.busy += use.busy - std::min(ahead, use.busy);
    row.stall += use.stall;
    const LinkStalls stalls = network_.stalls(link, end);
    row.stalls.credit += stalls.credit;
    row.stalls.inq += stalls.inq;
    row.queue_bytes += network_.bytes_in(ahead + use.queued, use.link_class);
  }
  for (std::size_t place = 0; place < rows.size(); ++place) {
    SeriesRow& row = rows[place];
    Mark& mark = marks_[place];
    const Mark sum{row.bytes, row.busy, row.stall, row.stalls};
    row.start = start_;
    row.end = end;
    row.bytes -= mark.bytes;
    row.busy -= mark.busy;
    row.stall -= mark.stall;
    row.stalls.credit -= mark.stalls.credit;
    row.stalls.inq -= mark.stalls.inq;
    mark = sum;
    const bool stalled = row.stalls.credit > 0 || row.stalls.inq > 0;
    if (row.bytes > 0 || row.busy > 0 || row.queue_bytes > 0 || stalled) rows_.push_back(row);
  }
}

}  // namespace manynode::network
