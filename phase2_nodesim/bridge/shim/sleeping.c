/* Calls of the C library that a simulator in syscall emulation cannot bear: those that sleep put the rank's clocks
 * forward, those that wait for files or make processes end the program and are named. They are linked with every guest
 * (mb_link_sleeping), so that the C++ library's use of them comes here as well. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

void mb_link_sleeping(void) {}

/* Nothing is simulated while a rank sleeps: its clocks are put forward. (gem5's way to let a core rest, quiesce_ns, has
 * left out-of-order cores that never commit again: v24.0.) */
static void rest_ns(uint64_t ns) {
  if (!mb_guest.host_clock) {
    mb_guest.rested_ns += ns;
    mb_guest.away_ns -= ns; /* may wrap: differences of the clock stay right */
    return;
  }
  struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  while (mb_arch_syscall(SYS_nanosleep, (long)&left, (long)&left, 0, 0) == -EINTR) continue;
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const long error = mb_arch_syscall(SYS_clock_gettime, (long)clock, (long)time, 0, 0);
  if (error) {
    errno = (int)-error;
    return -1;
  }
  const uint64_t ns = (uint64_t)time->tv_nsec + mb_guest.rested_ns;
  time->tv_sec += (time_t)(ns / 1000000000u);
  time->tv_nsec = (long)(ns % 1000000000u);
  return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

static bool as_ns(const struct timespec* time, uint64_t* ns) {
  if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000) return false;
  *ns = (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
  return true;
}

unsigned sleep(unsigned seconds) {
  rest_ns((uint64_t)seconds * 1000000000u);
  return 0;
}

int usleep(useconds_t microseconds) {
  rest_ns((uint64_t)microseconds * 1000u);
  return 0;
}

/* 0 or an error number */
static int rest_until(clockid_t clock, int flags, const struct timespec* time) {
  uint64_t ns, now_ns;
  struct timespec now;
  if (!as_ns(time, &ns)) return EINVAL;
  if (flags & TIMER_ABSTIME) {
    if (clock_gettime(clock, &now) != 0 || !as_ns(&now, &now_ns)) return EINVAL;
    ns = ns > now_ns ? ns - now_ns : 0;
  }
  if (ns) rest_ns(ns);
  return 0;
}

int nanosleep(const struct timespec* requested, struct timespec* remaining) {
  const int error = rest_until(CLOCK_MONOTONIC, 0, requested);
  if (remaining) *remaining = (struct timespec){0}; /* may be the same as `requested` */
  if (error) errno = error;
  return error ? -1 : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* requested, struct timespec* remaining) {
  const int error = rest_until(clock, flags, requested);
  if (remaining && !(flags & TIMER_ABSTIME)) *remaining = (struct timespec){0};
  return error;
}

static _Noreturn void refuse(const char* call) {
  mb_fatal(call, "a guest cannot use this call: the simulator would wait with all its cores, or end");
}

/* Without files to wait for, these are a way to sleep. */
static int wait_for_nothing(const char* call, bool files, bool forever, uint64_t ns) {
  if (files || forever) refuse(call);
  if (ns) rest_ns(ns);
  return 0;
}

int select(int count, fd_set* reading, fd_set* writing, fd_set* failing, struct timeval* timeout) {
  const bool files = count > 0 && (reading || writing || failing);
  return wait_for_nothing("select", files, !timeout,
                          timeout ? (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_usec * 1000u : 0);
}

int pselect(int count, fd_set* reading, fd_set* writing, fd_set* failing, const struct timespec* timeout,
            const sigset_t* mask) {
  uint64_t ns = 0;
  (void)mask;
  const bool files = count > 0 && (reading || writing || failing);
  return wait_for_nothing("pselect", files, !timeout || !as_ns(timeout, &ns), ns);
}

int poll(struct pollfd* files, nfds_t count, int timeout_ms) {
  (void)files;
  return wait_for_nothing("poll", count > 0, timeout_ms < 0, timeout_ms > 0 ? (uint64_t)timeout_ms * 1000000u : 0);
}

int ppoll(struct pollfd* files, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  uint64_t ns = 0;
  (void)files;
  (void)mask;
  return wait_for_nothing("ppoll", count > 0, !timeout || !as_ns(timeout, &ns), ns);
}

int epoll_wait(int set, struct epoll_event* events, int room, int timeout_ms) {
  (void)set;
  (void)events;
  (void)room;
  (void)timeout_ms;
  refuse("epoll_wait");
}

int pause(void) { refuse("pause"); }
pid_t fork(void) { refuse("fork"); }
pid_t vfork(void) { refuse("vfork"); }

int system(const char* command) {
  (void)command;
  refuse("system");
}

FILE* popen(const char* command, const char* mode) {
  (void)command;
  (void)mode;
  refuse("popen");
}

int posix_spawn(pid_t* restrict pid, const char* restrict path, const posix_spawn_file_actions_t* restrict actions,
                const posix_spawnattr_t* restrict attributes, char* const arguments[restrict],
                char* const environment[restrict]) {
  (void)pid, (void)path, (void)actions, (void)attributes, (void)arguments, (void)environment;
  refuse("posix_spawn");
}

int posix_spawnp(pid_t* restrict pid, const char* restrict path, const posix_spawn_file_actions_t* restrict actions,
                 const posix_spawnattr_t* restrict attributes, char* const arguments[restrict],
                 char* const environment[restrict]) {
  (void)pid, (void)path, (void)actions, (void)attributes, (void)arguments, (void)environment;
  refuse("posix_spawnp");
}
