// Asks the memory for a cache line that will be needed soon.
#pragma once

namespace manynode::fast {

inline void fetch_ahead(const void* line) {
  __builtin_prefetch(line, 1);
  // GCC takes a function that does nothing but prefetch for one without effect, and removes the calls to it.
  asm volatile("" : : "r"(line));
}

}  // namespace manynode::fast
