// Which line of a full set of the last level makes room for another one. One policy is one file, found by its name in
// machine files (`replacement`).
//
// A policy may use the order of a set's ways, or kAge of its words. It is called with the set locked. What the
// processes of a node have to share beside the sets is `common`: zeroed shared memory of kCommonBytes for each cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "settings.hpp"
#include "shared_set.hpp"

namespace manynode::node {

class ReplacementPolicy {
 public:
  static constexpr std::size_t kCommonBytes = 64;

  struct Replaced {
    std::uint32_t word = 0;  // 0: the way was empty
    std::uint64_t line = 0;  // if the set keeps lines
  };

  virtual ~ReplacementPolicy() = default;
  // The line of `way` is used.
  virtual void use(const SharedSet& set, std::uint32_t way) = 0;
  // Puts an absent line into the set.
  virtual Replaced insert(const SharedSet& set, std::byte* common, std::uint32_t word, std::uint64_t line) = 0;
  // Makes `way` empty.
  virtual void remove(const SharedSet& set, std::uint32_t way) = 0;
};

std::unique_ptr<ReplacementPolicy> replacement_policy(const LastLevelSettings& settings);

// Numbers without pattern, the same in every run. Threads of a rank share one: a number drawn twice does no harm.
class Draw {
 public:
  // A number below `count`.
  std::uint32_t below(std::uint32_t count);

 private:
  std::atomic<std::uint32_t> state_{1};
};

}  // namespace manynode::node
