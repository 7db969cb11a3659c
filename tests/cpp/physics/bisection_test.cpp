// The low half of the hosts sends to the high half: no machine carries more than its bisection, and the paper's
// machines come near to it when every host sends to many.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing {
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

double bound(const RunConfig& config) {
  const double hosts = config.jobs[0].nodes / 2;
  return std::min(hosts, static_cast<double>(config.network.topology->bisection_links())) * 1e10;
}

TEST(BisectionPhysics, FatTreeReachesItsBisection) {
  const auto config = machine(kPaperFatTree);
  EXPECT_EQ(config.network.topology->bisection_links(), 1152u);
  const double share = rate(config, 64) / bound(config);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.9);
}

TEST(BisectionPhysics, TaperedFatTreeReachesItsSmallerBisection) {
  const auto config =
      machine(R"({"kind":"fat-tree","children":[24,24,4],"parents":[1,12,2],"parallel_links":[1,1,6]})");
  EXPECT_EQ(config.network.topology->bisection_links(), 288u);
  const double share = rate(config, 24) / bound(config);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.9);
}

TEST(BisectionPhysics, TorusStaysBelowItsBisectionAndUsesMostOfIt) {
  const auto config = machine(kPaperTorus);
  EXPECT_EQ(config.network.topology->bisection_links(), 200u);
  const double share = rate(config, 64) / bound(config);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.6);
}

TEST(BisectionPhysics, DragonflyStaysBelowItsBisectionAndUsesMostOfIt) {
  const auto config = machine(paper_dragonfly("minimal"));
  EXPECT_EQ(config.network.topology->bisection_links(), 270u);
  const double share = rate(config, 64) / bound(config);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(share, 0.5);
}

}  // namespace
}  // namespace manynode::network::testing
