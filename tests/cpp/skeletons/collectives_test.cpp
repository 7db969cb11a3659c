// Every collective algorithm delivers, for 1 to 17, 32 and 33 ranks, several roots and sizes, whether sends wait for
// receives or not.
#include <bit>
#include <functional>
#include <map>
#include <set>

#include "chosen.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

// Less than an element, one, fewer elements than ranks, no multiple of an element, and long.
constexpr std::uint64_t kSizes[] = {1, 8, 24, 12291, 1 << 18};

// Of them, those of the large numbers of ranks, which take most of the time.
constexpr std::uint64_t kFewSizes[] = {24, 1 << 18};
constexpr int kLarge = 32;

// For algorithms in two levels; most numbers of ranks leave a node with fewer.
constexpr int kRanksPerNode = 3;

std::vector<int> rank_counts() {
  std::vector<int> counts(17);
  std::iota(counts.begin(), counts.end(), 1);
  counts.insert(counts.end(), {kLarge, kLarge + 1});
  return counts;
}

struct Case {
  std::string algorithm;
  int size{1};
  int root{0};
  std::uint64_t bytes{0};
};

using Emit = std::function<void(Mpi&, const Case&)>;
using Check = std::function<void(const Matcher&, const Case&)>;

std::vector<std::string> all_algorithms(const std::string& collective) {
  std::vector<std::string> names = collective_algorithms(collective);
  EXPECT_FALSE(names.empty());
  names.emplace_back("auto");
  return names;
}

// Without a root, it makes no difference which rank would be one.
std::set<int> roots(const std::string& collective, int size) {
  const std::set<std::string> rooted{"bcast", "gather", "reduce", "scatter"};
  return rooted.contains(collective) ? std::set{0, size / 2, size - 1} : std::set{0};
}

void for_every_case(const std::string& collective, const std::vector<std::string>& names, const Emit& emit,
                    const Check& check) {
  for (const std::string& name : names) {
    for (const int size : rank_counts()) {
      for (const int root : roots(collective, size)) {
        for (const std::uint64_t bytes : size < kLarge ? std::span<const std::uint64_t>(kSizes) : kFewSizes) {
          SCOPED_TRACE(collective + " " + name + ", " + std::to_string(size) + " ranks, root " + std::to_string(root) +
                       ", " + std::to_string(bytes) + " bytes");
          const Case one{name, size, root, bytes};
          const CollectiveChoice choice = chosen(collective, name);
          const auto programs = lowered(size, choice, [&](Mpi& mpi) { emit(mpi, one); }, {}, kRanksPerNode);
          for (const SendMode mode : {SendMode::Eager, SendMode::Rendezvous}) {
            Matcher matcher(programs, mode);
            matcher.run();
            check(matcher, one);
          }
        }
      }
    }
  }
}

void for_every_case(const std::string& collective, const Emit& emit, const Check& check) {
  for_every_case(collective, all_algorithms(collective), emit, check);
}

bool knows_all(const Known& known) {
  return std::all_of(known.begin(), known.end(), [](int times) { return times > 0; });
}

// Parts of a ring differ in what they contain, and the matcher follows only one set per rank.
bool parts_differ(const std::string& algorithm) { return algorithm == "ring" || algorithm == "segmented_ring"; }

TEST(Collectives, ABarrierHearsFromEverybody) {
  for_every_case(
      "barrier", [](Mpi& mpi, const Case&) { mpi.barrier(); },
      [](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_TRUE(knows_all(matcher.known(rank)));
          EXPECT_EQ(matcher.bytes_sent(rank), 0U);
        }
      });
}

TEST(Collectives, ABroadcastBringsTheRootsDataToEverybody) {
  for_every_case(
      "bcast", [](Mpi& mpi, const Case& one) { mpi.bcast(one.bytes, one.root); },
      [](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_EQ(matcher.known(rank)[static_cast<std::size_t>(one.root)], 1);
          if (rank != one.root) {
            EXPECT_GE(matcher.bytes_received(rank), one.bytes);
          }
        }
      });
}

TEST(Collectives, AReductionCombinesEachContributionOnceAtTheRoot) {
  for_every_case(
      "reduce", [](Mpi& mpi, const Case& one) { mpi.reduce(one.bytes, one.root); },
      [](const Matcher& matcher, const Case& one) {
        // p contributions are p - 1 combinations.
        EXPECT_EQ(matcher.bytes_combined(), static_cast<std::uint64_t>(one.size - 1) * one.bytes);
        EXPECT_EQ(matcher.known(one.root), Known(static_cast<std::size_t>(one.size), 1));
      });
}

