#include "event_queue.hpp"

#include <algorithm>
#include <bit>

#include "fetch_ahead.hpp"

namespace manynode::network {

Event& EventQueue::append(Bucket& bucket) {
  const std::uint32_t place = bucket.count++ % kPerBlock;
  if (place == 0) {
    std::uint32_t block = static_cast<std::uint32_t>(blocks_.size());
    if (free_blocks_.empty()) {
      blocks_.emplace_back();
    } else {
      block = free_blocks_.back();
      free_blocks_.pop_back();
      if (!free_blocks_.empty()) fetch_ahead(&blocks_[free_blocks_.back()]);
    }
    blocks_[block].next = kNoBlock;
    (bucket.last == kNoBlock ? bucket.first : blocks_[bucket.last].next) = block;
    bucket.last = block;
  }
  return blocks_[bucket.last].events[place];
}

void EventQueue::fetch_block(std::uint32_t index) const { fetch_lines_ahead(&blocks_[index], sizeof(Block) / 64); }

std::size_t EventQueue::Rung::first_filled() const {
  const std::size_t words = (buckets + 63) / 64;
  for (std::size_t word = next / 64; word < words; ++word) {
    if (filled[word] != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(filled[word]));
  }
  return buckets;
}

Event& EventQueue::insert(Picoseconds time) {
  if (bottom_.size() - head_ > kLongBottom && depth_ < kMostRungs) {
    divide_bottom();
    if (time >= bottom_end_) return place(time);
  }
  // After events of the same time. Most new events are later than most events of the bottom.
  std::size_t place = bottom_.size();
  bottom_.emplace_back();
  for (; place > head_ && time < bottom_[place - 1].time; --place) bottom_[place] = bottom_[place - 1];
  return bottom_[place];
}

void EventQueue::divide_bottom() {
  const Picoseconds least = bottom_[head_].time;
  if (bottom_.back().time == least) return;  // nothing to divide; later ones go directly to the end
  const std::size_t waiting = bottom_.size() - head_;
  Rung& rung = add_rung(least, bottom_end_, waiting);
  for (std::size_t i = head_; i < bottom_.size(); ++i) put(rung, bottom_[i].time) = bottom_[i];
  bottom_.clear();
  head_ = 0;
  bottom_end_ = least;
}

Event& EventQueue::place(Picoseconds time) {
  for (std::size_t i = depth_; i-- > 0;) {
    if (time < rungs_[i].end) return put(rungs_[i], time);
  }
  // Events beyond the end of time go here, behind all rungs.
  if (time > kEndOfTime) [[unlikely]]
    end_of_time();
  if (top_.count == 0) {
    top_least_ = time;
    top_greatest_ = time;
  }
  top_least_ = std::min(top_least_, time);
  top_greatest_ = std::max(top_greatest_, time);
  return append(top_);
}

Event& EventQueue::put(Rung& rung, Picoseconds time) {
  const auto index = static_cast<std::size_t>((time - rung.start) >> rung.shift);
  rung.filled[index / 64] |= std::uint64_t{1} << (index % 64);
  return append(rung.bucket[index]);
}

EventQueue::Rung& EventQueue::add_rung(Picoseconds start, Picoseconds end, std::size_t count) {
  Rung& rung = rungs_[depth_++];
  // About twenty events per bucket: enough to look ahead, few enough to sort. At least 32 buckets: a few rungs then
  // divide any span of time.
  const unsigned wanted = std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(count / 32)), 5, kMostBucketsLog2);
  const auto span = static_cast<std::uint64_t>(end - start);
  const auto span_log2 = static_cast<unsigned>(std::bit_width(span - 1));
  rung.shift = span_log2 > wanted ? span_log2 - wanted : 0;
  rung.start = start;
  rung.end = end;
  rung.next = 0;
  rung.buckets = static_cast<std::size_t>(((span - 1) >> rung.shift) + 1);
  return rung;
}

template <typename Visit>
void EventQueue::empty_out(const Bucket& bucket, const Visit& visit) {
  std::uint32_t left = bucket.count;
  for (std::uint32_t index = bucket.first; left > 0;) {
    const std::uint32_t here = std::min(left, kPerBlock);
    const std::uint32_t next = blocks_[index].next;
    if (left > here) fetch_block(next);
    visit(index, here);
    free_blocks_.push_back(index);
    index = next;
    left -= here;
  }
}

void EventQueue::spread(const Bucket& bucket, Rung& rung) {
  empty_out(bucket, [&](std::uint32_t block, std::uint32_t events) {
    for (std::uint32_t i = 0; i < events; ++i) {
      Event& copy = put(rung, blocks_[block].events[i].time);  // may move the blocks
      copy = blocks_[block].events[i];
    }
  });
}

void EventQueue::add_to_bottom(const Bucket& bucket, bool one_time) {
  bottom_.erase(bottom_.begin(), bottom_.begin() + static_cast<std::ptrdiff_t>(head_));
  head_ = 0;
  const std::size_t first = bottom_.size();
  empty_out(bucket, [&](std::uint32_t block, std::uint32_t events) {
    const auto first_event = blocks_[block].events.begin();
    bottom_.insert(bottom_.end(), first_event, first_event + events);
  });
  if (one_time) return;
  if (bottom_.size() - first > kSortable) {
    std::stable_sort(bottom_.begin() + static_cast<std::ptrdiff_t>(first), bottom_.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    return;
  }
  for (std::size_t i = first + 1; i < bottom_.size(); ++i) {
    if (bottom_[i - 1].time <= bottom_[i].time) continue;
    const Event event = bottom_[i];
    std::size_t place = i;
    while (place > first && event.time < bottom_[place - 1].time) {
      bottom_[place] = bottom_[place - 1];
      --place;
    }
    bottom_[place] = event;
  }
}

void EventQueue::fill() {
  for (;;) {
    if (depth_ == 0) {
      const Bucket all = top_;
      top_ = Bucket{};
      spread(all, add_rung(top_least_, top_greatest_ + 1, all.count));
    }
    Rung& rung = rungs_[depth_ - 1];
    const std::size_t index = rung.first_filled();
    if (index == rung.buckets) {
      bottom_end_ = rung.end;
      --depth_;
      continue;
    }
    rung.filled[index / 64] &= rung.filled[index / 64] - 1;
    rung.next = index;
    const Bucket bucket = rung.bucket[index];
    rung.bucket[index] = Bucket{};
    const std::size_t after = rung.first_filled();
    if (after < rung.buckets) fetch_block(rung.bucket[after].first);
    const Picoseconds start = rung.start + (static_cast<Picoseconds>(index) << rung.shift);
    const Picoseconds end = std::min(rung.end, start + (Picoseconds{1} << rung.shift));
    bottom_end_ = start;
    if (bucket.count > kSortable && rung.shift > 0 && depth_ < kMostRungs) {
      spread(bucket, add_rung(start, end, bucket.count));
      continue;
    }
    add_to_bottom(bucket, rung.shift == 0);
    bottom_end_ = end;
    return;
  }
}

}  // namespace manynode::network
