// Any line of a full set. Ways are in the order of use here, too: empty ones are the last.
#pragma once

#include "replacement_lru.hpp"

namespace manynode::node {

class RandomReplacement : public LruReplacement {
 public:
  Replaced insert(const SharedSet& set, std::byte*, std::uint32_t word, std::uint64_t line) override {
    const std::uint32_t last = set.ways - 1;
    return replace(set, set.words[last] == 0 ? last : draw_.below(set.ways), word, line);
  }

 private:
  Draw draw_;
};

}  // namespace manynode::node
