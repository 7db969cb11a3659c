/* The two FIFOs to the proxy. Only openat, read and write: under gem5 other calls block the whole simulator. Reads ask
 * for no more than what must come (gem5 zeroes the rest of a short read), writes are at most what a FIFO takes at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "shim.h"

enum { LONGEST_READ = 65536 /* what a FIFO holds; more would only make the simulator copy zeroes */ };

static unsigned char waiting[MB_PIECE];
static size_t waiting_bytes;

long mb_open_file(const char* path, int flags) { return mb_arch_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0); }

static void write_all(const unsigned char* at, size_t bytes) {
  while (bytes > 0) {
    const size_t piece = bytes < MB_PIECE ? bytes : MB_PIECE;
    const long done = mb_arch_syscall(SYS_write, mb_guest.request_fd, (long)at, (long)piece, 0);
    if (done == -EINTR || done == -EAGAIN) continue;
    if (done <= 0) mb_gone();
    at += done;
    bytes -= (size_t)done;
  }
}

void mb_flush(void) {
  write_all(waiting, waiting_bytes);
  waiting_bytes = 0;
}

void mb_put(const void* data, size_t bytes) {
  if (waiting_bytes + bytes > sizeof waiting) mb_flush();
  if (bytes > sizeof waiting) {
    write_all(data, bytes);
    return;
  }
  memcpy(waiting + waiting_bytes, data, bytes);
  waiting_bytes += bytes;
}

void mb_get(void* data, size_t bytes) {
  unsigned char* at = data;
  while (bytes > 0) {
    const size_t piece = bytes < LONGEST_READ ? bytes : LONGEST_READ;
    const long got = mb_arch_syscall(SYS_read, mb_guest.reply_fd, (long)at, (long)piece, 0);
    if (got == -EINTR || got == -EAGAIN) continue;
    if (got <= 0) mb_gone();
    at += got;
    bytes -= (size_t)got;
  }
}
