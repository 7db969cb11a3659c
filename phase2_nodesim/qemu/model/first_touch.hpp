// Pages of one rank and the memory domain that each lies in: that of the core that first missed the caches for it, as
// operating systems place them. Only a rank whose threads run in several domains needs it.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace manynode::node {

class FirstTouch {
 public:
  std::uint32_t domain_of(std::uint64_t page, std::uint32_t own) {
    const std::scoped_lock lock(mutex_);
    return pages_.try_emplace(page, own).first->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint32_t> pages_;
};

}  // namespace manynode::node
