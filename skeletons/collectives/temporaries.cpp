// What glibc gives back of a collective's temporary buffers.
#include "temporaries.hpp"

#include <algorithm>

namespace manynode::collectives {
namespace {

constexpr std::uint64_t kAlwaysMapped = 32ULL << 20;
constexpr std::uint64_t kLeastLimit = 512ULL << 10;
constexpr std::uint64_t kKept = 128ULL << 10;

}  // namespace

std::uint64_t fresh_bytes(std::span<const Temporary> buffers) {
  std::uint64_t mapped = 0;
  std::uint64_t heap = 0;
  std::uint64_t written = 0;
  std::uint64_t limit = kLeastLimit;
  for (const Temporary& buffer : buffers) {
    if (buffer.bytes >= kAlwaysMapped) {
      mapped += buffer.written;
    } else {
      heap += buffer.bytes;
      written += buffer.written;
      limit = std::max(limit, buffer.bytes);
    }
  }
  return mapped + (heap >= 2 * limit ? written - std::min(written, kKept) : 0);
}

}  // namespace manynode::collectives
