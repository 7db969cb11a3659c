// Which temporary buffers of collectives are fresh memory at each call: glibc's rule, and the buffers counted by hand
// in the sources of the libraries.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "chosen.hpp"
#include "matcher.hpp"
#include "temporaries.hpp"

namespace manynode::test {
namespace {

using collectives::fresh_bytes;
using collectives::Temporary;

constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kMib = 1024 * kKib;

// Of rank `rank`, by the library whose rules are named.
std::uint64_t fresh(const char* library, const std::string& collective, const std::string& algorithm, int size,
                    int rank, const std::function<void(Mpi&)>& emit) {
  CollectiveChoice choice = chosen(collective, algorithm);
  choice.rules = library;
  Matcher matcher(lowered(size, choice, emit, {.fresh = true}), SendMode::Rendezvous);
  matcher.run();
  return matcher.bytes_fresh(rank);
}

TEST(Temporaries, OneBufferBelow32MibStaysInTheHeap) {
  EXPECT_EQ(fresh_bytes(std::array{Temporary(32 * kMib - 1)}), 0U);
  EXPECT_EQ(fresh_bytes(std::array{Temporary(32 * kMib)}), 32 * kMib);
  EXPECT_EQ(fresh_bytes(std::array{Temporary(64 * kMib, 40 * kMib)}), 40 * kMib);
}

TEST(Temporaries, TwoOfOneSizeAreGivenBackButForThePadOfTheHeap) {
  EXPECT_EQ(fresh_bytes(std::array{Temporary(kMib), Temporary(kMib)}), 2 * kMib - 128 * kKib);
  EXPECT_EQ(fresh_bytes(std::array{Temporary(kMib), Temporary(kMib, 10 * kKib)}), kMib + 10 * kKib - 128 * kKib);
  EXPECT_EQ(fresh_bytes(std::array{Temporary(kMib), Temporary(kMib - 1)}), 0U) << "less than twice the largest";
  EXPECT_EQ(fresh_bytes(std::array{Temporary(kMib), Temporary(512 * kKib), Temporary(512 * kKib)}),
            2 * kMib - 128 * kKib);
}

TEST(Temporaries, SmallBuffersStay) {
  EXPECT_EQ(fresh_bytes(std::array{Temporary(128 * kKib), Temporary(128 * kKib), Temporary(128 * kKib)}), 0U);
  EXPECT_EQ(fresh_bytes(std::array{Temporary(512 * kKib), Temporary(512 * kKib)}), kMib - 128 * kKib);
  EXPECT_EQ(fresh_bytes({}), 0U);
}

TEST(Temporaries, ALargeBufferBesideOthersSaysNothingOfThem) {
  EXPECT_EQ(fresh_bytes(std::array{Temporary(64 * kMib), Temporary(kMib)}), 64 * kMib);
}

TEST(Temporaries, CollectivesHaveTheBuffersOfTheirLibraries) {
  constexpr std::uint64_t kPad = 128 * kKib;
  const auto reduce = [](Mpi& mpi) { mpi.reduce(8 * kMib, 0); };
  // Rank 0 has a buffer for the result; of ranks 4 and 6, the first has children 5 and 6, the second has 7.
  EXPECT_EQ(fresh("openmpi", "reduce", "in_order_binomial", 8, 0, reduce), 16 * kMib - kPad);
  EXPECT_EQ(fresh("openmpi", "reduce", "in_order_binomial", 8, 4, reduce), 16 * kMib - kPad);
  EXPECT_EQ(fresh("openmpi", "reduce", "in_order_binomial", 8, 6, reduce), 8 * kMib - kPad);
  EXPECT_EQ(fresh("openmpi", "reduce", "in_order_binomial", 8, 7, reduce), 0U) << "a leaf";
  EXPECT_EQ(fresh("openmpi", "reduce", "linear", 8, 0, reduce), 0U) << "one buffer";
  EXPECT_EQ(fresh("mpich", "reduce", "binomial", 8, 4, reduce), 16 * kMib - kPad);
  EXPECT_EQ(fresh("mpich", "reduce", "binomial", 8, 0, reduce), 0U);
  EXPECT_EQ(fresh("openmpi", "reduce", "reduce_scatter_gather", 8, 3, reduce), 12 * kMib - kPad);
  EXPECT_EQ(fresh("openmpi", "reduce", "reduce_scatter_gather", 8, 0, reduce), 0U);
  const auto allreduce = [](Mpi& mpi) { mpi.allreduce(64 * kMib); };
  EXPECT_EQ(fresh("openmpi", "allreduce", "recursive_doubling", 8, 3, allreduce), 64 * kMib);
  EXPECT_EQ(fresh("openmpi", "allreduce", "reduce_scatter_allgather", 8, 3, allreduce), 32 * kMib);
  EXPECT_EQ(fresh("openmpi", "allreduce", "ring", 8, 3, allreduce), 16 * kMib - kPad) << "two parts";
  EXPECT_EQ(fresh("mpich", "allreduce", "ring", 8, 3, allreduce), 0U) << "one part";
  const auto scatter = [](Mpi& mpi) { mpi.reduce_scatter(kMib); };
  EXPECT_EQ(fresh("openmpi", "reduce_scatter", "ring", 8, 3, scatter), 0U) << "10 MiB, the largest has 8";
  EXPECT_EQ(fresh("openmpi", "reduce_scatter", "recursive_halving", 8, 3, scatter), 12 * kMib - kPad);
  const auto gather = [](Mpi& mpi) { mpi.gather(16 * kMib, 0); };
  EXPECT_EQ(fresh("openmpi", "gather", "binomial", 8, 0, gather), 0U) << "the caller's buffer";
  EXPECT_EQ(fresh("openmpi", "gather", "binomial", 8, 4, gather), 64 * kMib) << "four shares";
  EXPECT_EQ(fresh("openmpi", "gather", "binomial", 8, 5, gather), 0U);
  EXPECT_EQ(fresh("openmpi", "gather", "linear", 8, 0, gather), 0U);
  const auto from_root = [](Mpi& mpi) { mpi.scatter(16 * kMib, 3); };
  EXPECT_EQ(fresh("openmpi", "scatter", "binomial", 8, 3, from_root), 128 * kMib) << "turned by a root that is not 0";
  EXPECT_EQ(fresh("openmpi", "scatter", "binomial", 8, 5, from_root), 32 * kMib);
}

TEST(Temporaries, AreNotCountedUnlessAskedFor) {
  Matcher matcher(lowered(8, chosen("allreduce", "recursive_doubling"), [](Mpi& mpi) { mpi.allreduce(64 * kMib); }),
                  SendMode::Rendezvous);
  matcher.run();
  EXPECT_EQ(matcher.bytes_fresh(3), 0U);
}

}  // namespace
}  // namespace manynode::test
