// Derived skeletons: loops, guards, steps, repeated iterations, drawn sizes.
#include <gtest/gtest.h>

#include <set>

#include "application_stream.hpp"
#include "derived_file.hpp"

namespace manynode::test {
namespace {

// The lines of each step of a rank; a repeated one is "=".
std::vector<std::string> steps_of(const Application& application, int rank, int size, bool may_repeat) {
  std::vector<std::string> steps;
  Communicators communicators(rank, size);
  const auto skeleton = application.make(rank, size);
  for (bool more = true; more;) {
    if (may_repeat && skeleton->repeat()) {
      steps.emplace_back("=");
      continue;
    }
    Calls calls;
    Mpi mpi(rank, size, calls, communicators);
    more = skeleton->step(mpi);
    std::string& step = steps.emplace_back();
    for (const Call& call : calls.calls) {
      step += std::string(step.empty() ? "" : " ") + call_name(call) + ":" + std::to_string(call.bytes);
    }
  }
  return steps;
}

std::vector<std::string> steps_of(const std::string& body, bool may_repeat = false) {
  DerivedContent content;
  content.body = body;
  return steps_of(*derived_application(content, 4), 1, 4, may_repeat);
}

using Steps = std::vector<std::string>;

TEST(DerivedSteps, AStepIsAnIterationOfALoopOfTheBody) {
  const std::string body = R"([
    {"call": "MPI_Barrier"},
    {"repeat": "n", "index": "i", "do": [{"call": "MPI_Allreduce", "bytes": "i"}]},
    {"call": "MPI_Bcast", "bytes": "7", "peer": "0"},
    {"repeat": "2", "do": [{"repeat": "2", "index": "j", "do": [{"call": "MPI_Scan", "bytes": "j"}]}]},
    {"repeat": "n - 3", "do": [{"call": "MPI_Barrier"}]},
    {"call": "MPI_Allgather", "bytes": "9"}])";
  EXPECT_EQ(steps_of(body), (Steps{"MPI_Barrier:0 MPI_Allreduce:0", "MPI_Allreduce:1", "MPI_Allreduce:2",
                                   "MPI_Bcast:7 MPI_Scan:0 MPI_Scan:1", "MPI_Scan:0 MPI_Scan:1 MPI_Allgather:9"}));
  DerivedContent content;
  content.body = body;
  EXPECT_EQ(derived_application(content, 4)->steps(), 5u);
  EXPECT_EQ(derived_application(content, 4, R"({"n": 10})")->steps(), 10u + 2 + 7);
}

TEST(DerivedSteps, AProgramWithoutLoopsIsOneStep) {
  EXPECT_EQ(steps_of(R"([{"call": "MPI_Barrier"}, {"repeat": "0", "do": [{"call": "MPI_Barrier"}]}])"),
            Steps{"MPI_Barrier:0"});
  EXPECT_EQ(steps_of("[]"), Steps{""});
  EXPECT_EQ(derived_application({}, 4)->steps(), 1u);
}

TEST(DerivedSteps, GuardsLeaveOutItemsGroupsAndLoops) {
  EXPECT_EQ(steps_of(R"([
    {"compute": "work", "when": "rank == 0"},
    {"call": "MPI_Barrier", "when": "rank == 1"},
    {"when": "rank // 2", "do": [{"call": "MPI_Allreduce", "bytes": "1 // (rank - 1) + 0"}]
},
    {"when": "rank", "do": [{"call": "MPI_Allreduce", "bytes": "1"}]},
    {"repeat": "1 // (rank - 1) + 0", "when": "rank != 1", "do": [{"call": "MPI_Barrier"}]},
    {"repeat": "3", "index": "i", "do": [{"call": "MPI_Scan", "bytes": "i", "when": "i != 1"}]}])"),
            (Steps{"MPI_Barrier:0 MPI_Allreduce:1 MPI_Scan:0", "", "MPI_Scan:2"}));
}

TEST(DerivedSteps, APhaseWithoutANameIsThatBetweenTwoSites) {
  DerivedContent content;
  content.sites = R"(["a", "b -> c", "d"])";
  content.phases = R"(["work", "a -> b -> c", "b -> c -> a", "b -> c -> d", "d -> a"])";
  content.body = R"([
    {"repeat": "2", "do": [
      {"call": "MPI_Barrier", "site": 0},
      {"call": "MPI_Scan", "bytes": "8", "site": 1},
      {"site": 2, "when": "rank == 1"},
      {"compute": "work", "when": "rank == 2"}]}])";
  const auto application = derived_application(content, 4);
  const auto phases = [&](int rank) { return stream_of(*application, rank, 4).phases; };
  using Phases = std::vector<std::string>;
  EXPECT_EQ(phases(0), (Phases{"a -> b -> c", "b -> c -> a", "a -> b -> c"}));
  EXPECT_EQ(phases(1), (Phases{"a -> b -> c", "b -> c -> d", "d -> a", "a -> b -> c", "b -> c -> d"}));
  EXPECT_EQ(phases(2), (Phases{"a -> b -> c", "work", "a -> b -> c", "work"}));
  // The first iteration follows nothing: only from the third on are iterations like the one before.
  content.body = R"([{"repeat": "5", "do": [{"call": "MPI_Barrier", "site": 0},
                                            {"call": "MPI_Scan", "bytes": "8", "site": 1}]}])";
  const std::string between = "compute:0 MPI_Barrier:0 compute:0 MPI_Scan:8";
  EXPECT_EQ(steps_of(*derived_application(content, 4), 1, 4, true),
            (Steps{"MPI_Barrier:0 compute:0 MPI_Scan:8", between, "=", "=", between}));
}

