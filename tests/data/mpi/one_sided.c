/* One-sided calls, one kind per run (argv[1]), each with data that are checked. The replay's tests say what every kind
 * sends. Each rank works on the window of the next one, rank r + 1; with four ranks.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, LONG = 100000, PLACES = LONG };

static int rank, size, next, before;
static double mine[PLACES], *window, result[PLACES];
static MPI_Win win;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fence(void) {
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Put(mine, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win);
  MPI_Put(mine, LONG - N, MPI_DOUBLE, next, N, LONG - N, MPI_DOUBLE, win);
  MPI_Put(mine, N, MPI_DOUBLE, MPI_PROC_NULL, 0, N, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  check(window[0] == before && window[PLACES - 1] == before, "what was put");
  MPI_Get(result, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win);
  MPI_Get(result + N, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, win);
  MPI_Accumulate(mine, 10, MPI_DOUBLE, next, N, 10, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  check(result[0] == rank && result[N] == before && window[N] == 2 * before, "what was got or added");
}

/* Ranks of even number put into the next one's window; the others end their epoch by tests. */
static void post_start(void) {
  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int partner = rank % 2 == 0 ? next : before;
  MPI_Group_incl(world, 1, &partner, &other);
  for (int round = 0; round < 2; round++) {
    if (rank % 2 == 0) {
      MPI_Win_start(other, 0, win);
      MPI_Put(mine, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win);
      MPI_Win_complete(win);
    } else {
      MPI_Win_post(other, 0, win);
      int over = round == 0;
      if (over) MPI_Win_wait(win);
      while (!over) MPI_Win_test(win, &over);
      check(window[N - 1] == before, "what was put");
    }
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

static void lock(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
  MPI_Put(mine, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win);
  MPI_Win_flush_local(next, win);
  MPI_Accumulate(mine, N, MPI_DOUBLE, next, N, N, MPI_DOUBLE, MPI_REPLACE, win);
  MPI_Win_unlock(next, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  MPI_Get(result, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win);
  MPI_Win_unlock(next, win);
  check(result[0] == rank && result[N - 1] == rank, "what was got");
}

/* Each rank counts on rank 0, whose own count needs no message, and swaps with the next one. */
static void lock_all(void) {
  MPI_Win_lock_all(0, win);
  const double one = 1, none = -1;
  double old;
  MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 0, 5, MPI_SUM, win);
  MPI_Win_flush(0, win);
  long compare = 0, swap = 7, was = 1;
  MPI_Compare_and_swap(&swap, &compare, &was, MPI_LONG, next, 8, win);
  MPI_Win_flush_local_all(win);
  MPI_Get_accumulate(&none, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, next, 20, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush_all(win);
  MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
  check(was == 0 && old >= 0 && old < size && result[0] == 0, "what was fetched");
  MPI_Barrier(MPI_COMM_WORLD);
  check(rank != 0 || window[5] == size, "the count");
}

/* The second operations are ended by the flush, before the program waits for them. */
static void requests(void) {
  MPI_Request open[3];
  MPI_Win_lock_all(0, win);
  MPI_Rput(mine, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win, &open[0]);
  MPI_Raccumulate(mine, N, MPI_DOUBLE, next, N, N, MPI_DOUBLE, MPI_REPLACE, win, &open[1]);
  MPI_Rput(mine, 1, MPI_DOUBLE, rank, 5000, 1, MPI_DOUBLE, win, &open[2]);
  MPI_Waitall(3, open, MPI_STATUSES_IGNORE);
  MPI_Win_flush(next, win);
  MPI_Rget(result, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, win, &open[0]);
  MPI_Rget_accumulate(mine, 2, MPI_DOUBLE, result + N, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, MPI_NO_OP, win, &open[1]);
  MPI_Win_flush_all(win);
  MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(win);
  check(result[0] == rank && result[N] == rank, "what was got");
}

/* A target that computes for long while others use its window: it takes part in nothing. */
static void passive(void) {
  if (rank == 0) {
    for (volatile long i = 0; i < 30000000; i++) continue;
  } else {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(mine, N, MPI_DOUBLE, 0, rank * N, N, MPI_DOUBLE, win);
    MPI_Win_unlock(0, win);
  }
}

/* A shared window of pairs in reverse order, one of the rank alone, and one to which memory is attached later. */
static void windows(void) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &pair);
  double *shared, *own;
  MPI_Win shared_win, own_win, dynamic;
  MPI_Win_allocate_shared(100 * sizeof *shared, sizeof *shared, MPI_INFO_NULL, pair, &shared, &shared_win);
  MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_SELF, &own, &own_win);
  int place;
  MPI_Comm_rank(pair, &place);
  MPI_Win_fence(0, shared_win);
  MPI_Win_fence(0, own_win);
  MPI_Put(mine, 100, MPI_DOUBLE, 1 - place, 0, 100, MPI_DOUBLE, shared_win);
  MPI_Put(mine, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, own_win);
  MPI_Win_fence(0, own_win);
  MPI_Win_fence(0, shared_win);
  check(shared[99] == (rank ^ 1) && own[0] == rank, "what was put");
  MPI_Win_free(&own_win);
  MPI_Win_free(&shared_win);
  MPI_Comm_free(&pair);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, result, sizeof result);
  MPI_Aint here, there;
  MPI_Get_address(result, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, before, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, dynamic);
  MPI_Put(mine, 100, MPI_DOUBLE, next, there, 100, MPI_DOUBLE, dynamic);
  MPI_Win_unlock(next, dynamic);
  MPI_Barrier(MPI_COMM_WORLD);
  check(result[99] == before, "what was put into attached memory");
  MPI_Win_detach(dynamic, result);
  MPI_Win_free(&dynamic);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  for (int i = 0; i < PLACES; i++) mine[i] = rank;
  const char* kind = argc > 1 ? argv[1] : "";
  const MPI_Aint bytes = sizeof mine;
  if (strcmp(kind, "lock") == 0) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
  }
  if (strcmp(kind, "lock_all") == 0) {
    window = calloc(PLACES, sizeof *window);
    MPI_Win_create(window, bytes, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(bytes, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  memset(window, 0, sizeof mine);
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(kind, "fence") == 0) fence();
  if (strcmp(kind, "post_start") == 0) post_start();
  if (strcmp(kind, "lock") == 0) lock();
  if (strcmp(kind, "lock_all") == 0) lock_all();
  if (strcmp(kind, "requests") == 0) requests();
  if (strcmp(kind, "passive") == 0) passive();
  if (strcmp(kind, "windows") == 0) windows();
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
