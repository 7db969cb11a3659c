/* Kinds of messages between neighbours, along lines and trees, and to one rank. */
#include "kinds.h"

static MPI_Request open_[64];

static void exchange(int left, int right, int bytes) {
  MPI_Sendrecv(in, bytes, MPI_CHAR, right, 1, out, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(void) {
  for (int turn = 0; turn < kTurns; ++turn) exchange((rank + ranks - 1) % ranks, (rank + 1) % ranks, 800);
}

static void line(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    int number = 0;
    for (int side = -1; side <= 1; side += 2) {
      const int peer = rank + side;
      if (peer < 0 || peer >= ranks) continue;
      MPI_Irecv(out, 400, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &open_[number++]);
      MPI_Isend(in, 400, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &open_[number++]);
    }
    MPI_Waitall(number, open_, MPI_STATUSES_IGNORE);
  }
}

static void null_peers(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    exchange(rank == 0 ? MPI_PROC_NULL : rank - 1, rank == ranks - 1 ? MPI_PROC_NULL : rank + 1, 640);
  }
}

static void faces(int axes, int periodic) {
  grid(axes, periodic);
  for (int turn = 0; turn < kTurns; ++turn) {
    int number = 0;
    for (int axis = 0; axis < axes; ++axis) {
      int low, high;
      MPI_Cart_shift(cart, axis, 1, &low, &high);
      MPI_Irecv(out, 8 << axis, MPI_CHAR, low, 0, cart, &open_[number++]);
      MPI_Irecv(out, 8 << axis, MPI_CHAR, high, 1, cart, &open_[number++]);
      MPI_Isend(in, 8 << axis, MPI_CHAR, high, 0, cart, &open_[number++]);
      MPI_Isend(in, 8 << axis, MPI_CHAR, low, 1, cart, &open_[number++]);
    }
    MPI_Waitall(number, open_, MPI_STATUSES_IGNORE);
  }
}
static void faces_2d(void) { faces(2, 0); }
static void torus_2d(void) { faces(2, 1); }
static void faces_3d(void) { faces(3, 0); }
static void torus_3d(void) { faces(3, 1); }

/* Neighbours by offsets of at most 1 along `axes`; `apart`: of how many axes they differ, 0 for any. */
enum waits { kTogether, kOneByOne, kWhicheverComes };

static void boxes(int axes, int apart, enum waits waits) {
  grid(axes, 0);
  for (int turn = 0; turn < kTurns; ++turn) {
    int number = 0;
    int peers[26], kinds[26];
    for (int code = 0, all = axes == 2 ? 9 : 27; code < all; ++code) {
      const int step[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - (axes == 3)};
      int inside = 1, differs = 0, at[3];
      for (int axis = 0; axis < axes; ++axis) {
        at[axis] = place[axis] + step[axis];
        inside = inside && at[axis] >= 0 && at[axis] < extent[axis];
        differs += step[axis] != 0;
      }
      if (!inside || differs == 0 || (apart != 0 && differs != apart)) continue;
      MPI_Cart_rank(cart, at, &peers[number]);
      kinds[number++] = differs;
    }
    for (int one = 0; one < number; ++one) {
      MPI_Irecv(out, 512 >> kinds[one], MPI_CHAR, peers[one], 0, MPI_COMM_WORLD, &open_[one]);
    }
    for (int one = 0; one < number; ++one) {
      MPI_Send(in, 512 >> kinds[one], MPI_CHAR, peers[one], 0, MPI_COMM_WORLD);
    }
    for (int one = 0; waits != kTogether && one < number; ++one) {
      int which;
      if (waits == kOneByOne) MPI_Wait(&open_[one], MPI_STATUS_IGNORE);
      if (waits == kWhicheverComes) MPI_Waitany(number, open_, &which, MPI_STATUS_IGNORE);
    }
    if (waits == kTogether) {
      MPI_Waitall(number, open_, MPI_STATUSES_IGNORE);
    }
  }
}
static void boxes_2d(void) { boxes(2, 0, kTogether); }
static void corners_2d(void) { boxes(2, 2, kTogether); }
static void boxes_3d(void) { boxes(3, 0, kTogether); }
static void edges_3d(void) { boxes(3, 2, kTogether); }
static void wait_one_by_one(void) { boxes(3, 0, kOneByOne); }
static void wait_for_any(void) { boxes(3, 1, kWhicheverComes); }