TEST(DerivedSteps, ALoopWithARequestOpenAtTheEndOfAnIterationOnAnyRankIsInOneStep) {
  DerivedContent content;
  // Ranks beyond the first post the receive of the next iteration.
  content.body = R"([
    {"repeat": "2", "do": [{"call": "MPI_Barrier"}]},
    {"call": "MPI_Irecv", "peer": "rank - 1", "bytes": "8", "request": "r", "when": "rank > 0"},
    {"repeat": "4", "do": [
      {"call": "MPI_Irecv", "peer": "rank - 1", "bytes": "8", "request": "r", "when": "rank > 0"},
      {"call": "MPI_Send", "peer": "rank + 1", "bytes": "8", "when": "rank < P - 1"},
      {"call": "MPI_Wait", "requests": ["r"], "when": "rank > 0"}]},
    {"call": "MPI_Send", "peer": "rank + 1", "bytes": "8", "when": "rank < P - 1"},
    {"call": "MPI_Wait", "requests": ["r"], "when": "rank > 0"},
    {"repeat": "2", "do": [{"call": "MPI_Scan", "bytes": "1"}]}])";
  const auto application = derived_application(content, 4);
  EXPECT_EQ(application->steps(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    const Steps steps = steps_of(*application, rank, 4, false);
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[1], "MPI_Barrier:0");
    EXPECT_TRUE(steps[2].ends_with("MPI_Scan:1"));
    EXPECT_EQ(steps[3], "MPI_Scan:1");
  }
  content.body = R"([
    {"repeat": "4", "index": "i", "do": [
      {"call": "MPI_Wait", "requests": ["r"], "when": "i % 2 == 1"},
      {"call": "MPI_Iallreduce", "bytes": "i", "request": "r", "when": "i % 2 == 0"}]}])";
  EXPECT_EQ(steps_of(content.body), Steps{"MPI_Iallreduce:0 MPI_Wait:0 MPI_Iallreduce:2 MPI_Wait:0"});
  EXPECT_EQ(derived_application(content, 4)->steps(), 1u);
  content.body = R"([{"repeat": "rank", "do": [{"compute": "work"}]}])";
  EXPECT_EQ(derived_application(content, 4)->steps(), std::nullopt);
}

TEST(DerivedSteps, IterationsThatAreAlikeAreRepeated) {
  const std::string exchange = R"([
    {"call": "MPI_Barrier"},
    {"repeat": "6", "index": "i", "do": [{"repeat": "2", "index": "j", "do": [{"call": "MPI_Scan", "bytes": "j"}]}]})";
  const std::string once = "MPI_Scan:0 MPI_Scan:1";
  EXPECT_EQ(steps_of(exchange + "]", true), (Steps{"MPI_Barrier:0 " + once, once, "=", "=", "=", once}));
  // With another loop behind it, the last iteration is a step like the others.
  EXPECT_EQ(steps_of(exchange + R"(, {"repeat": "2", "do": [{"call": "MPI_Allreduce", "bytes": "5"}]}])", true),
            (Steps{"MPI_Barrier:0 " + once, once, "=", "=", "=", "=", "MPI_Allreduce:5", "MPI_Allreduce:5"}));
  EXPECT_EQ(steps_of(R"([{"repeat": "4", "do": [{"compute": "work"}]}])", true),
            (Steps{"compute:0", "=", "=", "compute:0"}));
}

TEST(DerivedSteps, RepeatedIterationsAreThoseThatStepsWouldGive) {
  DerivedContent content;
  content.body = R"([
    {"call": "MPI_Irecv", "peer": "null", "bytes": "8", "request": "r"},
    {"repeat": "4", "do": [{"call": "MPI_Waitall", "requests": ["r"]}, {"compute": "rest"}]},
    {"compute": "work"},
    {"repeat": "rank + 3", "index": "i", "do": [{"call": "MPI_Allreduce", "bytes": "rank"}]},
    {"repeat": "5", "index": "i", "do": [{"call": "MPI_Allreduce", "bytes": "i"}]}])";
  const auto application = derived_application(content, 4);
  for (int rank = 0; rank < 4; ++rank) {
    Steps shorter = steps_of(*application, rank, 4, true);
    EXPECT_GE(std::count(shorter.begin(), shorter.end(), "="), 3 + rank);
    for (std::size_t step = 1; step < shorter.size(); ++step) {
      if (shorter[step] == "=") shorter[step] = shorter[step - 1];
    }
    EXPECT_EQ(shorter, steps_of(*application, rank, 4, false));
  }
}

