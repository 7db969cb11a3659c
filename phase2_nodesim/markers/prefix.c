/* An engine's words before the MPI program of a script. A script that starts its program is run natively; the program
 * finds the words in MANYNODE_MARKERS_PREFIX (manynode/started_program.py) and starts again behind them, before its
 * first own instruction. How the script starts it does not matter. The variable goes, because the program that starts
 * again must not do so a third time. */
#define _GNU_SOURCE
#include "markers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 256 };

static void start_again(char* prefix, int count, char** arguments) {
  static char program[4096];
  char** words = mk_allocate((size_t)(MOST_WORDS + count + 2) * sizeof *words);
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (!words || length <= 0) return;
  int used = 0;
  for (char* word = strtok(prefix, "\x1f"); word && used < MOST_WORDS; word = strtok(NULL, "\x1f"))
    words[used++] = word;
  words[used++] = program;
  for (int i = 1; i < count; i++) words[used++] = arguments[i];
  execvp(words[0], words);
  fprintf(stderr, "manynode markers: %s behind %s cannot be started: %s\n", program, words[0], strerror(errno));
  _exit(127);
}

/* An interpreter that loads MPI later has not been known as a program of MPI. Behind the words it keeps the variable.
 */
void mk_check_prefix(void) {
  if (!getenv("MANYNODE_MARKERS_PREFIX") || mk_state.on_valgrind || mk_state.counter_mode == MK_COUNTERS_NODE) return;
  fprintf(stderr,
          "manynode markers: a script started a program that loads MPI after its start, and no engine can follow that. "
          "Give the program itself (an interpreter such as python3, with its arguments) as the command.\n");
  _exit(2);
}

/* glibc hands the program's arguments to constructors. A program is one of MPI if it is linked with it. */
__attribute__((constructor)) static void at_load(int count, char** arguments) {
  const char* given = getenv("MANYNODE_MARKERS_PREFIX");
  if (!given || !*given || !dlsym(RTLD_NEXT, "PMPI_Init")) return;
  const size_t bytes = strlen(given) + 1;
  char* prefix = mk_allocate(bytes);
  if (!prefix) return;
  memcpy(prefix, given, bytes);
  unsetenv("MANYNODE_MARKERS_PREFIX");
  start_again(prefix, count, arguments);
}
