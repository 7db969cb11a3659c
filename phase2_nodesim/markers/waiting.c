/* With MANYNODE_MARKERS_WAITING=1 the counter waited_ns says for how long a rank was runnable and did not run during a
 * compute phase, because others had the cores: the time of a phase contains that, and the machine does not. The kernel
 * counts it for each thread (the second number of schedstat in its folder below /proc/self/task, in ns; "run delay").
 * Of the threads of a rank, the one that waited longest counts: threads compute side by side, and a team is as late as
 * its last member.
 *
 * Threads that MPI starts are left out, those of MPI_Init and those that appear during a call: they sleep beside the
 * application, and that they wait makes nothing longer. Of many threads the first MK_WATCHED are watched; where cores
 * are short, they are for all.
 *
 * A reading takes a system call for each watched thread on either side of a call, and one more to notice new threads:
 * 3.7 us of processor time a call with one thread (measured), about 2 us more for each further one, outside the time
 * that is measured. Where the kernel does not count (it was built without, or a sandbox has no such file), there is no
 * counter and the notes say so: not known is not zero. */
#define _GNU_SOURCE
#include "markers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter_math.h"

enum { MK_WATCHED = 8, KNOWN = 512, UNDISTURBED = 100000 /* units of the clock: 30 to 100 us */ };

struct thread {
  int number;
  int schedstat; /* -1: not watched */
  uint64_t waited_ns;
};

static bool wanted, on;
static int tasks = -1; /* the folder of the threads */
static nlink_t links;  /* two and one for each thread: as cheap a way to notice new ones as there is */
static struct thread threads[KNOWN];
static int known, watching;
static int slot; /* of the counter */

/* The kernel's "run delay" [ns]; false where it does not count: a thread that runs has been started at least once. */
static bool read_waited(int file, uint64_t* waited_ns) {
  char text[96];
  const ssize_t got = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
  if (got <= 0) return false;
  text[got] = 0;
  unsigned long long ran, waited, starts;
  char* at = text;
  ran = strtoull(at, &at, 10);
  waited = strtoull(at, &at, 10);
  starts = strtoull(at, &at, 10);
  *waited_ns = waited;
  return starts > 0 || ran > 0;
}

static nlink_t count_links(void) {
  struct stat status;
  return fstat(tasks, &status) == 0 ? status.st_nlink : 0;
}

static bool list_threads(int* numbers, int* count) {
  char entries[4096];
  *count = 0;
  if (lseek(tasks, 0, SEEK_SET) != 0) return false;
  for (;;) {
    const long got = syscall(SYS_getdents64, tasks, entries, sizeof entries); /* readdir would allocate */
    if (got <= 0) return got == 0;
    for (long at = 0; at < got;) {
      const struct dirent64* entry = (const struct dirent64*)(entries + at);
      const int number = (int)mk_parse_number(entry->d_name, 0);
      if (number > 0 && *count < KNOWN) numbers[(*count)++] = number;
      at += entry->d_reclen;
    }
  }
}

static struct thread of_number(int number) {
  for (int i = 0; i < known; i++)
    if (threads[i].number == number) {
      const struct thread found = threads[i];
      threads[i].schedstat = -1; /* taken over */
      return found;
    }
  return (struct thread){.number = 0, .schedstat = -1};
}

/* Takes in which threads there are; new ones are watched or left out. */
static void look_again(bool watch_new) {
  static struct thread now[KNOWN];
  int numbers[KNOWN], count;
  links = count_links();
  if (!list_threads(numbers, &count)) return;
  for (int i = 0; i < count; i++) {
    now[i] = of_number(numbers[i]);
    if (now[i].number) continue;
    now[i].number = numbers[i];
    if (!watch_new || watching >= MK_WATCHED) continue;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", numbers[i]);
    now[i].schedstat = open(path, O_RDONLY | O_CLOEXEC);
    if (now[i].schedstat >= 0) watching++;
  }
  for (int i = 0; i < known; i++) /* those that have ended */
    if (threads[i].schedstat >= 0) {
      close(threads[i].schedstat);
      watching--;
    }
  memcpy(threads, now, (size_t)count * sizeof *now);
  known = count;
}

/* Before the real MPI_Init: the threads so far are the application's. */
void mk_waiting_before_init(void) {
  wanted = mk_parse_number(getenv("MANYNODE_MARKERS_WAITING"), 0) != 0;
  if (!wanted) return;
  tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks >= 0) look_again(true);
}

/* After it: opens the counter as number `counter`, or notes why there is none. */
bool mk_waiting_open(int counter) {
  if (!wanted) return false;
  uint64_t waited_ns;
  const int own = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  const char* reason = own < 0 ? strerror(errno) : "the kernel does not count it";
  on = tasks >= 0 && read_waited(own, &waited_ns);
  if (own >= 0) close(own);
  slot = counter;
  if (on)
    look_again(false);
  else
    mk_note_counter("waited_ns", reason);
  return on;
}

void mk_waiting_start(void) {
  if (!on) return;
  if (count_links() != links) look_again(false);
  for (int attempt = 0; attempt < 3; attempt++) {
    const uint64_t begin = mk_now();
    for (int i = 0; i < known; i++)
      if (threads[i].schedstat >= 0) read_waited(threads[i].schedstat, &threads[i].waited_ns);
    /* else this thread has just waited itself, after a yield inside MPI for instance: that is not of the phase */
    if (mk_now() - begin < UNDISTURBED) break;
  }
}

void mk_waiting_stop(uint64_t* phase_counts) {
  if (!on) return;
  bool lost = count_links() != links;
  uint64_t longest = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < known; i++) {
      uint64_t waited_ns;
      if (threads[i].schedstat < 0) continue;
      if (!read_waited(threads[i].schedstat, &waited_ns)) {
        lost = true; /* it has ended: how long it had waited by then is lost with it */
        continue;
      }
      const uint64_t delta = mk_delta(threads[i].waited_ns, waited_ns);
      if (delta > longest) longest = delta;
    }
    if (!lost || round) break;
    look_again(true); /* those that began in this phase have waited since zero */
  }
  phase_counts[slot] = longest;
}
