// fetch: a loop of five instructions in 18 to 20 bytes, inside a line of 64 bytes, over the middle of one, or over the
// end of one. A front end that fetches aligned blocks needs a cycle more for a loop in two of them. An operation is one
// turn.
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Place { kInside, kAcross32, kAcross64 };

// Begins so many bytes behind the begin of a line.
template <int kOffset>
__attribute__((noinline)) std::uint64_t work(std::int64_t turns) {
  std::uint64_t a = 0, b = 0, c = 0;
#if defined(__x86_64__)
  asm volatile(
      ".p2align 6\n.skip %c4, 0x90\n1:\n"
      "add $1, %0\nadd $1, %1\nadd $1, %2\nsub $1, %3\njne 1b\n"
      : "+r"(a), "+r"(b), "+r"(c), "+r"(turns)
      : "i"(kOffset)
      : "cc");
#else
  asm volatile(
      ".p2align 6\n.rept %c4 / 4\nnop\n.endr\n1:\n"
      "add %0, %0, 1\nadd %1, %1, 1\nadd %2, %2, 1\nsubs %3, %3, 1\nb.ne 1b\n"
      : "+r"(a), "+r"(b), "+r"(c), "+r"(turns)
      : "i"(kOffset)
      : "cc");
#endif
  return a + b + c;
}

auto work_of(std::int64_t place) {
  switch (place) {
    case kInside:
      return work<4>;
    case kAcross32:
      return work<20>;
    default:
      return work<52>;
  }
}

// Some front ends hold a loop in one execution and do not in the next; after a system call they do not. The fastest
// round shows what they can only if the loop ran for some time.
constexpr int kBefore = 100;

Measured run(const Values& values, const Worker&) {
  const auto work = work_of(values["place"]);
  std::uint64_t check = 0;
  for (int i = 0; i < kBefore; ++i) {
    check = work(values["operations"]);
    opaque(check);
  }
  region_begin();
  check = work(values["operations"]);
  opaque(check);
  const double seconds = region_end();
  return {values["operations"], seconds, check};
}

const Registration fetch({
    "fetch",
    "a short loop inside a line of code or across two",
    {{"place", kInside, 0, 2, "place of the loop", {"inside", "across-32", "across-64"}}, operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
