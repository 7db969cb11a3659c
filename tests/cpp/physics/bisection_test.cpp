// The low half of the hosts sends to the high half: no machine carries more than its bisection, and the paper's
// machines come near to it when every host sends to many. The bisections (links) are the least cuts of
// tests/cpp/topologies and of tests/workflow/test_machine_links.py.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing::bisection_test {
namespace {

constexpr std::uint64_t kBytes = 8192;

// Bytes per second from the low to the high half while every low host sends one message to `partners` high hosts.
double rate(RunConfig config, int partners) {
  config.network.host.eager_limit_bytes = kBytes;
  const int half = static_cast<int>(config.jobs[0].nodes) / 2;
  const auto result = run(config, [=](Mpi& mpi) {
    std::vector<Request> requests;
    const int rank = mpi.rank();
    for (int i = 0; i < partners; ++i) {
      const int shift = static_cast<int>(static_cast<std::int64_t>(i) * half / partners);
      if (rank < half) requests.push_back(mpi.isend(half + (rank + shift) % half, kBytes, i));
      if (rank >= half) requests.push_back(mpi.irecv((rank - half - shift + half) % half, kBytes, i));
    }
    mpi.waitall(requests);
  });
  return static_cast<double>(half) * partners * static_cast<double>(kBytes) / to_seconds(result.makespan);
}

// Bytes per second over `links` links, or from all low hosts.
double bound(const RunConfig& config, double links) {
  const double hosts = config.jobs[0].nodes / 2;
  return std::min(hosts, links) * 1e10;
}

TEST(BisectionPhysics, FatTreeReachesItsBisection) {
  const auto config = machine(kPaperFatTree);
  const double share = rate(config, 64) / bound(config, 1152);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.9);
}

TEST(BisectionPhysics, TaperedFatTreeReachesItsSmallerBisection) {
  const auto config =
      machine(R"({"kind":"fat-tree","children":[24,24,4],"parents":[1,12,2],"parallel_links":[1,1,6]})");
  const double share = rate(config, 24) / bound(config, 288);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.9);
}

TEST(BisectionPhysics, TorusStaysBelowItsBisectionAndUsesMostOfIt) {
  const auto config = machine(kPaperTorus);
  const double share = rate(config, 64) / bound(config, 200);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.6);
}

TEST(BisectionPhysics, DragonflyStaysBelowItsBisectionAndUsesMostOfIt) {
  const auto config = machine(paper_dragonfly("minimal"));
  const double share = rate(config, 64) / bound(config, 270);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.5);
}

// The links between the halves follow from the shapes; all low hosts send to all high ones.
TEST(BisectionPhysics, RowsGroupsAndHyperXStayBelowTheirBisectionAndUseMostOfIt) {
  const std::map<const char*, double> links{{kMesh, 6}, {kHyperX, 12}, {kPlus, 8}, {kGrid, 8}};
  for (const auto& [topology, cut] : links) {
    const auto config = machine(topology);
    const int half = static_cast<int>(config.jobs[0].nodes) / 2;
    const double share = rate(config, half) / bound(config, cut);
    EXPECT_LE(share, 1.0) << topology;
    EXPECT_GT(share, 0.6) << topology;
  }
}

}  // namespace
}  // namespace manynode::network::testing::bisection_test