TEST(Collectives, AnAllreduceCombinesEachContributionOnceEverywhere) {
  for_every_case(
      "allreduce", [](Mpi& mpi, const Case& one) { mpi.allreduce(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        EXPECT_GE(matcher.bytes_combined(), static_cast<std::uint64_t>(one.size - 1) * one.bytes);
        for (int rank = 0; rank < one.size; ++rank) {
          if (parts_differ(one.algorithm)) {
            EXPECT_TRUE(knows_all(matcher.known(rank)));
          } else {
            EXPECT_EQ(matcher.known(rank), Known(static_cast<std::size_t>(one.size), 1));
          }
        }
      });
}

TEST(Collectives, TheLongAllreducesMoveTwiceTheMessageLessOnePart) {
  for_every_case(
      "allreduce", {"reduce_scatter_allgather", "ring"}, [](Mpi& mpi, const Case& one) { mpi.allreduce(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        const bool power_of_two = (one.size & (one.size - 1)) == 0;
        if (one.algorithm != "ring" && !power_of_two) {
          return;
        }
        std::uint64_t received = 0;
        for (int rank = 0; rank < one.size; ++rank) {
          received += matcher.bytes_received(rank);
        }
        EXPECT_EQ(received, 2 * static_cast<std::uint64_t>(one.size - 1) * one.bytes);
      });
}

TEST(Collectives, AGatherBringsEveryShareToTheRoot) {
  for_every_case(
      "gather", [](Mpi& mpi, const Case& one) { mpi.gather(one.bytes, one.root); },
      [](const Matcher& matcher, const Case& one) {
        EXPECT_TRUE(knows_all(matcher.known(one.root)));
        EXPECT_EQ(matcher.bytes_received(one.root), static_cast<std::uint64_t>(one.size - 1) * one.bytes);
        for (int rank = 0; rank < one.size; ++rank) {
          if (rank != one.root) {
            EXPECT_EQ(matcher.bytes_sent(rank), matcher.bytes_received(rank) + one.bytes);
          }
        }
      });
}

TEST(Collectives, AScatterLeavesOneShareWithEachRank) {
  for_every_case(
      "scatter", [](Mpi& mpi, const Case& one) { mpi.scatter(one.bytes, one.root); },
      [](const Matcher& matcher, const Case& one) {
        EXPECT_EQ(matcher.bytes_sent(one.root), static_cast<std::uint64_t>(one.size - 1) * one.bytes);
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_EQ(matcher.known(rank)[static_cast<std::size_t>(one.root)], 1);
          if (rank != one.root) {
            EXPECT_EQ(matcher.bytes_received(rank), matcher.bytes_sent(rank) + one.bytes);
          }
        }
      });
}

TEST(Collectives, AnAllgatherBringsEveryShareToEverybody) {
  for_every_case(
      "allgather", [](Mpi& mpi, const Case& one) { mpi.allgather(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_TRUE(knows_all(matcher.known(rank)));
          const std::uint64_t others = static_cast<std::uint64_t>(one.size - 1) * one.bytes;
          if (one.algorithm == "linear") {
            EXPECT_GE(matcher.bytes_received(rank), others) << "the broadcast brings the own share back";
          } else {
            EXPECT_EQ(matcher.bytes_received(rank), others);
          }
        }
      });
}

TEST(Collectives, AnAlltoallBringsSomethingFromEverybodyToEverybody) {
  for_every_case(
      "alltoall", [](Mpi& mpi, const Case& one) { mpi.alltoall(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_TRUE(knows_all(matcher.known(rank)));
          EXPECT_GE(matcher.bytes_received(rank), static_cast<std::uint64_t>(one.size - 1) * one.bytes);
        }
      });
}

TEST(Collectives, BrucksAlltoallSendsABlockOncePerBitOfItsDistance) {
  for_every_case(
      "alltoall", {"bruck"}, [](Mpi& mpi, const Case& one) { mpi.alltoall(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        std::uint64_t blocks = 0;
        for (int distance = 1; distance < one.size; ++distance) {
          blocks += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(distance)));
        }
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_EQ(matcher.bytes_sent(rank), blocks * one.bytes);
        }
      });
}