/* Faces of a grid that the program makes without MPI, of so many ranks along the first axis. */
static void faces_of(int wide) {
  for (int turn = 0; turn < kTurns; ++turn) {
    int number = 0;
    const int x = rank % wide, y = rank / wide;
    const int peers[4] = {x > 0 ? rank - 1 : -1, x < wide - 1 ? rank + 1 : -1, y > 0 ? rank - wide : -1,
                          y < ranks / wide - 1 ? rank + wide : -1};
    for (int side = 0; side < 4; ++side) {
      if (peers[side] < 0) continue;
      MPI_Irecv(out, 96, MPI_CHAR, peers[side], 0, MPI_COMM_WORLD, &open_[number++]);
      MPI_Isend(in, 96, MPI_CHAR, peers[side], 0, MPI_COMM_WORLD, &open_[number++]);
    }
    MPI_Waitall(number, open_, MPI_STATUSES_IGNORE);
  }
}

/* The widest grid that is not wider than high. */
static void own_grid(void) {
  int wide = 1;
  for (int one = 1; one * one <= ranks; ++one) {
    if (ranks % one == 0) wide = one;
  }
  faces_of(wide);
}

/* The grid of a domain that is four times as high as it is wide, which no usual rule gives. */
static void high_grid(void) {
  int wide = 1;
  for (int one = 1; one <= ranks; ++one) {
    if (ranks % one == 0 && abs(ranks - 4 * one * one) < abs(ranks - 4 * wide * wide)) wide = one;
  }
  faces_of(wide);
}

static void waitany(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Irecv(out, 64, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &open_[0]);
    MPI_Irecv(out, 64, MPI_CHAR, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &open_[1]);
    MPI_Send(in, 64, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Send(in, 64, MPI_CHAR, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
    for (int one = 0; one < 2; ++one) {
      int which;
      MPI_Waitany(2, open_, &which, MPI_STATUS_IGNORE);
    }
  }
}

static void persistent(void) {
  MPI_Recv_init(out, 256, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &open_[0]);
  MPI_Send_init(in, 256, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &open_[1]);
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Startall(2, open_);
    MPI_Waitall(2, open_, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&open_[0]);
  MPI_Request_free(&open_[1]);
}

static void even_and_odd(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank % 2 == 0 && rank + 1 < ranks) MPI_Send(in, 72, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
    if (rank % 2 == 1) MPI_Recv(out, 72, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void pipeline(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank > 0) MPI_Recv(out, 120, MPI_CHAR, rank - 1, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < ranks - 1) MPI_Send(in, 120, MPI_CHAR, rank + 1, turn, MPI_COMM_WORLD);
  }
}

/* From two corners of a grid to the opposite ones, one after the other. */
static void sweeps(void) {
  grid(2, 0);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int way = 1; way >= -1; way -= 2) {
      for (int axis = 0; axis < 2; ++axis) {
        int from, to;
        MPI_Cart_shift(cart, axis, way, &from, &to);
        if (from >= 0) MPI_Recv(out, 88, MPI_CHAR, from, axis, cart, MPI_STATUS_IGNORE);
      }
      for (int axis = 0; axis < 2; ++axis) {
        int from, to;
        MPI_Cart_shift(cart, axis, way, &from, &to);
        if (to >= 0) MPI_Send(in, 88, MPI_CHAR, to, axis, cart);
      }
    }
  }
}

