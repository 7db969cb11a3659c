// What ranks copy within collectives, counted by hand in the sources of the libraries.
#include <gtest/gtest.h>

#include <functional>

#include "chosen.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

// Of rank `rank`, by the library whose rules are named.
std::uint64_t copied(const char* library, const std::string& collective, const std::string& algorithm, int size,
                     int rank, const std::function<void(Mpi&)>& emit) {
  CollectiveChoice choice = chosen(collective, algorithm);
  choice.rules = library;
  Matcher matcher(lowered(size, choice, emit, {.copies = true}), SendMode::Rendezvous);
  matcher.run();
  return matcher.bytes_copied(rank);
}

TEST(CollectiveCopies, LibrariesCopyWhatTheirSourcesCopy) {
  const auto alltoall = [](Mpi& mpi) { mpi.alltoall(100); };
  // 8 blocks twice for MPICH's rotations and once more to reverse them; 4 of them packed and unpacked in each of 3
  // rounds.
  EXPECT_EQ(copied("mpich", "alltoall", "bruck", 8, 3, alltoall), 3U * 800 + 3 * 2 * 400);
  EXPECT_EQ(copied("openmpi", "alltoall", "bruck", 8, 3, alltoall), 2U * 800 + 3 * 400)
      << "blocks come back from the other buffer";
  EXPECT_EQ(copied("mpich", "alltoall", "pairwise", 8, 3, alltoall), 100U);
  EXPECT_EQ(copied("openmpi", "alltoall", "linear", 8, 3, alltoall), 100U);
  const auto allgather = [](Mpi& mpi) { mpi.allgather(100); };
  EXPECT_EQ(copied("mpich", "allgather", "ring", 8, 3, allgather), 100U);
  EXPECT_EQ(copied("openmpi", "allgather", "neighbor_exchange", 8, 3, allgather), 100U);
  EXPECT_EQ(copied("mpich", "allgather", "bruck", 8, 3, allgather), 900U);
  EXPECT_EQ(copied("openmpi", "allgather", "bruck", 8, 3, allgather), 100U + 500 + 300 + 500);
  EXPECT_EQ(copied("openmpi", "allgather", "bruck", 8, 0, allgather), 100U);
  const auto allreduce = [](Mpi& mpi) { mpi.allreduce(800); };
  for (const char* algorithm : {"recursive_doubling", "reduce_scatter_allgather", "ring"}) {
    EXPECT_EQ(copied("mpich", "allreduce", algorithm, 8, 3, allreduce), 800U) << algorithm;
  }
  // The result moves to the other buffer where this rank is the lower of two partners: once for rank 3, twice for
  // rank 2.
  EXPECT_EQ(copied("openmpi", "allreduce", "recursive_doubling", 8, 3, allreduce), 800U);
  EXPECT_EQ(copied("openmpi", "allreduce", "recursive_doubling", 8, 2, allreduce), 1600U);
  const auto reduce = [](Mpi& mpi) { mpi.reduce(800, 7); };
  EXPECT_EQ(copied("mpich", "reduce", "binomial", 8, 3, reduce), 800U);
  EXPECT_EQ(copied("openmpi", "reduce", "in_order_binomial", 8, 3, reduce), 0U);
  EXPECT_EQ(copied("openmpi", "reduce", "linear", 8, 7, reduce), 800U);
  EXPECT_EQ(copied("openmpi", "reduce", "linear", 8, 6, reduce), 0U);
  const auto scatter = [](Mpi& mpi) { mpi.reduce_scatter(100); };
  EXPECT_EQ(copied("openmpi", "reduce_scatter", "ring", 8, 3, scatter), 900U);
  EXPECT_EQ(copied("mpich", "reduce_scatter", "ring", 8, 3, scatter), 0U);
  EXPECT_EQ(copied("mpich", "reduce_scatter", "recursive_halving", 8, 3, scatter), 900U);
  EXPECT_EQ(copied("mpich", "reduce_scatter", "recursive_halving", 7, 2, scatter), 700U)
      << "its share comes at the end";
  EXPECT_EQ(copied("mpich", "reduce_scatter", "pairwise", 8, 3, scatter), 100U);
  const auto gather = [](Mpi& mpi) { mpi.gather(100, 3); };
  EXPECT_EQ(copied("openmpi", "gather", "binomial", 8, 3, gather), 900U);
  EXPECT_EQ(copied("openmpi", "gather", "binomial", 8, 5, gather), 100U);
  EXPECT_EQ(copied("openmpi", "gather", "binomial", 8, 4, gather), 0U) << "no children";
  EXPECT_EQ(copied("mpich", "gather", "binomial", 8, 4, gather), 100U) << "below 1 KiB";
  EXPECT_EQ(copied("mpich", "gather", "linear", 8, 3, gather), 100U);
  const auto from_root = [](Mpi& mpi) { mpi.scatter(100, 3); };
  EXPECT_EQ(copied("mpich", "scatter", "binomial", 8, 3, from_root), 900U);
  EXPECT_EQ(copied("openmpi", "scatter", "binomial", 8, 5, from_root), 100U);
  EXPECT_EQ(copied("openmpi", "scatter", "binomial", 8, 4, from_root), 0U);
  const auto to_self = [](Mpi& mpi) { mpi.scan(100); };
  EXPECT_EQ(copied("mpich", "scan", "recursive_doubling", 8, 3, to_self), 200U);
  EXPECT_EQ(copied("openmpi", "scan", "linear", 8, 3, to_self), 100U);
}

TEST(CollectiveCopies, ARankAloneCopiesItsShareAndSendsNothing) {
  const auto copied_alone = [](const std::function<void(Mpi&)>& emit) {
    Matcher matcher(lowered(1, {}, emit, {.copies = true}), SendMode::Rendezvous);
    matcher.run();
    EXPECT_EQ(matcher.bytes_sent(0), 0U);
    return matcher.bytes_copied(0);
  };
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.alltoall(100); }), 100U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) {
              const std::vector<std::uint64_t> own{300};
              mpi.alltoallv(own, own);
            }),
            300U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.allgather(100); }), 100U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.allreduce(800); }), 800U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.reduce_scatter(100); }), 100U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.gather(100, 0); }), 100U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.bcast(100, 0); }), 0U);
  EXPECT_EQ(copied_alone([](Mpi& mpi) { mpi.barrier(); }), 0U);
}

}  // namespace
}  // namespace manynode::test
