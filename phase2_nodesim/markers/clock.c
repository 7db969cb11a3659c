/* Times of records: ticks of the processor's time-stamp counter where it runs at one rate on all cores, else
 * nanoseconds of CLOCK_MONOTONIC.
 *
 * Reading the system's clock takes half of what a marker costs (34 of 97 ns each on a virtual machine, and a call needs
 * two). Ticks are turned into nanoseconds when the file is written, on the line through the two moments at which both
 * clocks were read: the start of MPI_Init and the end. */
#include "markers.h"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

static struct {
  bool ticks;
  uint64_t start_ticks, start_ns;
  double ns_per_tick;
} source;

static uint64_t system_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
static uint64_t read_ticks(void) { return __rdtsc(); }

/* "Invariant TSC": the same rate in all states of the processor (leaf 0x80000007, EDX bit 8). */
static bool ticks_are_even(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#else
static uint64_t read_ticks(void) { return system_ns(); }
static bool ticks_are_even(void) { return false; }
#endif

void mk_clock_start(void) {
  source.ticks = ticks_are_even();
  source.start_ns = system_ns();
  source.start_ticks = read_ticks();
}

uint64_t mk_now(void) { return source.ticks ? read_ticks() : system_ns(); }

void mk_clock_stop(void) {
  const uint64_t ns = system_ns(), ticks = read_ticks();
  if (ticks > source.start_ticks)
    source.ns_per_tick = (double)(ns - source.start_ns) / (double)(ticks - source.start_ticks);
}

uint64_t mk_to_ns(uint64_t now) {
  if (!source.ticks || now == 0 || mk_guest.on) return now;
  /* a little before the start: the first moment is read before the clocks are compared */
  const double since = now >= source.start_ticks ? (double)(now - source.start_ticks) : 0;
  return source.start_ns + (uint64_t)(since * source.ns_per_tick);
}

const char* mk_clock_name(void) {
  if (mk_guest.on) return "the guest's, in ns";
  return source.ticks ? "time-stamp counter, in ns of CLOCK_MONOTONIC" : "CLOCK_MONOTONIC";
}
