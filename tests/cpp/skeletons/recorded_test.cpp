// The replay of a recorded stream: steps, communicators, and files that cannot be used.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "manynode/named_call.hpp"
#include "manynode/skeleton.hpp"

namespace manynode::test {
namespace {

class Recorded : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  std::unique_ptr<Application> application(const std::string& content, int ranks, const std::string& digest = "abc") {
    std::ofstream(file_) << content;
    return make_application("recorded", Parameters({{"file", file_.string()}, {"digest", digest}}), ranks);
  }

  // What the application of the content says it is not.
  std::string refusal(const std::string& content, int ranks = 1, const std::string& digest = "abc") {
    try {
      application(content, ranks, digest);
    } catch (const UserError& error) {
      return std::string(error.what()) + "; " + error.found + "; " + error.allowed;
    }
    return "accepted";
  }

  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + std::to_string(getpid()) + ".json");
};

std::string stream(const std::string& calls, const std::string& streams, const std::string& communicators = "[]",
                   int ranks = 1) {
  return R"({"schema": "recorded-stream/2", "digest": "abc", "ranks": )" + std::to_string(ranks) +
         R"(, "phases": ["a b"], "communicators": )" + communicators + R"(, "calls": )" + calls + R"(, "streams": )" +
         streams + "}";
}

constexpr const char* kCalls =
    R"([{"call": "MPI_Irecv", "peer": 0, "bytes": 8, "tag": 3}, {"call": "MPI_Waitall", "requests": [1], "phases": [0]},
        {"call": "MPI_Allreduce", "bytes": 16, "communicator": 1}, {"phases": [0]}])";

TEST_F(Recorded, AStepEndsWhereNoRequestIsOpen) {
  // 63 collectives, then a receive: the step goes on to its wait.
  std::string indices;
  for (int i = 0; i < 63; ++i) indices += "2, ";
  const auto app = application(stream(kCalls, "[[" + indices + "0, 2, 1, 2, 3]]", "[[[0]]]"), 1);
  const auto rank = app->make(0, 1);
  Communicators communicators(0, 1);
  Calls calls;
  Mpi first(0, 1, calls, communicators);
  EXPECT_TRUE(rank->step(first));
  ASSERT_EQ(calls.calls.size(), 67u);
  EXPECT_EQ(calls.calls[65].kind, CallKind::Compute);
  EXPECT_EQ(calls.waited_for(calls.calls[66]).front(), 0u);
  calls.clear();
  Mpi second(0, 1, calls, communicators);
  EXPECT_FALSE(rank->step(second));
  ASSERT_EQ(calls.calls.size(), 2u);
  EXPECT_EQ(calls.calls[0].communicator, 1);
  EXPECT_EQ(calls.calls[1].kind, CallKind::Compute);
  EXPECT_EQ(app->phases(), std::vector<std::string>{"a b"});
}

// What three ranks repeat a hundred times; `of_rank` are the numbers of `calls`.
std::string repeated(const std::string& calls, const std::vector<std::vector<int>>& of_rank, const char* groups) {
  nlohmann::json streams;
  for (const std::vector<int>& numbers : of_rank) {
    std::vector<int> all;
    for (int i = 0; i < 100; ++i) all.insert(all.end(), numbers.begin(), numbers.end());
    streams.push_back(all);
  }
  return stream(calls, streams.dump(), groups, 3);
}

struct Program {
  const char* name;
  const char* calls;
  std::vector<std::vector<int>> of_rank;
  const char* communicators;
};

TEST_F(Recorded, AStepIsTheSamePartOfTheRunOnAllRanks) {
  const std::vector<Program> programs = {
      {"messages in a line",
       R"([{"call": "MPI_Sendrecv", "peer": 1, "source": 1, "tag": 0, "receive_tag": 0},
           {"call": "MPI_Sendrecv", "peer": 0, "source": 0, "tag": 0, "receive_tag": 0},
           {"call": "MPI_Sendrecv", "peer": 2, "source": 2, "tag": 0, "receive_tag": 0}])",
       {{0}, {1, 2}, {0}},
       "[]"},
      {"requests in a communicator with the ranks in another order",
       R"([{"call": "MPI_Isend", "peer": 0, "tag": 0, "communicator": 1},
           {"call": "MPI_Isend", "peer": 2, "tag": 0, "communicator": 1},
           {"call": "MPI_Waitall", "requests": [2, 1]}, {"call": "MPI_Recv", "peer": 1, "tag": 0, "communicator": 1}])",
       {{3}, {0, 1, 2}, {3}},
       "[[[2, 1, 0]]]"},
      {"collectives, one in two of a rank alone",
       R"([{"call": "MPI_Barrier"}, {"call": "MPI_Barrier", "communicator": 1}])",
       {{0}, {0, 1}, {0}},
       "[[[1]]]"},
      {"one-sided epochs",
       R"([{"call": "MPI_Win_start", "group": [1]}, {"call": "MPI_Win_complete", "group": [1]},
           {"call": "MPI_Win_post", "group": [0, 2]}, {"call": "MPI_Win_wait", "group": [0, 2]},
           {"call": "MPI_Put", "peer": 1, "bytes": 8}])",
       {{0, 4, 4, 4, 1}, {2, 3}, {0, 1}},
       "[]"}};
  for (const Program& program : programs) {
    SCOPED_TRACE(program.name);
    const auto app = application(repeated(program.calls, program.of_rank, program.communicators), 3);
    const std::uint64_t steps = app->steps().value();
    EXPECT_GT(steps, 1u);
    std::vector<std::unique_ptr<Skeleton>> ranks;
    std::vector<Communicators> communicators;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(app->make(rank, 3));
      communicators.emplace_back(rank, 3);
    }
    std::vector<double> repetitions(3, 0);
    for (std::uint64_t step = 1; step <= steps; ++step) {
      for (std::size_t rank = 0; rank < 3; ++rank) {
        Calls calls;
        Mpi mpi(static_cast<int>(rank), 3, calls, communicators[rank]);
        EXPECT_EQ(ranks[rank]->step(mpi), step < steps);
        repetitions[rank] +=
            static_cast<double>(calls.calls.size()) / static_cast<double>(program.of_rank[rank].size());
      }
      const auto [least, most] = std::minmax_element(repetitions.begin(), repetitions.end());
      EXPECT_LE(*most - *least, 1.0) << "step " << step;
    }
    EXPECT_EQ(repetitions, std::vector<double>(3, 100.0));
  }
}

