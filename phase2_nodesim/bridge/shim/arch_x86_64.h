/* x86-64: gem5's pseudo-instructions are the undefined opcode 0F 04 followed by the number of the function. */
#include <stdint.h>

/* rpns: simulated time [ns] */
static inline uint64_t mb_arch_simulated_ns(void) {
  uint64_t ns;
  __asm__ volatile(".byte 0x0f, 0x04, 0x07, 0x00" : "=a"(ns) : : "memory");
  return ns;
}

/* work_begin, work_end: the simulator reads its statistics; `mark` is the rank and reason (wire.h, enum mb_mark) */
static inline void mb_arch_mark_begin(uint64_t mark) {
  uint64_t result;
  __asm__ volatile(".byte 0x0f, 0x04, 0x5a, 0x00" : "=a"(result) : "D"(mark), "S"(0L) : "memory");
}

static inline void mb_arch_mark_end(uint64_t mark) {
  uint64_t result;
  __asm__ volatile(".byte 0x0f, 0x04, 0x5b, 0x00" : "=a"(result) : "D"(mark), "S"(0L) : "memory");
}

/* fail: the whole simulation ends with this code */
static inline void mb_arch_fail(uint64_t code) {
  uint64_t result;
  __asm__ volatile(".byte 0x0f, 0x04, 0x22, 0x00" : "=a"(result) : "D"(0L), "S"(code) : "memory");
}

static inline void mb_arch_flush_line(const void* at) { __asm__ volatile("clflush %0" : : "m"(*(const char*)at)); }

/* A bare system call: no errno, which helper threads share with the application's. */
static inline long mb_arch_syscall(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
