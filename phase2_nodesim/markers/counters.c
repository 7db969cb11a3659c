/* Hardware counters of the calling thread, user space only, through perf_event_open: one group, read by rdpmc where the
 * kernel maps the counters (tens of nanoseconds), else by one read() of the group. They run all the time and are read
 * at the begin and the end of every MPI call; only the differences from an end to the next begin are kept, so nothing
 * that happens inside MPI, busy waiting above all, ever counts. The kernel refuses some or all events on many hosts;
 * then the reason goes to the file's metadata and the times remain. Threads that the rank starts (OpenMP) are not
 * counted: a group that children inherit cannot be read as a group.
 *
 * With MANYNODE_MARKERS_CPU_TIME=1 the last counter, cpu_ns, is the thread's processor time: what a compute phase takes
 * where the thread has a core for itself, also on a host that gives its cores to others in between, such as ranks that
 * spin inside MPI. Reading it is a system call (some 0.2 us on either side of a call). */
#define _GNU_SOURCE
#include "markers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter_math.h"

int mk_counter_count;
const char* mk_counter_names[MK_MAX_COUNTERS];
char mk_counter_notes[1024];

#define CACHE(cache, result) (PERF_COUNT_HW_CACHE_##cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (result << 16))

/* In the order of worth: where the hardware has fewer counters, the last ones are left out. */
static const struct {
  const char* name;
  uint32_t type;
  uint64_t config;
} events[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"l1d_loads", PERF_TYPE_HW_CACHE, CACHE(L1D, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {"l1d_load_misses", PERF_TYPE_HW_CACHE, CACHE(L1D, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

struct reading {
  uint64_t enabled, running;
  uint64_t values[MK_MAX_COUNTERS];
};
static int leader = -1;
static int descriptors[MK_MAX_COUNTERS];
static struct perf_event_mmap_page* pages[MK_MAX_COUNTERS];
static bool by_rdpmc;
static struct reading at_start;
static int group_count; /* of the counters, those of the group of events */
static bool with_cpu_time;
static uint64_t cpu_at_start;

void mk_note_counter(const char* name, const char* reason) {
  const size_t used = strlen(mk_counter_notes);
  snprintf(mk_counter_notes + used, sizeof mk_counter_notes - used, "%s%s: %s", used ? "; " : "", name, reason);
}

static int paranoid_level(void) {
  char text[16] = "";
  const int file = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -9;
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  return got > 0 ? atoi(text) : -9;
}

static int open_event(uint32_t type, uint64_t config) {
  struct perf_event_attr attributes = {
      .size = sizeof attributes,
      .type = type,
      .config = config,
      .disabled = leader < 0,
      .exclude_kernel = 1,
      .exclude_hv = 1,
      .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static bool read_group(struct reading* reading) {
  uint64_t raw[3 + MK_MAX_COUNTERS];
  const ssize_t wanted = (ssize_t)((3 + (size_t)group_count) * 8);
  if (read(leader, raw, sizeof raw) != wanted || raw[0] != (uint64_t)group_count) return false;
  reading->enabled = raw[1];
  reading->running = raw[2];
  memcpy(reading->values, raw + 3, (size_t)group_count * 8);
  return true;
}

#if defined(__x86_64__)
static inline uint64_t rdpmc(uint32_t counter) {
  uint32_t low, high;
  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  return low | ((uint64_t)high << 32);
}

/* The protocol of linux/perf_event.h: read again when the kernel changed the page meanwhile; index 0 means that the
 * event is not on a hardware counter at the moment, and then only read() knows its value. */
static bool read_page(const volatile struct perf_event_mmap_page* page, uint64_t* value, struct reading* reading) {
  uint32_t sequence, index;
  do {
    sequence = page->lock;
    __asm__ volatile("" ::: "memory");
    index = page->index;
    reading->enabled = page->time_enabled;
    reading->running = page->time_running;
    if (index == 0) return false;
    *value = mk_combine_rdpmc(page->offset, rdpmc(index - 1), page->pmc_width);
    __asm__ volatile("" ::: "memory");
  } while (page->lock != sequence);
  return true;
}
#else
static bool read_page(const volatile struct perf_event_mmap_page* page, uint64_t* value, struct reading* reading) {
  (void)page, (void)value, (void)reading;
  return false;
}
#endif

static void read_counters(struct reading* reading) {
  bool done = by_rdpmc;
  for (int i = 0; done && i < group_count; i++) done = read_page(pages[i], &reading->values[i], reading);
  if (done) {
    /* a group that is always on its counters runs as long as it is enabled: nothing to extrapolate */
    reading->enabled = reading->running = 1;
    return;
  }
  if (!read_group(reading)) *reading = at_start;
}

static void map_pages(void) {
  by_rdpmc = group_count > 0;
  for (int i = 0; i < group_count; i++) {
    void* page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptors[i], 0);
    pages[i] = page == MAP_FAILED ? NULL : page;
    by_rdpmc = by_rdpmc && pages[i] && pages[i]->cap_user_rdpmc;
  }
}

static uint64_t cpu_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Opens the group of events that the mode asks for; leaves their number, names and the notes. */
static void open_group(void) {
  if (mk_state.counter_mode != MK_COUNTERS_PERF) {
    const char* asked = getenv("MANYNODE_MARKERS_COUNTERS");
    if (asked && strcmp(asked, "callgrind") == 0 && !mk_state.on_valgrind)
      mk_note_counter("callgrind", mk_callgrind_built()
                                       ? "the rank does not run under valgrind"
                                       : "valgrind/callgrind.h was absent when this library was built");
    if (asked && strcmp(asked, "qemu") == 0) {
      if (mk_state.counter_mode == MK_COUNTERS_NODE)
        group_count = mk_node_counters(mk_counter_names);
      else
        mk_note_counter("qemu", "the rank does not run under QEMU with the node model's plugin");
    }
    return;
  }
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    const int descriptor = open_event(events[i].type, events[i].config);
    if (descriptor < 0) {
      mk_note_counter(events[i].name, strerror(errno));
      continue;
    }
    if (leader < 0) leader = descriptor;
    descriptors[group_count] = descriptor;
    mk_counter_names[group_count++] = events[i].name;
    /* the kernel accepts a group that does not fit the hardware, and then never runs it */
    struct reading trial;
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    for (volatile int spin = 0; spin < 1000; spin++);
    if (!read_group(&trial) || trial.running == 0) {
      mk_note_counter(events[i].name, "no hardware counter is free for it");
      close(descriptor);
      group_count--;
      if (descriptor == leader) leader = -1;
    }
  }
  if (group_count == 0) {
    char text[64];
    snprintf(text, sizeof text, "%d", paranoid_level());
    mk_note_counter("perf_event_paranoid", text);
    mk_state.counter_mode = MK_COUNTERS_TIME;
    return;
  }
  map_pages();
  ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  read_counters(&at_start);
}

/* Opens what is asked for; leaves mk_counter_count, the names and the notes. */
void mk_counters_open(void) {
  group_count = 0;
  mk_counter_notes[0] = 0;
  open_group();
  mk_counter_count = group_count;
  with_cpu_time = mk_parse_number(getenv("MANYNODE_MARKERS_CPU_TIME"), 0) != 0;
  if (with_cpu_time) {
    mk_counter_names[mk_counter_count++] = "cpu_ns";
    cpu_at_start = cpu_now();
  }
  if (mk_waiting_open(mk_counter_count)) mk_counter_names[mk_counter_count++] = "waited_ns";
}

void mk_counters_stop(uint64_t* phase_counts) {
  /* what is read first counts least of this library's own work */
  if (with_cpu_time) phase_counts[group_count] = mk_delta(cpu_at_start, cpu_now());
  if (group_count == 0 || mk_state.counter_mode == MK_COUNTERS_NODE) return;
  struct reading now;
  read_counters(&now);
  const uint64_t enabled = mk_delta(at_start.enabled, now.enabled);
  const uint64_t running = mk_delta(at_start.running, now.running);
  for (int i = 0; i < group_count; i++) {
    const uint64_t events_seen = mk_delta(at_start.values[i], now.values[i]);
    phase_counts[i] = enabled == running ? events_seen : mk_scale(events_seen, enabled, running);
  }
}

void mk_counters_start(void) {
  if (group_count && mk_state.counter_mode != MK_COUNTERS_NODE) read_counters(&at_start);
  if (with_cpu_time) cpu_at_start = cpu_now();
}
