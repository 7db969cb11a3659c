/* Operations, datatypes, communicators and topologies. */
#include "bridge_calls.h"

static void operations(void) {
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    int in[2] = {rank + 1, rank % 2}, out[2];
    MPI_Allreduce(in, out, 2, MPI_INT, ops[i], MPI_COMM_WORLD);
    say_ints("operation", out, 2);
  }
  struct {
    double value;
    int index;
  } pair = {fabs(rank - 1.5), rank}, least[2];
  MPI_Allreduce(&pair, &least[0], 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  MPI_Allreduce(&pair, &least[1], 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  say("locations", "%g %d %g %d", least[0].value, least[0].index, least[1].value, least[1].index);
  int from[2] = {10 - rank, rank}, to[2];
  MPI_Allreduce(from, to, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  say_ints("locations", to, 2);
#define TYPE(type, mpi)                                          \
  {                                                              \
    type mine = (type)(rank + 1), sum;                           \
    MPI_Allreduce(&mine, &sum, 1, mpi, MPI_SUM, MPI_COMM_WORLD); \
    say(#mpi, "%g", (double)sum);                                \
  }
  TYPE(signed char, MPI_SIGNED_CHAR)
  TYPE(unsigned char, MPI_UNSIGNED_CHAR)
  TYPE(short, MPI_SHORT)
  TYPE(unsigned short, MPI_UNSIGNED_SHORT)
  TYPE(int, MPI_INT)
  TYPE(unsigned, MPI_UNSIGNED)
  TYPE(long, MPI_LONG)
  TYPE(unsigned long, MPI_UNSIGNED_LONG)
  TYPE(long long, MPI_LONG_LONG)
  TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG)
  TYPE(float, MPI_FLOAT)
  TYPE(double, MPI_DOUBLE)
  TYPE(long double, MPI_LONG_DOUBLE)
  TYPE(int8_t, MPI_INT8_T)
  TYPE(int16_t, MPI_INT16_T)
  TYPE(int32_t, MPI_INT32_T)
  TYPE(int64_t, MPI_INT64_T)
  TYPE(uint8_t, MPI_UINT8_T)
  TYPE(uint16_t, MPI_UINT16_T)
  TYPE(uint32_t, MPI_UINT32_T)
  TYPE(uint64_t, MPI_UINT64_T)
  TYPE(MPI_Aint, MPI_AINT)
  TYPE(MPI_Offset, MPI_OFFSET)
  TYPE(MPI_Count, MPI_COUNT)
}

static void datatypes(void) {
  MPI_Datatype row, column, columns, narrow;
  MPI_Aint lb, extent;
  int bytes, count;
  MPI_Status status;
  double a[36], b[36];
  MPI_Type_contiguous(6, MPI_DOUBLE, &row);
  MPI_Type_vector(6, 1, 6, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &narrow);
  MPI_Type_create_hvector(3, 2, 12 * sizeof(double), MPI_DOUBLE, &columns);
  MPI_Datatype* const types[] = {&row, &column, &narrow, &columns};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    MPI_Type_commit(types[i]);
    MPI_Type_size(*types[i], &bytes);
    MPI_Type_get_extent(*types[i], &lb, &extent);
    say("datatype", "size %d lb %ld extent %ld", bytes, (long)lb, (long)extent);
    for (int k = 0; k < 36; k++) a[k] = value(rank, k), b[k] = -k;
    MPI_Sendrecv(a, 1, *types[i], right, 1, b, 1, *types[i], left, 1, MPI_COMM_WORLD, &status);
    say_doubles("to the same datatype", b, 36);
    MPI_Get_count(&status, *types[i], &count);
    MPI_Get_elements(&status, *types[i], &bytes);
    say("MPI_Get_count", "%d %d", count, bytes);
    for (int k = 0; k < 36; k++) b[k] = -k;
    MPI_Sendrecv(a, 1, *types[i], right, 1, b, 36, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &status);
    say_doubles("to a basic datatype", b, 36);
  }
  /* a matrix transposed by its datatypes, and columns in collectives */
  for (int k = 0; k < 36; k++) a[k] = value(rank, k), b[k] = -k;
  MPI_Sendrecv(a, 36, MPI_DOUBLE, right, 2, b, 6, narrow, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say_doubles("transposed", b, 36);
  for (int k = 0; k < 36; k++) b[k] = -k;
  if (size <= 6) MPI_Allgather(a, 6, MPI_DOUBLE, b, 1, narrow, MPI_COMM_WORLD);
  say_doubles("columns gathered", b, 36);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) MPI_Type_free(types[i]);
  say("MPI_Type_free", "%d", column == MPI_DATATYPE_NULL);
}

static void communicators(void) {
  MPI_Comm dup, half, none, created, cart, line;
  MPI_Group all, some, rest;
  int result, me, members, ranks[16], out[16], flag;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_CONGRUENT);
  MPI_Comm_compare(dup, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_IDENT);
  MPI_Comm_compare(MPI_COMM_SELF, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_UNEQUAL);
  MPI_Comm_split(dup, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &members);
  say("MPI_Comm_split", "%d of %d", me, members);
  collectives(half, 0);
  MPI_Comm_split(dup, 0, -rank, &created);
  MPI_Comm_compare(dup, created, &result);
  say("MPI_Comm_compare", "%d", result == MPI_SIMILAR);
  MPI_Comm_free(&created);
  MPI_Comm_split(dup, rank == 0 ? MPI_UNDEFINED : 0, 0, &none);
  say("MPI_Comm_split", "%d", none == MPI_COMM_NULL);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Comm_free(&half);
  say("MPI_Comm_free", "%d", half == MPI_COMM_NULL);
  MPI_Comm_test_inter(dup, &flag);
  say("MPI_Comm_test_inter", "%d", flag);

  MPI_Comm_group(dup, &all);
  ranks[0] = size - 1, ranks[1] = 0;
  MPI_Group_incl(all, 2, ranks, &some);
  MPI_Group_excl(all, 1, ranks, &rest);
  MPI_Group_size(some, &members);
  MPI_Group_rank(some, &me);
  say("MPI_Group_incl", "%d %d", members, me == MPI_UNDEFINED ? -1 : me);
  MPI_Group_size(rest, &members);
  MPI_Group_rank(rest, &me);
  say("MPI_Group_excl", "%d %d", members, me == MPI_UNDEFINED ? -1 : me);
  for (int i = 0; i < 2; i++) ranks[i] = i;
  MPI_Group_translate_ranks(some, 2, ranks, all, out);
  say_ints("MPI_Group_translate_ranks", out, 2);
  MPI_Comm_create(dup, some, &created);
  say("MPI_Comm_create", "%d", created == MPI_COMM_NULL);
  if (created != MPI_COMM_NULL) {
    collectives(created, 1);
    MPI_Comm_free(&created);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  MPI_Group_free(&rest);
  MPI_Comm_free(&dup);

  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], more[2], source, dest;
  MPI_Dims_create(size, 2, dims);
  say_ints("MPI_Dims_create", dims, 2);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Cartdim_get(cart, &members);
  MPI_Topo_test(cart, &result);
  say("MPI_Topo_test", "%d %d", members, result == MPI_CART);
  MPI_Topo_test(MPI_COMM_WORLD, &result);
  say("MPI_Topo_test", "%d", result == MPI_UNDEFINED);
  MPI_Cart_get(cart, 2, more, out, coords);
  say_ints("MPI_Cart_get", more, 2);
  say("MPI_Cart_get", "%d %d", !!out[0], !!out[1]);
  say_ints("MPI_Cart_get", coords, 2);
  for (int i = 0; i < size; i++) {
    MPI_Cart_coords(cart, i, 2, coords);
    MPI_Cart_rank(cart, coords, &me);
    say("MPI_Cart_coords", "%d %d %d", coords[0], coords[1], me);
  }
  coords[0] = -1, coords[1] = 0;
  MPI_Cart_rank(cart, coords, &me);
  say("MPI_Cart_rank", "%d", me);
  for (int direction = 0; direction < 2; direction++)
    for (int disp = -2; disp <= 2; disp++) {
      MPI_Cart_shift(cart, direction, disp, &source, &dest);
      say("MPI_Cart_shift", "%d %d", plain(source), plain(dest));
    }
  MPI_Cart_shift(cart, 1, 1, &source, &dest);
  double a = value(rank, 0), b = -1;
  MPI_Sendrecv(&a, 1, MPI_DOUBLE, dest, 1, &b, 1, MPI_DOUBLE, source, 1, cart, MPI_STATUS_IGNORE);
  say_doubles("over the border", &b, 1);
  for (int keep = 0; keep < 2; keep++) {
    const int remain[2] = {keep == 0, keep == 1};
    MPI_Cart_sub(cart, remain, &line);
    MPI_Comm_rank(line, &me);
    MPI_Comm_size(line, &members);
    MPI_Cart_get(line, 1, more, out, coords);
    say("MPI_Cart_sub", "%d of %d, %d long, at %d", me, members, more[0], coords[0]);
    MPI_Comm_free(&line);
  }
  MPI_Comm_free(&cart);
}

int main(int argc, char** argv) {
  if (!begin(argc, argv)) return 1;
  operations();
  datatypes();
  communicators();
  return end(argv[1]);
}
