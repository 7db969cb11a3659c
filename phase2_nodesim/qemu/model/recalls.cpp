// Lines that an inclusive last level has recalled leave a core's own caches.
#include <vector>

#include "memory_path.hpp"

namespace manynode::node {

void MemoryPath::give_up_recalled(Stamp now) {
  if (!uncore_.has_recalls(place_.slot)) return;
  if (const std::uint64_t lost = uncore_.lost_recalls(place_.slot); lost != lost_recalls_) {
    lost_recalls_ = lost;
    give_up_unheld(now);
  }
  while (const std::uint64_t word = uncore_.next_recall(place_.slot))
    drop((word & ~kDirty) - 1, now, (word & kDirty) != 0);
}

// The mailbox was full: some of the lines to give up are unknown. They are those that the last level no longer holds.
void MemoryPath::give_up_unheld(Stamp now) {
  std::vector<std::uint64_t> lines;
  const auto look_for = [&](std::uint64_t line) {
    if (!uncore_.holds(place_.last_level, line, place_.owner)) lines.push_back(line);
  };
  if (settings_.has_l2) l2_.each(look_for);
  for (const TagStore* first_level : {&l1d_, &l1i_}) {
    first_level->each([&](std::uint64_t line) { look_for(physical(line)); });
  }
  for (const std::uint64_t line : lines) drop(line, now, false);
}

// A line that an inclusive last level has lost leaves the caches above; what they had changed goes to memory, unless it
// goes there together with what the last level had.
void MemoryPath::drop(std::uint64_t line, Stamp at, bool written) {
  std::uint64_t words[3] = {kAbsent, kAbsent, kAbsent};
  if (settings_.has_l2) words[0] = l2_.remove(line);
  const int shift = page_bits_ - line_bits_;
  std::uint64_t candidate = line;  // its virtual line
  bool known = true;
  if (settings_.frames_by_hash) {
    const std::uint64_t page = page_of_frame_[(line >> shift) % kReverse];
    candidate = page << shift | (line & ((std::uint64_t{1} << shift) - 1));
    known = page != 0 && physical(candidate) == line;
  }
  if (known) {
    words[1] = l1d_.remove(candidate);
    words[2] = l1i_.remove(candidate);
  }
  bool held = false, dirty = false;
  for (const std::uint64_t word : words) {
    held |= (word & kNumber) != kAbsent;
    dirty |= (word & kNumber) != kAbsent && (word & kDirty) != 0;
  }
  counts.recalls += held;
  if (!dirty || written) return;
  ++counts.memory_lines;
  uncore_.transfer(place_.domain, at);
}

}  // namespace manynode::node
