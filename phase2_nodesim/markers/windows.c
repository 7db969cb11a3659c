/* Windows of one-sided communication: small numbers in the order in which this rank made them. Programs have few. */
#include "wrapping.h"

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

void mk_new_window(MPI_Win win, MPI_Comm comm) {
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
}

void mk_put_group(MPI_Group group) {
  int size = 0;
  mk_real.Group_size(group, &size);
  int* ranks = mk_world_ranks(group, size);
  mk_put(size);
  for (int i = 0; i < size; i++) mk_put(ranks ? ranks[i] : MK_UNKNOWN);
  mk_free_world_ranks(ranks, size);
}
