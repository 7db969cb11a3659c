/* What the two parts of the polite table share (polite_table.c): buffers, statuses and the lines that are compared. */
#ifndef POLITE_TABLE_H
#define POLITE_TABLE_H

#include <mpi.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 5, MORE = 9, LONG = 100000, TAG = 7, MEMBERS = 8, ROOM = 4 * LONG };

static FILE* lines;
static int rank, size;
static int sent[ROOM], received[ROOM];
static char label[256];
static MPI_Comm quiet;      /* its errors return, and those of MPI_COMM_WORLD do not */
static MPI_Comm pair;       /* ranks 0 and 1, or 2 and 3; as quiet */
static MPI_Comm inter;      /* the even and the odd ranks */
static MPI_Datatype gapped; /* an int and as much room behind it */

/* What a call must leave alone stays this. */
static void forget(MPI_Status* status) { memset(status, 0x55, sizeof *status); }

static void forget_all_but_error(MPI_Status* status) {
  const int error = status->MPI_ERROR;
  forget(status);
  status->MPI_ERROR = error;
}

static void say(const char* format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(lines, "%s: ", label);
  vfprintf(lines, format, values);
  va_end(values);
  fputc('\n', lines);
  fflush(lines);
}

/* Error codes of MPICH hold more than the class: a number of the message. */
static int class_of(int code) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found;
}

static void say_status(const char* what, const MPI_Status* status) {
  MPI_Status never;
  int count = -9, cancelled = -9;
  if (status == MPI_STATUS_IGNORE) return;
  forget(&never);
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  const int error = status->MPI_ERROR == never.MPI_ERROR ? -1 : class_of(status->MPI_ERROR);
  if (cancelled && status->MPI_SOURCE != never.MPI_SOURCE) /* whose rest is left open */
    say("%s cancelled error %d", what, error);
  else
    say("%s source %d tag %d count %d cancelled %d error %d", what, status->MPI_SOURCE, status->MPI_TAG, count,
        cancelled, error);
}

static void fill(int ints) {
  for (int i = 0; i < ints; i++) {
    sent[i] = rank * 1000 + i % 97 + 256;
    received[i] = -i;
  }
}

static unsigned sum_of(const int* values, int ints) {
  unsigned sum = 2166136261u;
  for (int i = 0; i < ints; i++) sum = (sum ^ (unsigned)values[i]) * 16777619u;
  return sum;
}

static void say_buffers(int ints) { say("sent %08x received %08x", sum_of(sent, ints), sum_of(received, ints)); }

#endif
