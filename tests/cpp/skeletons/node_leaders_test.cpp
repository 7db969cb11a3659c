// Collectives in two levels: which messages leave a node, and where nobody knows the nodes.
#include <gtest/gtest.h>

#include <string>

#include "chosen.hpp"
#include "manynode/error_report.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

TEST(NodeLeaders, TwoLevelsCrossNodesOnlyBetweenLeaders) {
  for (const std::string collective : {"bcast", "reduce", "allreduce", "barrier"}) {
    const auto programs = lowered(
        14, chosen(collective, "node_leader"),
        [&](Mpi& mpi) {
          if (collective == "bcast") mpi.bcast(8, 5);
          if (collective == "reduce") mpi.reduce(8, 5);
          if (collective == "allreduce") mpi.allreduce(8);
          if (collective == "barrier") mpi.barrier();
        },
        {}, 4);
    int crossings = 0;
    for (int rank = 0; rank < 14; ++rank) {
      for (const Primitive& primitive : programs[static_cast<std::size_t>(rank)]) {
        if (primitive.kind != PrimitiveKind::Isend || primitive.peer / 4 == rank / 4) continue;
        ++crossings;
        EXPECT_EQ(rank % 4, 0) << collective;
        EXPECT_EQ(primitive.peer % 4, 0) << collective;
      }
    }
    EXPECT_EQ(crossings, collective == "allreduce" || collective == "barrier" ? 8 : 3) << collective << ": four nodes";
  }
}

TEST(NodeLeaders, TwoLevelsNeedToKnowTheNodes) {
  const auto refused = [](int ranks_per_node, const auto& program) {
    try {
      lowered(6, chosen("allreduce", "node_leader"), program, {}, ranks_per_node);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(refused(0, [](Mpi& mpi) { mpi.allreduce(8); }).find("which ranks share a node"), std::string::npos);
  EXPECT_EQ(refused(2, [](Mpi& mpi) { mpi.allreduce(8); }), "accepted");
  const auto cyclic = [](Mpi& mpi) {
    mpi.allreduce(8, mpi.split(kWorld, [](int rank) { return std::pair{0, rank % 2 * 6 + rank}; }));
  };
  EXPECT_NE(refused(2, cyclic).find("not neighbours in a communicator"), std::string::npos);
}

}  // namespace
}  // namespace manynode::test
