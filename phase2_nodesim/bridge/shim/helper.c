/* Injected memory operations: what a network adapter does to the node's memory when data goes out and comes in.
 *
 * nic: a helper thread on a core of its own, which reads the lines of send buffers and writes those of receive buffers
 * on command of the proxy. Its caches take part in the node's coherence, so that the rank's core loses the lines. A
 * written byte keeps its value: the data itself is the reply's. The thread is made by clone without the C library's
 * knowledge (it must exist before any other, and end while the program goes on), so it uses system calls only. flush:
 * the rank's own core flushes what was received, inside the call, whose time does not count. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "shim.h"

enum { STACK_BYTES = 64 * 1024 };
static int command_fd, done_fd;

struct touch {
  uint64_t left; /* bytes */
  uint64_t lines;
  uintptr_t last_line;
  int verb;
};

/* Each line once; a buffer's border lines may hold data of others, so that only its own bytes are written. */
static bool touch_piece(void* context, char* at, size_t bytes) {
  struct touch* touch = context;
  if (bytes > touch->left) bytes = touch->left;
  touch->left -= bytes;
  for (char* end = at + bytes; at < end; at = (char*)(((uintptr_t)at | (MB_LINE_BYTES - 1)) + 1)) {
    const uintptr_t line = (uintptr_t)at / MB_LINE_BYTES;
    if (line == touch->last_line) continue;
    touch->last_line = line;
    touch->lines++;
    volatile char* byte = at;
    const char value = *byte;
    if (touch->verb == MB_HELPER_WRITE) *byte = value;
  }
  return touch->left > 0;
}

static bool transfer(long number, int file, void* data, size_t bytes) {
  char* at = data;
  while (bytes > 0) {
    const long done = mb_arch_syscall(number, file, (long)at, (long)bytes, 0);
    if (done == -4 || done == -11) continue; /* EINTR, EAGAIN */
    if (done <= 0) return false;
    at += done;
    bytes -= (size_t)done;
  }
  return true;
}

/* Returning ends the thread. It ends as well when the proxy is gone; the rank itself reports that. */
static int helper(void* unused) {
  (void)unused;
  for (;;) {
    struct mb_helper_command command;
    if (!transfer(SYS_read, command_fd, &command, sizeof command) || command.magic != MB_MAGIC) return 0;
    struct touch touch = {.left = command.bytes, .verb = (int)command.verb};
    const bool reading = command.verb == MB_HELPER_READ;
    const struct mb_request_slot* slot = command.request ? mb_request_of((MPI_Request)command.request) : NULL;
    if (command.verb != MB_HELPER_STOP && (slot || !command.request)) {
      const struct mb_buffer* buffer =
          slot ? (reading ? &slot->send : &slot->receive) : (reading ? &mb_guest.send : &mb_guest.receive);
      if (touch.left) mb_walk(buffer, touch_piece, &touch);
    }
    struct mb_helper_done done = {.magic = MB_MAGIC, .verb = command.verb, .lines = touch.lines};
    if (!transfer(SYS_write, done_fd, &done, sizeof done) || command.verb == MB_HELPER_STOP) return 0;
  }
}

static int open_fifo(const char* directory, const char* name, int flags) {
  char path[1024];
  snprintf(path, sizeof path, "%s/rank-%d.%s", directory, mb_guest.rank, name);
  const long file = mb_open_file(path, flags);
  if (file < 0) mb_fatal("MPI_Init", "cannot open %s (error %ld)", path, -file);
  return (int)file;
}

void mb_start_helper(const char* directory) {
  command_fd = open_fifo(directory, "helper-command", O_RDONLY);
  done_fd = open_fifo(directory, "helper-done", O_WRONLY);
  char* stack = mb_allocate(STACK_BYTES);
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(helper, stack + STACK_BYTES, flags, NULL) < 0)
    mb_fatal(
        "MPI_Init",
        "the helper thread of 'inject: nic' could not be started: the simulated node needs one more core per rank");
}

static bool flush_piece(void* context, char* at, size_t bytes) {
  uint64_t* left = context;
  if (bytes > *left) bytes = *left;
  *left -= bytes;
  for (char* end = at + bytes; at < end; at = (char*)(((uintptr_t)at | (MB_LINE_BYTES - 1)) + 1))
    mb_arch_flush_line(at);
  return *left > 0;
}

void mb_flush_lines(const struct mb_buffer* buffer, uint64_t bytes) {
  if (bytes) mb_walk(buffer, flush_piece, &bytes);
}
