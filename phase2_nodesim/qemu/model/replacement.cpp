#include "replacement.hpp"

#include <stdexcept>

#include "replacement_adaptive.hpp"
#include "replacement_lru.hpp"
#include "replacement_random.hpp"

namespace manynode::node {

std::unique_ptr<ReplacementPolicy> replacement_policy(const LastLevelSettings& settings) {
  switch (settings.replacement) {
    case Replacement::kLru:
      return std::make_unique<LruReplacement>();
    case Replacement::kRandom:
      return std::make_unique<RandomReplacement>();
    case Replacement::kAdaptive:
      return std::make_unique<AdaptiveReplacement>(settings.sets);
  }
  throw std::logic_error("a replacement policy without an implementation");
}

std::uint32_t Draw::below(std::uint32_t count) {
  const std::uint32_t drawn = state_.load(std::memory_order_relaxed) * 1664525u + 1013904223u;
  state_.store(drawn, std::memory_order_relaxed);
  return static_cast<std::uint32_t>(std::uint64_t{drawn} * count >> 32);
}

}  // namespace manynode::node
