// Which temporary buffers of a collective are fresh memory at each call. A fresh page is cleared by the operating
// system when it is first written, and registered with the NIC before a long message goes into it. That can cost as
// much as the message. Algorithms name their buffers; the rule is that of glibc's malloc (malloc.c, "Design of dynamic
// mmap threshold"), which MPICH and Open MPI call once per collective:
// - Freeing a buffer of 32 MiB or more (DEFAULT_MMAP_THRESHOLD_MAX) gives it back to the operating system.
// - A smaller one stays in the heap, because the limit has grown to the largest buffer that was freed before. The
// heap's
//   free end is given back where it exceeds twice that limit: two buffers of one size do, one does not. 128 KiB remain
//   (top_pad).
// - The limit begins at 128 KiB, but programs free larger buffers while they start: 512 KiB here.
#pragma once

#include <cstdint>
#include <span>

namespace manynode::collectives {

// A buffer that lives for one call, and how many of its bytes the call writes.
struct Temporary {
  Temporary(std::uint64_t all) : bytes(all), written(all) {}
  Temporary(std::uint64_t all, std::uint64_t part) : bytes(all), written(part) {}

  std::uint64_t bytes;
  std::uint64_t written;
};

// The bytes of `buffers` that a call writes for the first time, if the call before it had the same.
std::uint64_t fresh_bytes(std::span<const Temporary> buffers);

}  // namespace manynode::collectives
