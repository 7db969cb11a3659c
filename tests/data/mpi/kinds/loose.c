/* Kinds of requests, of orders that are not kept, of communication that follows data, and of what is not followed. */
#include "kinds.h"

static int left(void) { return (rank + ranks - 1) % ranks; }
static int right(void) { return (rank + 1) % ranks; }

/* The same numbers on every machine and rank: pseudo-random ones of Park and Miller. */
static int drawn(unsigned seed, int below) {
  unsigned long number = seed * 2654435761UL % 2147483647UL + 1;
  for (int one = 0; one < 8; ++one) number = number * 48271UL % 2147483647UL;
  return (int)(number % (unsigned long)below);
}

static void sendrecv_replace(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Sendrecv_replace(in, 80, MPI_CHAR, right(), 0, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void synchronous(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    MPI_Irecv(out, 64, MPI_CHAR, left(), 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(in, 64, MPI_CHAR, right(), 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void to_itself(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    MPI_Irecv(out, 16, MPI_CHAR, rank, 5, MPI_COMM_WORLD, &request);
    MPI_Send(in, 16, MPI_CHAR, rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void tags(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Sendrecv(in, 64, MPI_CHAR, right(), 100 + rank, out, 64, MPI_CHAR, left(), 100 + left(), MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(in, 64, MPI_CHAR, right(), turn, out, 64, MPI_CHAR, left(), turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void any_tag(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Sendrecv(in, 64, MPI_CHAR, right(), turn, out, 64, MPI_CHAR, left(), MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

static void forgotten(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    MPI_Isend(in, 8, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &request);
    MPI_Recv(out, 8, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void freed(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    MPI_Isend(in, 8, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(out, 8, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void cancelled(void) {
  MPI_Request request;
  for (int turn = 0; turn < kTurns; ++turn) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irecv(out, 8, MPI_CHAR, left(), 7, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void asked_until_there(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request request;
    int there = 0;
    MPI_Irecv(out, 128, MPI_CHAR, left(), 0, MPI_COMM_WORLD, &request);
    MPI_Send(in, 128, MPI_CHAR, right(), 0, MPI_COMM_WORLD);
    while (!there) MPI_Test(&request, &there, MPI_STATUS_IGNORE);
  }
}

static void probed(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Status status;
    MPI_Request request;
    int bytes;
    MPI_Isend(in, 96, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &request);
    MPI_Probe(left(), 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    MPI_Recv(out, bytes, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Two messages from any source a turn, both from neighbours on a ring. */
static void from_any_neighbour(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request requests[2];
    for (int one = 0; one < 2; ++one) {
      MPI_Irecv(out, 32, MPI_CHAR, MPI_ANY_SOURCE, turn, MPI_COMM_WORLD, &requests[one]);
    }
    MPI_Send(in, 32, MPI_CHAR, right(), turn, MPI_COMM_WORLD);
    MPI_Send(in, 32, MPI_CHAR, left(), turn, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void until_converged(void) {
  double rest = 1;
  for (int turn = 0; rest > 0.01; ++turn) {
    const double own = rest * 0.5;
    MPI_Allreduce(&own, &rest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
}

/* More turns on more ranks, by no rule of the number of ranks. */
static void turns_by_luck(void) {
  for (int turn = 0, turns = 5 + drawn((unsigned)ranks, 9); turn < turns; ++turn) MPI_Barrier(MPI_COMM_WORLD);
}

static void partners_by_luck(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request requests[64];
    int number = 0;
    for (int one = 0; one < ranks; ++one) {
      const int to = drawn((unsigned)(1000 * turn + one), ranks);
      if (to == one) continue;
      if (to == rank) MPI_Irecv(out, 64, MPI_CHAR, one, turn, MPI_COMM_WORLD, &requests[number++]);
      if (one == rank) MPI_Isend(in, 64, MPI_CHAR, to, turn, MPI_COMM_WORLD, &requests[number++]);
    }
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  }
}

static void sizes_by_luck(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    const int sent = 1000 + drawn((unsigned)(100 * turn + rank), 64);
    MPI_Sendrecv(in, sent, MPI_CHAR, right(), 0, out, kRoom, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void numbers_by_luck(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request requests[8];
    const int more = drawn((unsigned)rank, 4), less = drawn((unsigned)left(), 4);
    for (int one = 0; one < more; ++one) MPI_Isend(in, 64, MPI_CHAR, right(), 0, MPI_COMM_WORLD, &requests[one]);
    for (int one = 0; one < less; ++one) {
      MPI_Recv(out, 64, MPI_CHAR, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(more, requests, MPI_STATUSES_IGNORE);
  }
}

static void remote_puts(void) {
  MPI_Win window;
  MPI_Win_create(out, kRoom, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Win_fence(0, window);
    MPI_Put(in, 64, MPI_CHAR, right(), 0, 64, MPI_CHAR, window);
    MPI_Win_fence(0, window);
  }
  MPI_Win_free(&window);
}

static void two_worlds(void) {
  MPI_Comm half, both;
  refuse(ranks < 2, "two ranks are needed");
  const int second = rank >= ranks / 2;
  MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : ranks / 2, 1, &both);
  MPI_Barrier(both);
}

static const struct kind kinds[] = {
    {"sendrecv-replace", sendrecv_replace},
    {"synchronous", synchronous},
    {"to-itself", to_itself},
    {"tags", tags},
    {"any-tag", any_tag},
    {"forgotten", forgotten},
    {"freed", freed},
    {"cancelled", cancelled},
    {"asked-until-there", asked_until_there},
    {"probed", probed},
    {"from-any-neighbour", from_any_neighbour},
    {"until-converged", until_converged},
    {"turns-by-luck", turns_by_luck},
    {"partners-by-luck", partners_by_luck},
    {"sizes-by-luck", sizes_by_luck},
    {"numbers-by-luck", numbers_by_luck},
    {"puts", remote_puts},
    {"two-worlds", two_worlds},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
