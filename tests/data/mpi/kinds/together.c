/* Kinds of collectives, communicators, sizes, loops. */
#include "kinds.h"

static int counts[256], starts[256];

static void blocks_of(int cells, int bytes, int parts) {
  for (int one = 0, start = 0; one < parts; ++one) {
    counts[one] = bytes * part(cells, parts, one);
    starts[one] = start;
    start += counts[one];
  }
}

static void reductions(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Bcast(in, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Reduce(in, out, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void gathers(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Allgather(in, 16, MPI_CHAR, out, 16, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Gather(in, 24, MPI_CHAR, out, 24, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Scatter(in, 40, MPI_CHAR, out, 40, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}

static void roots(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Bcast(in, 64, MPI_CHAR, ranks - 1, MPI_COMM_WORLD);
    MPI_Bcast(in, 32, MPI_CHAR, ranks / 2, MPI_COMM_WORLD);
  }
}

static void rotating_roots(void) {
  for (int root = 0; root < ranks; ++root) MPI_Bcast(in, 64, MPI_CHAR, root, MPI_COMM_WORLD);
}

static void alltoall(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Alltoall(in, 5760 / ranks, MPI_CHAR, out, 5760 / ranks, MPI_CHAR, MPI_COMM_WORLD);
  }
}

static void blocks(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    blocks_of(100, 8, ranks);
    MPI_Allgatherv(in, counts[rank], MPI_CHAR, out, counts, starts, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Gatherv(in, counts[rank], MPI_CHAR, out, counts, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}

static void scans(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void nonblocking(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Request requests[2];
    MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void neighborhoods(void) {
  grid(2, 1);
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Neighbor_alltoall(in, 16, MPI_CHAR, out, 16, MPI_CHAR, cart);
  }
}

static void in_group(MPI_Comm group) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_DOUBLE, MPI_SUM, group);
    MPI_Bcast(in, 80, MPI_CHAR, 0, group);
  }
}

static void split_by(int color, int key) {
  MPI_Comm group;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &group);
  if (group != MPI_COMM_NULL) in_group(group);
}
static void one_color(void) { split_by(0, rank); }
static void halves(void) { split_by(rank < ranks / 2, rank); }
static void parities(void) { split_by(rank % 2, rank); }
static void fours(void) { split_by(rank / 4, rank); }
static void reversed(void) { split_by(0, ranks - rank); }
static void some(void) { split_by(rank % 3 == 0 ? 0 : MPI_UNDEFINED, rank); }

static void duplicated(void) {
  MPI_Comm group;
  MPI_Comm_dup(MPI_COMM_WORLD, &group);
  in_group(group);
}

static void lines_of(int axes, int kept) {
  int kinds[3] = {0, 0, 0};
  MPI_Comm group;
  grid(axes, 0);
  for (int axis = 0; axis < axes; ++axis) kinds[axis] = (kept >> axis) & 1;
  MPI_Cart_sub(cart, kinds, &group);
  in_group(group);
}
static void rows(void) { lines_of(2, 2); }
static void columns(void) { lines_of(2, 1); }
static void planes(void) { lines_of(3, 6); }

static void first_half(void) {
  MPI_Group all, half;
  MPI_Comm group;
  int range[1][3] = {{0, (ranks + 1) / 2 - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, range, &half);
  MPI_Comm_create(MPI_COMM_WORLD, half, &group);
  if (group != MPI_COMM_NULL) in_group(group);
}

/* Messages in both directions along both axes of a grid, of sizes by direction. */
static void halo(const int (*bytes)[2]) {
  for (int axis = 0; axis < 2; ++axis) {
    int low, high;
    MPI_Cart_shift(cart, axis, 1, &low, &high);
    MPI_Sendrecv(in, bytes[axis][0], MPI_CHAR, low, axis, out, kRoom, MPI_CHAR, high, axis, cart, MPI_STATUS_IGNORE);
    MPI_Sendrecv(in, bytes[axis][1], MPI_CHAR, high, axis, out, kRoom, MPI_CHAR, low, axis, cart, MPI_STATUS_IGNORE);
  }
}

static void halo_of(int along_rows, int along_columns) {
  const int bytes[2][2] = {{along_rows, along_rows}, {along_columns, along_columns}};
  for (int turn = 0; turn < kTurns; ++turn) halo(bytes);
}
static void even_parts(void) {
  grid(2, 0);
  halo_of(8 * (5040 / extent[1]), 8 * (5040 / extent[0]));
}
static void uneven_parts(void) {
  grid(2, 0);
  halo_of(8 * part(500, extent[1], place[1]), 8 * part(500, extent[0], place[0]));
}
static void parts_with_borders(void) {
  grid(2, 0);
  halo_of(8 * (part(500, extent[1], place[1]) + 2), 8 * (part(500, extent[0], place[0]) + 2));
}
/* A range has one point more than cells: that of its beginning is the first part's. */
static void points_of_parts(void) {
  grid(2, 0);
  const int along_rows = part(500, extent[1], place[1]) + (place[1] == 0);
  halo_of(8 * along_rows, 8 * (part(500, extent[0], place[0]) + (place[0] == 0)));
}
static void larger_parts_last(void) {
  grid(2, 0);
  halo_of(8 * part(500, extent[1], extent[1] - 1 - place[1]), 8 * part(500, extent[0], extent[0] - 1 - place[0]));
}
static void rounded_up(void) {
  grid(2, 0);
  halo_of(8 * ((500 + extent[1] - 1) / extent[1]), 8 * ((500 + extent[0] - 1) / extent[0]));
}

static void sizes_of_ranks(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Bcast(in, 8 * ranks, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, ranks + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void sizes_of_levels(void) {
  int levels = 0;
  while ((1 << levels) < ranks) ++levels;
  for (int turn = 0; turn < kTurns; ++turn) MPI_Bcast(in, 16 * levels + 8, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void alternating_sizes(void) {
  for (int turn = 0; turn < 2 * kTurns; ++turn) MPI_Bcast(in, turn % 2 ? 16 : 2048, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void growing_sizes(void) {
  for (int turn = 1; turn <= 2 * kTurns; ++turn) MPI_Bcast(in, 24 * turn, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void nested_loops(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int inner = 0; inner < 3; ++inner) MPI_Bcast(in, 48, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void now_and_then(void) {
  for (int turn = 0; turn < 4 * kTurns; ++turn) {
    MPI_Bcast(in, 48, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (turn % 4 == 3) MPI_Gather(in, 100, MPI_CHAR, out, 100, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}

static void turns_of_ranks(void) {
  for (int turn = 0; turn < 2 * ranks; ++turn) MPI_Barrier(MPI_COMM_WORLD);
}

static void turns_of_levels(void) {
  for (int step = 1; step < ranks; step *= 2) MPI_Bcast(in, 48, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static const struct kind kinds[] = {
    {"reductions", reductions},
    {"gathers", gathers},
    {"roots", roots},
    {"rotating-roots", rotating_roots},
    {"alltoall", alltoall},
    {"blocks", blocks},
    {"scans", scans},
    {"nonblocking", nonblocking},
    {"neighborhoods", neighborhoods},
    {"one-color", one_color},
    {"halves", halves},
    {"parities", parities},
    {"fours", fours},
    {"reversed", reversed},
    {"some", some},
    {"duplicated", duplicated},
    {"rows", rows},
    {"columns", columns},
    {"planes", planes},
    {"first-half", first_half},
    {"even-parts", even_parts},
    {"uneven-parts", uneven_parts},
    {"parts-with-borders", parts_with_borders},
    {"points-of-parts", points_of_parts},
    {"larger-parts-last", larger_parts_last},
    {"rounded-up", rounded_up},
    {"sizes-of-ranks", sizes_of_ranks},
    {"sizes-of-levels", sizes_of_levels},
    {"alternating-sizes", alternating_sizes},
    {"growing-sizes", growing_sizes},
    {"nested-loops", nested_loops},
    {"now-and-then", now_and_then},
    {"turns-of-ranks", turns_of_ranks},
    {"turns-of-levels", turns_of_levels},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kinds, sizeof kinds / sizeof *kinds); }
