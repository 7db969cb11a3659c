// What comes from outside the node: messages that its NIC writes and reads beside the ranks.
#include "memory_path.hpp"

namespace manynode::node {

void MemoryPath::inject(std::uint64_t address, std::uint64_t bytes, bool write, Stamp now) {
  const std::uint64_t first = address >> line_bits_, last = (address + bytes - 1) >> line_bits_;
  Stamp at = now;
  for (std::uint64_t line = first; bytes != 0 && line <= last; ++line) {
    const std::uint64_t frame = physical(line);
    if (write) {
      l1d_.remove(line);
      if (settings_.has_l2) l2_.remove(frame);
    }
    Uncore::Answer answer;
    if (settings_.memory.injection_to_last_level) {
      answer = write ? uncore_.write_back(place_.last_level, frame, place_.owner, true, at)
                     : uncore_.read(place_.last_level, frame, place_.owner, at);
      replaced_in_last_level(answer, at);
    } else {
      if (write) uncore_.remove(place_.last_level, frame, place_.owner);
      answer.hit = false;
    }
    if (!answer.hit && !(write && settings_.memory.injection_to_last_level)) {
      ++counts.memory_lines;
      // The end of a message of many megabytes comes too late to be accounted for.
      if (at - now < uncore_.horizon()) at = uncore_.transfer_of_message(place_.domain, at);
    }
  }
}

}  // namespace manynode::node
