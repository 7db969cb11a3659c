/* Windows of one-sided communication: small numbers in the order in which this rank made them. Programs have few. */
#include "wrapping.h"

#include <sys/mman.h>

enum { MOST = 1024 };
static struct {
  uintptr_t handle; /* 0: free */
  int number;
} windows[MOST];
static int used, next_number;

int mk_window(MPI_Win win) {
  for (int i = 0; i < used; i++)
    if (windows[i].handle == MK_HANDLE(win)) return windows[i].number;
  return MK_UNKNOWN;
}

void mk_forget_window(MPI_Win win) {
  for (int i = 0; i < used; i++)
    if (windows[i].handle == MK_HANDLE(win)) windows[i].handle = 0;
}

void mk_new_window(struct mk_record* record, MPI_Win win, MPI_Comm comm) {
  mk_forget_window(win); /* the handle of a window that was freed behind our back */
  int i = 0;
  while (i < used && windows[i].handle) i++;
  if (i < MOST) {
    windows[i].handle = MK_HANDLE(win);
    windows[i].number = next_number;
    if (i == used) used++;
  }
  mk_put(next_number++);
  mk_put_members(comm);
  record->detail = mk_take_detail();
}

void mk_put_group(MPI_Group group) {
  MPI_Group all;
  int size = 0;
  mk_real.Group_size(group, &size);
  const size_t bytes = 2 * (size_t)(size + 1) * sizeof(int);
  int* ranks = mk_allocate(bytes);
  if (!ranks || mk_real.Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return;
  for (int i = 0; i < size; i++) ranks[i] = i;
  mk_real.Group_translate_ranks(group, size, ranks, all, ranks + size);
  mk_put(size);
  for (int i = size; i < 2 * size; i++) mk_put(ranks[i] == MPI_UNDEFINED ? MK_UNKNOWN : ranks[i]);
  mk_real.Group_free(&all);
  munmap(ranks, bytes);
}