static void from_the_first(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int one = 1; rank == 0 && one < ranks; ++one) MPI_Send(in, 40, MPI_CHAR, one, 0, MPI_COMM_WORLD);
    if (rank > 0) MPI_Recv(out, 40, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void to_the_first(int source) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int one = 1; rank == 0 && one < ranks; ++one) {
      MPI_Recv(out, 40, MPI_CHAR, source == 0 ? one : source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank > 0) MPI_Send(in, 40, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void to_the_first_in_order(void) { to_the_first(0); }
static void to_the_first_from_any(void) { to_the_first(MPI_ANY_SOURCE); }

/* Each row of a grid to its first rank. */
static void to_the_first_of_a_row(void) {
  grid(2, 0);
  const int first = rank - place[1];
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int one = 1; place[1] == 0 && one < extent[1]; ++one) {
      MPI_Recv(out, 56, MPI_CHAR, rank + one, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (place[1] > 0) MPI_Send(in, 56, MPI_CHAR, first, 0, MPI_COMM_WORLD);
  }
}

static void tree(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int bit = 1; bit < ranks; bit *= 2) {
      if (rank & bit) {
        MPI_Send(in, 32, MPI_CHAR, rank - bit, 0, MPI_COMM_WORLD);
        break;
      }
      if (rank + bit < ranks) MPI_Recv(out, 32, MPI_CHAR, rank + bit, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static void doubling(void) {
  refuse(ranks & (ranks - 1), "the number of ranks must be a power of two");
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int bit = 1; bit < ranks; bit *= 2) exchange(rank ^ bit, rank ^ bit, 48);
  }
}

static void doubling_sizes(void) {
  refuse(ranks & (ranks - 1), "the number of ranks must be a power of two");
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int bit = 1; bit < ranks; bit *= 2) exchange(rank ^ bit, rank ^ bit, 48 * bit);
  }
}

static void dissemination(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int step = 1; step < ranks; step *= 2) exchange((rank - step + ranks) % ranks, (rank + step) % ranks, 1);
  }
}

static void around_the_ring(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int step = 1; step < ranks; ++step) exchange((rank + ranks - 1) % ranks, (rank + 1) % ranks, 72);
  }
}

static void all_shifts(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int step = 1; step < ranks; ++step) exchange((rank - step + ranks) % ranks, (rank + step) % ranks, 72);
  }
}

static void all_pairs(void) {
  refuse(ranks & (ranks - 1), "the number of ranks must be a power of two");
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int other = 1; other < ranks; ++other) exchange(rank ^ other, rank ^ other, 72);
  }
}

static void transposed(void) {
  int side = 1;
  while (side * side < ranks) ++side;
  refuse(side * side != ranks, "the number of ranks must be a square");
  const int other = rank % side * side + rank / side;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (other != rank) exchange(other, other, 640);
  }
}

static void opposite(void) {
  for (int turn = 0; turn < kTurns; ++turn) exchange(ranks - 1 - rank, ranks - 1 - rank, 64);
}

static void half_away(void) {
  refuse(ranks % 2, "the number of ranks must be even");
  for (int turn = 0; turn < kTurns; ++turn) exchange((rank + ranks / 2) % ranks, (rank + ranks / 2) % ranks, 64);
}

static void two_away(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    if (rank + 2 < ranks) MPI_Isend(in, 24, MPI_CHAR, rank + 2, 0, MPI_COMM_WORLD, &open_[0]);
    if (rank >= 2) MPI_Recv(out, 24, MPI_CHAR, rank - 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank + 2 < ranks) MPI_Wait(&open_[0], MPI_STATUS_IGNORE);
  }
}

static const struct kind kinds[] = {
    {"ring", ring},
    {"line", line},
    {"null-peers", null_peers},
    {"faces-2d", faces_2d},
    {"torus-2d", torus_2d},
    {"faces-3d", faces_3d},
    {"torus-3d", torus_3d},
    {"boxes-2d", boxes_2d},
    {"corners-2d", corners_2d},
    {"boxes-3d", boxes_3d},
    {"edges-3d", edges_3d},
    {"wait-one-by-one", wait_one_by_one},
    {"wait-for-any", wait_for_any},
    {"own-grid", own_grid},
    {"high-grid", high_grid},
    {"waitany", waitany},
    {"persistent", persistent},
    {"even-and-odd", even_and_odd},
    {"pipeline", pipeline},
    {"sweeps", sweeps},
    {"from-the-first", from_the_first},
    {"to-the-first-in-order", to_the_first_in_order},
    {"to-the-first-from-any", to_the_first_from_any},
    {"to-the-first-of-a-row", to_the_first_of_a_row},
    {"tree", tree},
    {"doubling", doubling},
    {"doubling-sizes", doubling_sizes},
    {"dissemination", dissemination},
    {"around-the-ring", around_the_ring},
    {"all-shifts", all_shifts},
    {"all-pairs", all_pairs},
    {"transposed", transposed},
    {"opposite", opposite},
    {"half-away", half_away},
    {"two-away", two_away},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
