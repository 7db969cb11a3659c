// Prefetches cache lines that will be needed soon.
#pragma once

#include <cstddef>

namespace manynode::network {

inline void fetch_ahead(const void* line) {
  __builtin_prefetch(line, 1);
  // GCC would treat a function that only prefetches as having no effect, and remove the calls.
  asm volatile("" : : "r"(line));
}

// The line of `start` and those behind it, `lines` in total.
inline void fetch_lines_ahead(const void* start, std::size_t lines) {
  for (std::size_t i = 0; i < lines; ++i) fetch_ahead(static_cast<const char*>(start) + 64 * i);
}

}  // namespace manynode::network
