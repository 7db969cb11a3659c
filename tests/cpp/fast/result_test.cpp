// What the engine writes: the same bytes every time, and sums that hold.
#include "result_writer.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Result : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("fast_result_" + std::to_string(::getpid()));
    config_.jobs[0].nodes = 16;
    config_.jobs[0].ranks_per_node = 2;
    application_ = make_application("hpcg", Parameters({{"iterations", std::int64_t{3}}}), 32);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name) {
    ResultWriter writer(directory_ / name, {"fast", "1.2.3"}, config_);
    for (const std::uint32_t replica : {0u, 4u}) {
      writer.add(simulate({{application_, std::nullopt}}, config_, replica));
    }
    writer.finish();
    return directory_ / name;
  }

  RunConfig config_{small_machine({4, 4}, {1, 2}, {1, 1})};
  std::shared_ptr<const Application> application_;
  std::filesystem::path directory_;
};

TEST_F(Result, TwoRunsWriteTheSameBytes) {
  config_.counters = CountersConfig{1e-5, false};
  const auto first = write("first");
  const auto second = write("second");
  for (const char* name : {"result.json", "ranks.csv", "links.csv", "link_jobs.csv", "series.csv"}) {
    EXPECT_FALSE(content(first / name).empty());
    EXPECT_EQ(content(first / name), content(second / name)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(first / "result.json.part"));
}

TEST_F(Result, HeadSaysSchemaEngineAndReplicas) {
  const auto file = nlohmann::json::parse(content(write("head") / "result.json"));
  EXPECT_EQ(file["schema"], "network-result/2");
  EXPECT_EQ(file["engine"]["name"], "fast");
  EXPECT_EQ(file["engine"]["version"], "1.2.3");
  ASSERT_EQ(file["replicas"].size(), 2u);
  EXPECT_EQ(file["replicas"][1]["replica"], 4);
  EXPECT_EQ(file["replicas"][0]["makespan_s"], file["replicas"][0]["jobs"][0]["iteration_end_s"].back());
}

TEST_F(Result, OperationsOfARankAddUpToItsFinishingTime) {
  const auto result = simulate({{application_, std::nullopt}}, config_, 0);
  Picoseconds latest = 0;
  for (const auto& rank : result.jobs[0].ranks) {
    Picoseconds sum = 0;
    for (const auto& use : rank) sum += use.time;
    latest = std::max(latest, sum);
  }
  EXPECT_EQ(latest, result.makespan);
}

TEST_F(Result, BytesOnHostLinksAreThoseOfMessagesBetweenNodes) {
  config_.jobs[0].ranks_per_node = 1;
  const auto classes = config_.network.topology->link_classes();
  auto application = make_application("hpcg", Parameters({{"iterations", std::int64_t{2}}}), 16);
  const auto result = simulate({{std::move(application), std::nullopt}}, config_, 0);
  std::uint64_t up = 0;
  std::uint64_t down = 0;
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    const auto link_class = classes[result.links[link].link_class];
    if (link_class == "host-up") up += result.links[link].bytes;
    if (link_class == "host-down") down += result.links[link].bytes;
  }
  EXPECT_EQ(up, result.bytes());
  EXPECT_EQ(down, result.bytes());
}

TEST_F(Result, NumbersAreTheShortestThatReadBack) {
  EXPECT_EQ(shortest(9e-8), "9e-08");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(to_seconds(90'000)), "9e-08");
}

TEST_F(Result, EarlierResultIsGoneWhileANewOneIsMade) {
  const auto path = write("again");
  ResultWriter writer(path, {"fast", "1.2.3"}, config_);
  EXPECT_FALSE(std::filesystem::exists(path / "result.json"));
}

}  // namespace
}  // namespace manynode::network::testing
