/* How long loads take, by where the data is: compute phases "load l1", "load l2", "load last level" and "load memory"
 * follow chains of argv[1] dependent loads each; "stream" reads argv[2] KiB from memory, one load a line, as fast as it
 * can; "nothing" lies between two calls with nothing in between. argv[3] is how many lines the chain of the last level
 * has (32768, a power of two). Run natively it is an MPI program like any other. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 };
typedef struct line {
  struct line* next;
  char rest[LINE - sizeof(struct line*)];
} line;

/* Links `count` lines (a power of two), `stride` lines apart, in an order that no prefetcher foresees. */
static line* chain(line* lines, uint32_t count, uint32_t stride) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t next = (at * 1664525u + 1013904223u) & (count - 1);
    lines[(size_t)at * stride].next = &lines[(size_t)next * stride];
    at = next;
  }
  return lines;
}

static line* follow(line* at, int loads) {
  for (int i = 0; i < loads; i += 8) at = at->next->next->next->next->next->next->next->next;
  __asm__ volatile("" : "+r"(at)); /* or the compiler leaves the loads out */
  return at;
}

static void flush(line* lines, uint32_t count, uint32_t stride) {
#if defined(__x86_64__)
  for (uint32_t i = 0; i < count; i++) __asm__ volatile("clflush %0" : : "m"(lines[(size_t)i * stride]));
  __asm__ volatile("mfence" : : : "memory");
#else
  (void)lines, (void)count, (void)stride;
#endif
}

static void phase(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1, name);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int loads = argc > 1 ? atoi(argv[1]) : 2048, stream_kib = argc > 2 ? atoi(argv[2]) : 1024;
  const uint32_t last_level = argc > 3 ? (uint32_t)atoi(argv[3]) : 32768;
  line* lines = aligned_alloc(4096, 64u << 20);
  const struct {
    const char* name;
    uint32_t count;
  } levels[] = {{"load l1", 128}, {"load l2", 2048}, {"load last level", last_level}};
  line* at = lines;
  for (int i = 0; i < 3; i++) {
    at = follow(chain(lines, levels[i].count, 1), (int)levels[i].count);
    phase(levels[i].name);
    at = follow(at, loads);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const uint32_t count = 8192, stride = 65; /* lines of 8192 pages' sets, all over 33 MiB */
  at = chain(lines, count, stride);
  flush(lines, count, stride);
  phase("load memory");
  at = follow(at, loads);
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);

  const uint32_t streamed = (uint32_t)stream_kib * 1024 / LINE;
  uintptr_t sum = (uintptr_t)at;
  for (uint32_t i = 0; i < streamed; i++) lines[i].next = NULL;
  flush(lines, streamed, 1);
  phase("stream");
  for (uint32_t i = 0; i < streamed; i++) sum += (uintptr_t)lines[i].next;
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1, "nothing");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  if (sum == 1) printf("never\n");
  MPI_Finalize();
  return 0;
}
