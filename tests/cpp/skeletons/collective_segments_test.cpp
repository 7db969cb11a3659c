// Algorithms that send in segments, along which trees, and what is posted before what.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "chosen.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

bool heard_all(const Known& known) {
  return std::all_of(known.begin(), known.end(), [](auto times) { return times > 0; });
}

// Requests and waits of a rank as letters, in order.
std::string steps_of(const std::vector<Primitive>& program) {
  std::string steps;
  for (const Primitive& primitive : program) {
    switch (primitive.kind) {
      case PrimitiveKind::Irecv:
        steps += 'r';
        break;
      case PrimitiveKind::Isend:
        steps += 's';
        break;
      case PrimitiveKind::Wait:
        steps += 'w';
        break;
      case PrimitiveKind::ReduceLocal:
        steps += '+';
        break;
      default:
        steps += '?';
        break;
    }
  }
  return steps;
}

CollectiveChoice in_segments(const std::string& collective, const std::string& algorithm, std::uint64_t bytes) {
  CollectiveChoice choice = chosen(collective, algorithm);
  choice.segment_bytes = bytes;
  return choice;
}

TEST(CollectiveSegments, SegmentsOfABroadcastFollowEachOtherDownTheTree) {
  const auto programs =
      lowered(3, in_segments("bcast", "pipeline", 8192), [](Mpi& mpi) { mpi.bcast(3 * 8192 - 8, 0); });
  EXPECT_EQ(steps_of(programs[0]), "swswsw");
  EXPECT_EQ(steps_of(programs[1]), "rrwswrwswwsw");  // the next segment is awaited while one is handed on
  EXPECT_EQ(steps_of(programs[2]), "rrwrww");
  EXPECT_EQ(programs[1].rbegin()[1].bytes, 8184U);
}

TEST(CollectiveSegments, SegmentsOfAReductionAreCombinedWhileTheNextComes) {
  const auto programs =
      lowered(3, in_segments("reduce", "pipeline", 8192), [](Mpi& mpi) { mpi.reduce(3 * 8192 - 8, 0); });
  EXPECT_EQ(steps_of(programs[0]), "rrw+rw+w+");
  EXPECT_EQ(steps_of(programs[1]), "rrw+swrw+sww+sw");
  EXPECT_EQ(steps_of(programs[2]), "swswsw");
}

TEST(CollectiveSegments, ASegmentedCollectiveMovesAsMuchAsAWholeOne) {
  for (const auto& [collective, names] : std::map<std::string, std::vector<std::string>>{
           {"bcast", {"binary", "binomial_nearest", "chain", "knomial", "pipeline", "split_binary"}},
           {"reduce", {"binary", "chain", "in_order_binary", "in_order_binomial", "pipeline"}},
           {"allreduce", {"segmented_ring"}},
           {"gather", {"linear_sync"}}}) {
    for (const std::string& name : names) {
      for (const int size : {2, 3, 8, 13}) {
        for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{12288}, std::uint64_t{100'000}}) {
          SCOPED_TRACE(collective + " " + name + " " + std::to_string(size) + " " + std::to_string(bytes));
          const auto emit = [&, kind = collective](Mpi& mpi) {
            if (kind == "bcast") mpi.bcast(bytes, 1);
            if (kind == "reduce") mpi.reduce(bytes, 1);
            if (kind == "allreduce") mpi.allreduce(bytes);
            if (kind == "gather") mpi.gather(bytes, 1);
          };
          Matcher whole(lowered(size, chosen(collective, name), emit), SendMode::Rendezvous);
          Matcher parts(lowered(size, in_segments(collective, name, 1000), emit), SendMode::Rendezvous);
          whole.run();
          parts.run();
          EXPECT_EQ(parts.bytes_combined(), whole.bytes_combined());
          std::uint64_t sent = 0;
          for (int rank = 0; rank < size; ++rank) {
            sent += parts.bytes_sent(rank) - whole.bytes_sent(rank);
            if (collective == "bcast") EXPECT_EQ(parts.known(rank)[1], 1U) << rank;
          }
          EXPECT_EQ(sent, 0U) << "in all";
          if (collective == "reduce" || collective == "gather") EXPECT_TRUE(heard_all(parts.known(1)));
        }
      }
    }
  }
}

TEST(CollectiveSegments, TreesAreThoseOfOpenMpi) {
  // As drawn in coll_base_topo.c: who sends to whom, in this order.
  const auto children = [](const std::string& algorithm, int size, int rank, int root = 0) {
    std::vector<int> peers;
    const auto programs = lowered(size, chosen("bcast", algorithm), [&](Mpi& mpi) { mpi.bcast(8, root); });
    for (const Primitive& primitive : programs[static_cast<std::size_t>(rank)]) {
      if (primitive.kind == PrimitiveKind::Isend) peers.push_back(primitive.peer);
    }
    return peers;
  };
  using Ranks = std::vector<int>;
  EXPECT_EQ(children("binary", 7, 0), (Ranks{1, 2}));
  EXPECT_EQ(children("binary", 7, 1), (Ranks{3, 5}));
  EXPECT_EQ(children("binary", 7, 2), (Ranks{4, 6}));
  EXPECT_EQ(children("binomial_nearest", 8, 0), (Ranks{1, 2, 4}));
  EXPECT_EQ(children("binomial_nearest", 8, 1), (Ranks{3, 5}));
  EXPECT_EQ(children("binomial_nearest", 8, 3), (Ranks{7}));
  EXPECT_EQ(children("binomial_nearest", 8, 7, 6), (Ranks{1, 3}));
  EXPECT_EQ(children("knomial", 10, 0), (Ranks{4, 8, 1, 2, 3}));
  EXPECT_EQ(children("knomial", 10, 4), (Ranks{5, 6, 7}));
  EXPECT_EQ(children("chain", 10, 0), (Ranks{1, 4, 6, 8}));
  EXPECT_EQ(children("chain", 10, 3), (Ranks{}));
  EXPECT_EQ(children("chain", 10, 8), (Ranks{9}));
  const auto parent = [](int size, int rank) {
    const auto programs =
        lowered(size, chosen("reduce", "in_order_binary"), [&](Mpi& mpi) { mpi.reduce(8, size - 1); });
    for (const Primitive& primitive : programs[static_cast<std::size_t>(rank)]) {
      if (primitive.kind == PrimitiveKind::Isend) return static_cast<int>(primitive.peer);
    }
    return -1;
  };
  const Ranks nine = {1, 3, 3, 8, 5, 7, 7, 8, -1};
  for (int rank = 0; rank < 9; ++rank) EXPECT_EQ(parent(9, rank), nine[static_cast<std::size_t>(rank)]) << rank;
  EXPECT_EQ(parent(4, 0), 1);
}

TEST(CollectiveSegments, OpenMpiGathersAndScattersOneShareAfterTheOther) {
  CollectiveChoice openmpi = chosen("gather", "linear");
  openmpi.scatter = "linear";
  openmpi.rules = "openmpi";
  const auto both = [](Mpi& mpi) {
    mpi.gather(8, 0);
    mpi.scatter(8, 0);
  };
  EXPECT_EQ(steps_of(lowered(3, openmpi, both)[0]), "rwrwswsw");
  openmpi.rules = "mpich";
  EXPECT_EQ(steps_of(lowered(3, openmpi, both)[0]), "rrwwssww");
  openmpi.rules = "openmpi";
  openmpi.gather = "linear_sync";
  openmpi.scatter = "linear_nb";
  EXPECT_EQ(steps_of(lowered(3, openmpi, both)[0]), "rswrwrswrwwwssww");
}

}  // namespace
}  // namespace manynode::test