TEST(DerivedSteps, IterationsThatMayDifferAreNotRepeated) {
  EXPECT_EQ(steps_of(R"([{"repeat": "4", "index": "i", "do": [
                           {"repeat": "1", "do": [{"call": "MPI_Scan", "bytes": "8", "when": "i < 9"}]}]}])",
                     true),
            (Steps{"MPI_Scan:8", "MPI_Scan:8", "MPI_Scan:8", "MPI_Scan:8"}));
  DerivedContent content;
  content.distributions = R"({"border": {"values": [1, 2, 3], "persistence": 0}})";
  content.body = R"([{"repeat": "5", "do": [{"call": "MPI_Send", "peer": "0", "bytes": {"draw": "border"}}]}])";
  const Steps drawn = steps_of(*derived_application(content, 4), 1, 4, true);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), "="), 0);
  // Iterations that share a step are not one iteration.
  EXPECT_EQ(steps_of(R"([{"repeat": "4", "do": [
                           {"call": "MPI_Iscan", "bytes": "8", "request": "r"},
                           {"call": "MPI_Waitall", "requests": ["r"]}]}])",
                     true),
            (Steps{"MPI_Iscan:8 MPI_Waitall:0", "=", "=", "MPI_Iscan:8 MPI_Waitall:0"}));
}

DerivedContent drawing(const std::string& persistence) {
  DerivedContent content;
  content.distributions = R"({"border": {"values": [800, 1200, 1300], "persistence": )" + persistence +
                          R"(}, "other": {"values": [1, 2, 3], "persistence": 0}})";
  content.body = R"([{"repeat": "40", "do": [
    {"call": "MPI_Sendrecv", "peer": "(rank + 1) % P", "bytes": {"draw": "border"},
     "source": "(rank - 1) % P", "receive_bytes": {"draw": "border"}},
    {"call": "MPI_Send", "peer": "null", "bytes": {"draw": "other"}},
    {"call": "MPI_Irecv", "peer": "(rank - 1) % P", "bytes": {"draw": "border"}, "request": "r"},
    {"call": "MPI_Isend", "peer": "(rank + 1) % P", "bytes": {"draw": "border"}, "request": "r"},
    {"call": "MPI_Waitall", "requests": ["r"]}]}])";
  return content;
}

// Sizes of the messages that rank 0 sends to rank 1.
std::vector<std::uint64_t> drawn_sizes(const std::string& persistence, std::int64_t seed) {
  std::vector<std::uint64_t> sizes;
  for (const Call& call : stream_of(*derived_application(drawing(persistence), 4, "{}", seed), 0, 4).calls) {
    if (call.kind == CallKind::Isend || call.kind == CallKind::Sendrecv) sizes.push_back(call.bytes);
  }
  return sizes;
}

TEST(DerivedDraws, BothEndsOfAMessageDrawTheSameSize) {
  // The matcher compares the sizes of each message at its two ends.
  run_to_the_end(*derived_application(drawing("0.5"), 4), 4);
}

TEST(DerivedDraws, SizesAreThoseOfTheDistributionAndDependOnTheSeed) {
  const auto sizes = drawn_sizes("0", 1);
  EXPECT_EQ(std::set<std::uint64_t>(sizes.begin(), sizes.end()), (std::set<std::uint64_t>{800, 1200, 1300}));
  EXPECT_EQ(drawn_sizes("0", 1), sizes);
  EXPECT_NE(drawn_sizes("0", 2), sizes);
}

TEST(DerivedDraws, SizesAreScaledToTheMeanOfTheJob) {
  DerivedContent content = drawing("0");
  content.parameters = R"({"n": 24})";
  content.distributions = R"({"border": {"values": [800, 1200, 1300], "persistence": 0, "mean": "n * 100 // P"},
                              "other": {"values": [0], "persistence": 0, "mean": "0"}})";
  std::set<std::uint64_t> sizes;
  for (const Call& call : stream_of(*derived_application(content, 4), 0, 4).calls) {
    if (call.kind == CallKind::Isend) sizes.insert(call.bytes);
  }
  EXPECT_EQ(sizes, (std::set<std::uint64_t>{436, 655, 709})) << "600 / 1100 of each";
  run_to_the_end(*derived_application(content, 4), 4);
}

TEST(DerivedDraws, ASizePersistsWithItsProbability) {
  const auto changes = [](const std::vector<std::uint64_t>& sizes) {
    int count = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i) count += sizes[i] != sizes[i - 1] ? 1 : 0;
    return count;
  };
  EXPECT_EQ(changes(drawn_sizes("1", 1)), 0);
  // Of 79 pairs, two thirds change without persistence, a fifteenth with 0.9.
  EXPECT_NEAR(changes(drawn_sizes("0", 1)), 53, 15);
  EXPECT_LT(changes(drawn_sizes("0.9", 1)), 15);
}

}  // namespace
}  // namespace manynode::test
