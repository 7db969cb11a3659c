/* Ends of the guest that are not the application's own. The exit code says who is to blame: MB_EXIT_PROXY_GONE somebody
 * else, MB_EXIT_REFUSED this program. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim.h"

void mb_end(int code) {
  if (!mb_guest.host_clock) mb_arch_fail((uint64_t)code & 0xff); /* gem5 alone knows only the last guest's code */
  _exit(code);
}

static void say(const char* call, const char* format, va_list arguments) {
  char text[1024];
  int used = snprintf(text, sizeof text, "manynode bridge: rank %d: %s%s", mb_guest.rank, call, *call ? ": " : "");
  used += vsnprintf(text + used, sizeof text - (size_t)used - 1, format, arguments);
  if (used > (int)sizeof text - 2) used = (int)sizeof text - 2;
  text[used++] = '\n';
  fflush(NULL); /* what the application printed comes first */
  if (write(STDERR_FILENO, text, (size_t)used) < 0) mb_end(MB_EXIT_REFUSED);
}

void mb_say(const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(call, format, arguments);
  va_end(arguments);
}

void mb_fatal(const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(call, format, arguments);
  va_end(arguments);
  mb_end(MB_EXIT_REFUSED);
}

void mb_gone(void) {
  fflush(NULL);
  static const char text[] = "manynode bridge: the proxy of this rank is gone; the guest ends\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) mb_end(MB_EXIT_PROXY_GONE);
  mb_end(MB_EXIT_PROXY_GONE);
}

int mb_wrong(const char* call, int error, const char* format, ...) {
  if (mb_guest.errors_return) return error;
  va_list arguments;
  va_start(arguments, format);
  say(call, format, arguments);
  va_end(arguments);
  mb_end(MB_EXIT_REFUSED);
}
