// The leaves of CPUID that describe caches: 4 (Intel), 0x8000001d (AMD); both have the same layout. Bit 1 of EDX says
// that a cache has all lines of the caches above (Intel SDM, "CPUID"; AMD APM, volume 3, appendix E).
#include "processor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace manynode::calibration {
namespace {

[[maybe_unused]] constexpr unsigned kMostCaches = 16;

}  // namespace

std::string processor_line() {
  std::string inclusive = "null";
#if defined(__x86_64__)
  unsigned last_level = 0;
  for (const unsigned leaf : {0x4U, 0x8000001dU}) {
    unsigned description = 0, shape = 0, sets = 0, properties = 0;
    for (unsigned cache = 0; cache < kMostCaches; ++cache) {
      if (__get_cpuid_count(leaf, cache, &description, &shape, &sets, &properties) == 0) break;
      if ((description & 0x1fU) == 0) break;  // no more caches
      const unsigned level = description >> 5U & 0x7U;
      if (level < last_level || level < 2) continue;
      last_level = level;
      inclusive = (properties & 2U) != 0 ? "true" : "false";
    }
  }
#endif
  return "{\"last_level_inclusive\": " + inclusive + "}\n";
}

}  // namespace manynode::calibration