TEST_F(Recorded, NumbersOfCommunicatorsCountOnRanksOutside) {
  const auto app = application(stream("[]", "[[], [], []]", "[[[2, 0]], [[0, 1]]]", 3), 3);
  const std::vector<std::vector<int>> sizes = {{2, 2}, {1, 2}, {2, 1}};
  for (int rank = 0; rank < 3; ++rank) {
    Communicators communicators(rank, 3);
    Calls calls;
    Mpi mpi(rank, 3, calls, communicators);
    EXPECT_FALSE(app->make(rank, 3)->step(mpi));
    ASSERT_EQ(communicators.count(), 3u);
    for (std::uint16_t id = 1; id < 3; ++id) {
      EXPECT_EQ(mpi.size(Communicator{id}), sizes[static_cast<std::size_t>(rank)][id - 1u]);
    }
  }
}

TEST_F(Recorded, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refusal(stream("[]", "[[]]"), 4), "a recording is replayed at its own number of ranks; 4; 1");
  EXPECT_EQ(refusal(stream("[]", "[[]]"), 1, "abd"),
            "a recorded stream is not the one of the experiment; digest abc; abd");
  EXPECT_EQ(refusal(stream(R"([{"call": "MPI_File_open"}])", "[[0]]")),
            "skeletons do not have a call of the recording; MPI_File_open; ");
  EXPECT_EQ(refusal(stream("[]", "[[0]]")), "a recorded stream cannot be used; call 0; recorded-stream/2");
  EXPECT_EQ(refusal(stream(R"([{"phases": [1]}])", "[[0]]")),
            "a recorded stream cannot be used; phase 1; recorded-stream/2");
  EXPECT_EQ(refusal(stream(R"([{"call": "MPI_Barrier", "communicator": 1}])", "[[0]]")),
            "a recorded stream cannot be used; communicator 1; recorded-stream/2");
  EXPECT_EQ(refusal(stream("[]", "[]")), "a recorded stream cannot be used; 0 streams for 1 ranks; recorded-stream/2");
  EXPECT_EQ(refusal(R"({"schema": "recorded-stream/3"})"),
            "a recorded stream cannot be used; \"recorded-stream/3\"; recorded-stream/2");
  EXPECT_NE(refusal("{").find("a recorded stream cannot be used; "), std::string::npos);
  EXPECT_NE(refusal(stream(R"([{"call": 3}])", "[[0]]")).find("a recorded stream cannot be used"), std::string::npos);
}

TEST_F(Recorded, AWaitForARequestThatIsNotOpenIsAnError) {
  const auto app = application(stream(R"([{"call": "MPI_Wait", "requests": [1]}])", "[[0]]"), 1);
  Communicators communicators(0, 1);
  Calls calls;
  Mpi mpi(0, 1, calls, communicators);
  const auto rank = app->make(0, 1);
  EXPECT_THROW(rank->step(mpi), UserError);
}

TEST(NamedCall, EveryKindHasItsNameAndCollectivesHaveTwo) {
  for (std::size_t i = 1; i < kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    EXPECT_EQ(call_form(call_name(kind)), (CallForm{kind, false}));
  }
  EXPECT_EQ(call_form("MPI_Ineighbor_alltoallw"), (CallForm{CallKind::NeighborAlltoallw, true}));
  EXPECT_EQ(call_form("MPI_Ireduce_scatter_block"), (CallForm{CallKind::ReduceScatter, true}));
  EXPECT_EQ(call_form("MPI_Isend"), (CallForm{CallKind::Isend, false}));
  EXPECT_EQ(call_form("MPI_Iwait"), std::nullopt);
  EXPECT_EQ(call_form("compute"), std::nullopt);
}

}  // namespace
}  // namespace manynode::test
