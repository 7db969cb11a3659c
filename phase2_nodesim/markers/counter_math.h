/* Arithmetic on hardware counters, separate from the system calls that read them: it can be tested on hosts that refuse
 * these calls. In: raw values; out: values and differences. No state. */
#ifndef MANYNODE_MARKERS_COUNTER_MATH_H
#define MANYNODE_MARKERS_COUNTER_MATH_H

#include <stdint.h>

/* The value of an event from the mmap page's offset and the raw result of rdpmc, which is `width` bits wide and signed
 * (the kernel starts counters at a negative value to make them overflow in time). */
static inline uint64_t mk_combine_rdpmc(int64_t offset, uint64_t raw, unsigned width) {
  if (width == 0 || width > 64) return (uint64_t)offset;
  const unsigned unused = 64 - width;
  const int64_t extended = (int64_t)(raw << unused) >> unused;
  return (uint64_t)offset + (uint64_t)extended;
}

/* Events between two readings. A reading below the earlier one (a counter was reset, a CPU hot-unplugged) gives 0
 * rather than nearly 2^64. */
static inline uint64_t mk_delta(uint64_t before, uint64_t after) { return after >= before ? after - before : 0; }

/* Events extrapolated to the whole interval if the kernel shared the counters between groups. A group that never ran
 * gives 0; the caller sees that in `running`. */
static inline uint64_t mk_scale(uint64_t events, uint64_t enabled, uint64_t running) {
  if (running == 0) return 0;
  if (running >= enabled) return events;
  const long double scaled = (long double)events * (long double)enabled / (long double)running;
  return scaled >= 18446744073709551615.0L ? UINT64_MAX : (uint64_t)(scaled + 0.5L);
}

/* A parsed non-negative decimal number, or `fallback` when the text is not one or does not fit. */
static inline uint64_t mk_parse_number(const char* text, uint64_t fallback) {
  if (!text || !*text) return fallback;
  uint64_t value = 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return fallback;
    const uint64_t digit = (uint64_t)(*text - '0');
    if (value > (UINT64_MAX - digit) / 10) return fallback;
    value = value * 10 + digit;
  }
  return value;
}

#endif