TEST(Collectives, AReduceScatterCombinesEachContributionToEachShareOnce) {
  for_every_case(
      "reduce_scatter", [](Mpi& mpi, const Case& one) { mpi.reduce_scatter(one.bytes); },
      [](const Matcher& matcher, const Case& one) {
        const auto others = static_cast<std::uint64_t>(one.size - 1);
        // p shares with p contributions each are p (p - 1) combinations.
        const bool power_of_two = (one.size & (one.size - 1)) == 0;
        if (one.algorithm != "recursive_doubling") {
          EXPECT_EQ(matcher.bytes_combined(), others * static_cast<std::uint64_t>(one.size) * one.bytes);
        } else if (power_of_two) {
          // In each round, all shares but those of the partner's group.
          std::uint64_t combined = 0;
          for (int group = 1; group < one.size; group *= 2) combined += static_cast<std::uint64_t>(one.size - group);
          EXPECT_EQ(matcher.bytes_combined(), combined * static_cast<std::uint64_t>(one.size) * one.bytes);
        } else {
          EXPECT_GT(matcher.bytes_combined(), others * static_cast<std::uint64_t>(one.size) * one.bytes);
        }
        for (int rank = 0; rank < one.size; ++rank) {
          if (one.algorithm == "ring" || one.algorithm == "pairwise") {
            // The matcher follows one set per rank, and here each share has its own.
            EXPECT_TRUE(knows_all(matcher.known(rank)));
            EXPECT_EQ(matcher.bytes_sent(rank), others * one.bytes);
          } else if (one.algorithm == "recursive_doubling" && !power_of_two) {
            // What a rank hands on is not yet combined with its own, which the matcher does not tell apart.
            EXPECT_TRUE(knows_all(matcher.known(rank)));
          } else if (one.algorithm != "auto") {
            EXPECT_EQ(matcher.known(rank), Known(static_cast<std::size_t>(one.size), 1));
          }
          EXPECT_GE(matcher.bytes_received(rank), one.size > 1 ? one.bytes : 0);
        }
      });
}

TEST(Collectives, BroadcastsThatHandOnWholeMessagesMoveOnePerRank) {
  for_every_case(
      "bcast", {"binary", "binomial", "binomial_nearest", "chain", "knomial", "linear", "pipeline", "pipelined_tree"},
      [](Mpi& mpi, const Case& one) { mpi.bcast(one.bytes, one.root); },
      [](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          EXPECT_EQ(matcher.bytes_received(rank), rank == one.root ? 0 : one.bytes);
        }
      });
}

TEST(Collectives, APipelinedBroadcastSendsSegmentsWhileTheNextOneComes) {
  const auto programs = lowered(4, chosen("bcast", "pipelined_tree"), [](Mpi& mpi) { mpi.bcast(3 * 8192 - 8, 0); });
  std::string steps;
  for (const Primitive& primitive : programs[1]) {
    steps += primitive.kind == PrimitiveKind::Irecv ? 'r' : primitive.kind == PrimitiveKind::Isend ? 's' : 'w';
  }
  EXPECT_EQ(steps, "rwrswwrswwsw");  // rank 1 has one child, rank 3
  EXPECT_EQ(programs[1].back().kind, PrimitiveKind::Wait);
  EXPECT_EQ(programs[0].size(), 12U);  // three segments to each of two children, and their waits
}

TEST(Collectives, AnAlltoallvMovesTheStatedBytesAndNoEmptyMessages) {
  // Every third pair has nothing to say.
  const auto pair_bytes = [](int from, int to) { return static_cast<std::uint64_t>((from + 2 * to) % 3 * 100); };
  for_every_case(
      "alltoall",
      [&](Mpi& mpi, const Case& one) {
        std::vector<std::uint64_t> sent;
        std::vector<std::uint64_t> received;
        for (int other = 0; other < one.size; ++other) {
          sent.push_back(pair_bytes(mpi.rank(), other));
          received.push_back(pair_bytes(other, mpi.rank()));
        }
        mpi.alltoallv(sent, received);
      },
      [&](const Matcher& matcher, const Case& one) {
        for (int rank = 0; rank < one.size; ++rank) {
          std::uint64_t expected = 0;
          for (int other = 0; other < one.size; ++other) {
            expected += other == rank ? 0 : pair_bytes(other, rank);
          }
          EXPECT_EQ(matcher.bytes_received(rank), expected);
        }
      });
}

TEST(Collectives, NothingToMoveMeansNoMessages) {
  const auto programs = lowered(5, {}, [](Mpi& mpi) {
    mpi.bcast(0, 0);
    mpi.reduce(0, 1);
    mpi.allreduce(0);
    mpi.gather(0, 2);
    mpi.scatter(0, 3);
    mpi.allgather(0);
    mpi.alltoall(0);
    mpi.reduce_scatter(0);
    mpi.alltoallv(std::vector<std::uint64_t>(5), std::vector<std::uint64_t>(5));
  });
  for (const auto& program : programs) {
    EXPECT_TRUE(program.empty());
  }
}

}  // namespace
}  // namespace manynode::test
