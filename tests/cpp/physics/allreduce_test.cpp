// Allreduce by ring, recursive doubling and Rabenseifner's algorithm: Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", 2005, with the LogGPS terms of this engine. One switch with a host per
// rank, so that all messages of a round travel side by side; p is a power of two and divides the message.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing {
namespace {

constexpr int kRanks = 16;
constexpr int kRounds = 4;  // log2

Picoseconds allreduce(const std::string& algorithm, std::uint64_t bytes) {
  auto config = small_machine({kRanks}, {1}, {1});
  config.collectives.allreduce = algorithm;
  return run_pattern(config, {{"pattern", std::string("collective")},
                              {"collective", std::string("allreduce")},
                              {"bytes", static_cast<std::int64_t>(bytes)},
                              {"iterations", std::int64_t{1}}})
      .makespan;
}

// Both partners send and receive at once; of long messages, each is done when its own is acknowledged.
Picoseconds exchange(std::uint64_t bytes) {
  return bytes <= kEagerLimit ? eager_time(bytes, 2) : acknowledged_time(bytes, 2);
}

Picoseconds combine(std::uint64_t bytes) { return static_cast<Picoseconds>(bytes) * kReducePerByte; }

TEST(AllreducePhysics, RecursiveDoublingMovesTheWholeMessageInEachRound) {
  for (const std::uint64_t bytes : {8ull, 1024ull, 16'384ull, 1ull << 20}) {
    EXPECT_EQ(allreduce("recursive_doubling", bytes), kRounds * (exchange(bytes) + combine(bytes))) << bytes;
  }
}

TEST(AllreducePhysics, RingMovesOnePartInEachOfTwicePLessOneSteps) {
  for (const std::uint64_t bytes : {1024ull, 65'536ull, 4ull << 20}) {
    const std::uint64_t part = bytes / kRanks;
    EXPECT_EQ(allreduce("ring", bytes), (kRanks - 1) * (2 * exchange(part) + combine(part))) << bytes;
  }
}

TEST(AllreducePhysics, RabenseifnerHalvesAndDoubles) {
  for (const std::uint64_t bytes : {1024ull, 65'536ull, 4ull << 20}) {
    Picoseconds expected = 0;
    for (std::uint64_t part = bytes / 2; part >= bytes / kRanks; part /= 2) {
      expected += 2 * exchange(part) + combine(part);
    }
    EXPECT_EQ(allreduce("reduce_scatter_allgather", bytes), expected) << bytes;
  }
}

TEST(AllreducePhysics, LongMessagesFavourRabenseifnerShortOnesRecursiveDoubling) {
  EXPECT_LT(allreduce("recursive_doubling", 8), allreduce("reduce_scatter_allgather", 8));
  EXPECT_LT(allreduce("reduce_scatter_allgather", 4 << 20), allreduce("recursive_doubling", 4 << 20));
}

}  // namespace
}  // namespace manynode::network::testing
