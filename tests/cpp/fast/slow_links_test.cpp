// Cables that are slower than their class: messages over them take longer by what the cable lacks, all others do not.
#include "slow_links.hpp"

#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "small_machine.hpp"

namespace manynode::network::testing::slow_links_test {
namespace {

constexpr std::uint64_t kBytes = 16'384;

// The small machine with `cables` at half of the bandwidth.
RunConfig with_half(const std::vector<SlowCable>& cables, RunConfig config = small_machine()) {
  const auto names = config.network.topology->link_classes();
  config.network.topology = with_slow_cables(config.network.topology, cables, "network.slow_links");
  for (const auto& name : names) {
    for (std::size_t cable = 0; cable < cables.size(); ++cable) {
      config.network.link_classes[slow_class(name, cable)] = {5e9, 90e-9};
    }
  }
  return config;
}

Body message(int from, int to) {
  return [=](Mpi& mpi) {
    if (mpi.rank() == from) mpi.send(to, kBytes);
    if (mpi.rank() == to) mpi.recv(from, kBytes);
  };
}

TEST(SlowLinks, BothDirectionsOfTheCableTakeTwiceAsLong) {
  for (const SlowCable& cable : {SlowCable{"host-0", "leaf-0"}, SlowCable{"leaf-0", "host-0"}}) {
    const auto config = with_half({cable});
    EXPECT_EQ(run(config, message(0, 2)).makespan, eager_time(kBytes, 4) + bytes_time(kBytes));
    EXPECT_EQ(run(config, message(2, 0)).makespan, eager_time(kBytes, 4) + bytes_time(kBytes));
    EXPECT_EQ(run(config, message(1, 2)).makespan, eager_time(kBytes, 4));
  }
}

TEST(SlowLinks, HaveAClassOfTheirOwn) {
  const auto config = with_half({{"host-0", "leaf-0"}});
  const auto result = run(config, message(0, 2));
  const auto names = config.network.topology->link_classes();
  std::uint64_t slow = 0;
  for (const auto& use : result.links) {
    if (names[use.link_class] == "host-up-slow0") slow += use.bytes;
  }
  EXPECT_EQ(slow, kBytes);
}

TEST(SlowLinks, APairThatIsNamedAgainMeansTheNextParallelCable) {
  auto machine = [] { return small_machine({2, 2}, {1, 1}, {1, 2}); };
  const auto slow_links = [](const RunConfig& config) {
    int count = 0;
    const Topology& topology = *config.network.topology;
    for (LinkId link = 0; link < topology.links(); ++link) {
      count += topology.link_classes()[topology.link_class(link)].find("slow") != std::string::npos;
    }
    return count;
  };
  const SlowCable up{"leaf-0", "level2-0"};
  EXPECT_EQ(slow_links(with_half({up}, machine())), 2);
  EXPECT_EQ(slow_links(with_half({up, up}, machine())), 4);
  EXPECT_THROW(with_half({up, up, up}, machine()), UserError);
  EXPECT_THROW(with_half({{"host-0", "leaf-1"}}), UserError);
}

}  // namespace
}  // namespace manynode::network::testing::slow_links_test
