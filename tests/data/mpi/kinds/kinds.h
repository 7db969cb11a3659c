/* What the programs of small kinds share: each kind is a function, which runs a few iterations of one way to
   communicate. The first argument names it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTurns = 5, kRoom = 1 << 18 };

static int rank, ranks;
static int extent[3], place[3]; /* of the grid of the last call of grid() */
static MPI_Comm cart;
static char in[kRoom], out[kRoom];

struct kind {
  const char* name;
  void (*run)(void);
};

/* The ranks as a grid of so many axes, as MPI arranges them. */
static inline void grid(int axes, int periodic) {
  const int periods[3] = {periodic, periodic, periodic};
  memset(extent, 0, sizeof extent);
  MPI_Dims_create(ranks, axes, extent);
  MPI_Cart_create(MPI_COMM_WORLD, axes, extent, periods, 0, &cart);
  MPI_Cart_coords(cart, rank, axes, place);
}

/* The cells of part `which` of so many parts: the first ones are larger. */
static inline int part(int cells, int parts, int which) { return cells / parts + (which < cells % parts); }

static inline void refuse(int refused, const char* why) {
  if (!refused) return;
  if (rank == 0) fprintf(stderr, "%s\n", why);
  MPI_Finalize();
  exit(1);
}

static inline int run_kind(int argc, char** argv, const struct kind* kinds, int number) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int one = 0; one < number; ++one) {
    if (argc < 2 || strcmp(argv[1], kinds[one].name) != 0) continue;
    kinds[one].run();
    MPI_Finalize();
    return 0;
  }
  refuse(1, "no such kind");
  return 1;
}
