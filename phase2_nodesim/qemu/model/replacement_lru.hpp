// Least recently used: the ways of a set are in the order of use.
#pragma once

#include "replacement.hpp"

namespace manynode::node {

class LruReplacement : public ReplacementPolicy {
 public:
  void use(const SharedSet& set, std::uint32_t way) override {
    if (way != 0) set.put_first(way, set.words[way], set.line(way));
  }
  Replaced insert(const SharedSet& set, std::byte*, std::uint32_t word, std::uint64_t line) override {
    return replace(set, set.ways - 1, word, line);
  }
  void remove(const SharedSet& set, std::uint32_t way) override { set.take_out(way); }

 protected:
  static Replaced replace(const SharedSet& set, std::uint32_t way, std::uint32_t word, std::uint64_t line) {
    const Replaced replaced{set.words[way] & ~SharedSet::kLock, set.line(way)};
    set.put_first(way, word, line);
    return replaced;
  }
};

}  // namespace manynode::node
