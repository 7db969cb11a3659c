// Every topology has enough virtual channels, and no more than it needs.
#include "channel_circles.hpp"

namespace manynode::network::testing {
namespace {

std::string torus(const std::string& shape, const std::string& links, const std::string& routing) {
  return R"({"kind":"torus","hosts_per_switch":2,"shape":)" + shape + R"(,"links_per_direction":)" + links +
         R"(,"routing":")" + routing + "\"}";
}

std::string dragonfly(const std::string& routing, const std::string& cables = "1") {
  return R"({"kind":"dragonfly","groups":5,"routers_per_group":4,"hosts_per_router":1,"global_links":1,"local_links":)" +
         cables + R"(,"routing":")" + routing + "\"}";
}

TEST(VirtualChannels, ToriHaveNoCircles) {
  for (const char* routing : {"dimension-order", "dimension-order-plus"}) {
    for (const char* shape : {"[8]", "[5]", "[4,4,2]", "[5,4]", "[2,2,2]", "[3,1,4]", "[6,3]"}) {
      for (const char* links : {"1", "2"}) {
        EXPECT_FALSE(can_deadlock(torus(shape, links, routing))) << shape << " " << links << " " << routing;
      }
    }
    EXPECT_TRUE(can_deadlock_on_one_channel(torus("[8]", "1", routing)));
    EXPECT_TRUE(can_deadlock_on_one_channel(torus("[4,4,2]", "1", routing)));
  }
}

TEST(VirtualChannels, MeshesHaveNoCircles) {
  const std::string torus =
      R"({"kind":"torus","hosts_per_switch":2,"links_per_direction":1,"links_by_dimension":[1,2,1],"shape":[4,3,2])";
  for (const char* mesh : {"[0]", "[1,2]", "[0,1,2]"}) {
    EXPECT_FALSE(can_deadlock(torus + R"(,"mesh":)" + mesh + "}")) << mesh;
  }
  EXPECT_FALSE(can_deadlock_on_one_channel(torus + R"(,"mesh":[0,1,2]})"));
}

TEST(VirtualChannels, DragonfliesHaveNoCircles) {
  for (const char* routing : {"minimal", "minimal-by-source", "valiant", "ugal"}) {
    EXPECT_FALSE(can_deadlock(dragonfly(routing))) << routing;
    EXPECT_FALSE(can_deadlock(dragonfly(routing, "2"))) << routing;
    EXPECT_TRUE(can_deadlock_on_one_channel(dragonfly(routing))) << routing;
  }
}

TEST(VirtualChannels, FatTreesNeedOne) {
  const std::string tree = R"({"kind":"fat-tree","children":[4,3,2],"parents":[1,2,2],"parallel_links":[1,2,1])";
  EXPECT_FALSE(can_deadlock(tree + "}"));
  EXPECT_FALSE(can_deadlock(tree + R"(,"routing":"adaptive"})"));
  EXPECT_FALSE(can_deadlock_on_one_channel(tree + "}"));
}

}  // namespace
}  // namespace manynode::network::testing
