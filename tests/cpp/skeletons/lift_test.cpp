// Recorded runs lifted to larger jobs: whatever is drawn, the job matches itself, ends, and has grown as stated.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

#include "application_stream.hpp"
#include "derived_file.hpp"
#include "recorded/lift.hpp"
#include "recorded/skeleton.hpp"

namespace manynode::test {
namespace {

using recorded::Growth;
using recorded::Lift;
using recorded::LiftRules;
using recorded::Recorded;
using recorded::RecordedCall;

// A run in the making: each event is appended on all ranks that it has, so that the run ends.
class Job {
 public:
  explicit Job(int ranks) {
    stream.ranks = ranks;
    stream.of_rank.resize(static_cast<std::size_t>(ranks));
    made_.resize(static_cast<std::size_t>(ranks));
  }

  void add(int rank, const char* name, RecordedCall call) {
    call.form = call_form(name);
    if (recorded::makes_request(*call.form)) ++made_[static_cast<std::size_t>(rank)];
    stream.of_rank[static_cast<std::size_t>(rank)].push_back(static_cast<std::uint32_t>(stream.calls.size()));
    stream.calls.push_back(std::move(call));
  }

  void message(int from, int to, std::uint64_t bytes, int tag) {
    add(from, "MPI_Send", {.peer = to, .tag = tag, .bytes = bytes});
    add(to, "MPI_Recv", {.peer = from, .tag = tag, .bytes = bytes});
  }

  // Both ends go on; each waits for all of its requests in `wait_all`.
  void nonblocking_message(int from, int to, std::uint64_t bytes, int tag) {
    add(to, "MPI_Irecv", {.peer = from, .tag = tag, .bytes = bytes});
    add(from, "MPI_Isend", {.peer = to, .tag = tag, .bytes = bytes});
  }

  void wait_all(bool one_by_one) {
    for (int rank = 0; rank < stream.ranks; ++rank) {
      std::uint32_t& made = made_[static_cast<std::size_t>(rank)];
      std::vector<std::uint32_t> open;
      for (; made > 0; --made) open.push_back(made);
      if (open.empty()) continue;
      if (!one_by_one) {
        add(rank, "MPI_Waitall", {.requests = open});
      } else {
        for (const std::uint32_t back : open) add(rank, "MPI_Wait", {.requests = {back}});
      }
    }
  }

  void everywhere(const char* name, const RecordedCall& call) {
    for (int rank = 0; rank < stream.ranks; ++rank) add(rank, name, call);
  }

  recorded::Stream stream;

 private:
  std::vector<std::uint32_t> made_;
};

LiftRules growing(double messages, double bytes, int from, int to) {
  // A mean that is 1 in the run and so much in the larger job.
  const auto growth = [&](double factor) {
    const double scale = (factor - 1) / (to - from);
    return Growth{"ranks", 1, 1 - scale * (from - 1), scale};
  };
  return {.hubs = {},
          .reach = 1,
          .messages = growth(messages),
          .peak = growth(1),
          .bytes = growth(bytes),
          .collectives = {},
          .exponents = {}};
}

struct Sent {
  double messages{0};
  double bytes{0};
  std::vector<std::set<int>> peers;
};

Sent sent(const Application& application, int ranks) {
  Sent found;
  found.peers.resize(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (const Call& call : stream_of(application, rank, ranks).calls) {
      const bool sends = call.kind == CallKind::Send || call.kind == CallKind::Isend || call.kind == CallKind::Sendrecv;
      if (!sends || call.peer < 0) continue;
      ++found.messages;
      found.bytes += static_cast<double>(call.bytes);
      found.peers[static_cast<std::size_t>(rank)].insert(call.peer);
    }
  }
  return found;
}

TEST(Lift, GrowsAsGridsDo) {
  EXPECT_DOUBLE_EQ((Growth{"faces", 3, 0, 1}.at(64)), 4.5);
  EXPECT_DOUBLE_EQ((Growth{"boxes", 3, 0, 1}.at(64)), 14.625);
  EXPECT_DOUBLE_EQ((Growth{"faces", 2, 1, 10}.at(16)), 31);
  EXPECT_DOUBLE_EQ((Growth{"divided-faces", 1, 0, 1}.at(4)), 1.5);
  EXPECT_DOUBLE_EQ((Growth{"divided-torus", 3, 0, 1}.at(8)), 1.5);
  EXPECT_DOUBLE_EQ((Growth{"level-boxes", 3, 0, 1}.at(8)), 28);
  EXPECT_DOUBLE_EQ((Growth{"divided-torus", 2, 0, 1}.at(2)), 2);
  // Parts of 1/2 and 1/2: with halos of an eighth on one side each, 5/8 x 5/8 - 1/4; on both sides, 3/4 x 3/4 - 1/4.
  EXPECT_DOUBLE_EQ((Growth{"divided-faces", 2, 0, 0.125, 0.125}.at(4)), 0.140625);
  EXPECT_DOUBLE_EQ((Growth{"divided-torus", 2, 0, 0.125, 0.125}.at(4)), 0.3125);
  EXPECT_DOUBLE_EQ((Growth{"torus", 3, 0, 1}.at(4)), 4);
  EXPECT_DOUBLE_EQ((Growth{"most-faces", 3, 0, 1}.at(32)), 5);
  EXPECT_DOUBLE_EQ((Growth{"most-boxes", 3, 0, 1}.at(32)), 17);
  EXPECT_DOUBLE_EQ((Growth{"most-level-boxes", 2, 0, 1}.at(16)), 40);
  EXPECT_DOUBLE_EQ((Growth{"levels", 1, 2, 3}.at(8)), 11);
  EXPECT_DOUBLE_EQ((Growth{"side", 1, 1, 2}.at(36)), 13);
  EXPECT_DOUBLE_EQ((Growth{"ranks", 1, 0, 2}.at(8)), 14);
  EXPECT_DOUBLE_EQ((Growth{"share", 1, 0, 8}.at(4)), 2);
  EXPECT_DOUBLE_EQ((Growth{"constant", 1, 0, 8}.at(4)), 8);
  EXPECT_DOUBLE_EQ((Growth{"ranks", 1, 0, 2}.between(3, 9)), 4);
  EXPECT_THROW((Growth{"ranks", 1, 0, 2}.between(1, 4)), UserError);  // nothing, at one rank
  EXPECT_THROW((Growth{"cubes", 1, 0, 1}.at(4)), UserError);
}

// Messages in a random graph, blocking ones and others, exchanges around the ring, collectives of all ranks, of halves
// and of pairs, roots, blocks, neighbours.
Job random_run(std::mt19937& random, int ranks) {
  Job run(ranks);
  const auto number = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  std::vector<std::vector<int>> pairs;
  for (int rank = 0; rank < ranks; rank += 2) pairs.push_back({rank, rank + 1});
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.rbegin(), all.rend(), 0);
  run.stream.communicators = {pairs, {all}};
  for (int event = 0; event < 60; ++event) {
    const int from = number(ranks);
    const int to = (from + 1 + number(ranks - 1)) % ranks;
    const auto bytes = static_cast<std::uint64_t>(number(10'000));
    switch (number(9)) {
      case 0:
        run.message(from, to, bytes, number(3));
        break;
      case 1:
      case 2:
        for (int i = 0; i < 5; ++i) run.nonblocking_message(from, (to + i) % ranks, bytes, number(3));
        run.wait_all(number(2) == 1);
        break;
      case 3:
        for (int rank = 0; rank < ranks; ++rank) {
          const int right = (rank + 1) % ranks;
          const int left = (rank + ranks - 1) % ranks;
          run.add(rank, "MPI_Sendrecv",
                  {.peer = right, .source = left, .tag = 0, .receive_tag = 0, .bytes = bytes, .receive_bytes = bytes});
        }
        break;
      case 4:
        run.everywhere("MPI_Allreduce", {.communicator = static_cast<std::uint16_t>(number(3)), .bytes = bytes});
        break;
      case 5:
        run.everywhere("MPI_Bcast",
                       {.communicator = static_cast<std::uint16_t>(2 * number(2)), .peer = from, .bytes = bytes});
        break;
      case 6:
        for (int rank = 0; rank < ranks; ++rank) {
          RecordedCall call{.peer = 0, .bytes = static_cast<std::uint64_t>(rank)};
          for (int other = 0; rank == 0 && other < ranks; ++other)
            call.received.push_back(static_cast<std::uint64_t>(other));
          run.add(rank, "MPI_Gatherv", call);
        }
        break;
      case 7:
        for (int rank = 0; rank < ranks; ++rank) {
          RecordedCall call;
          for (int other = 0; other < ranks; ++other) {
            call.sent.push_back(bytes + static_cast<std::uint64_t>(7 * rank + 3 * other));
            call.received.push_back(bytes + static_cast<std::uint64_t>(7 * other + 3 * rank));
          }
          run.add(rank, "MPI_Alltoallv", call);
        }
        break;
      default:
        for (int rank = 0; rank < ranks; ++rank) {
          const std::vector<int> sides = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
          run.add(rank, "MPI_Neighbor_alltoall", {.bytes = bytes, .sources = sides, .destinations = sides});
        }
    }
  }
  return run;
}

TEST(Lift, AnyRunLiftedByAnyRulesMatchesItselfAndEnds) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const int ranks = 4 + 2 * static_cast<int>(random() % 3);
    const int copies = 1 + static_cast<int>(random() % 6);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + std::to_string(copies) + " copies of " +
                 std::to_string(ranks));
    LiftRules rules = growing(0.5 + static_cast<double>(random() % 400) / 100, 2, ranks, ranks * copies + 1);
    rules.reach = static_cast<int>(random() % 4);
    rules.collectives[CallKind::Alltoallv] = {"ranks", 1, 1, 0.1};
    rules.exponents = {static_cast<double>(random() % 3) / 2, 1};
    if (random() % 2 == 0) rules.hubs.push_back(static_cast<int>(random() % static_cast<unsigned>(ranks)));
    run_to_the_end(Recorded(random_run(random, ranks).stream, rules, ranks * copies), ranks * copies);
  }
}

TEST(Lift, MessagesAndBytesGrowAsStated) {
  Job run(8);
  for (int rank = 0; rank < 8; ++rank) {
    for (const int apart : {1, 2, 4}) run.nonblocking_message(rank, (rank + apart) % 8, 1000, apart);
  }
  run.wait_all(false);
  const Sent one = sent(Recorded(run.stream), 8);
  for (const double growth : {1.0, 1.5, 2.0, 3.25}) {
    const Sent larger = sent(Recorded(run.stream, growing(growth, 2.5, 8, 64), 64), 64);
    EXPECT_NEAR(larger.messages / one.messages / 8, growth, 0.1) << growth;
    EXPECT_NEAR(larger.bytes / one.bytes / 8, 2.5, 0.01) << growth;
  }
}

TEST(Lift, FarMessagesGoFartherAndNearOnesStay) {
  Job run(8);
  for (int rank = 0; rank < 4; ++rank) run.nonblocking_message(rank, rank + 4, 8, 0);
  for (int rank = 0; rank < 8; rank += 2) run.nonblocking_message(rank, rank + 1, 8, 0);
  run.wait_all(false);
  const Sent larger = sent(Recorded(run.stream, growing(1, 1, 8, 32), 32), 32);
  EXPECT_EQ(larger.peers[0], (std::set<int>{1, 20}));  // half of the run's copies away
  EXPECT_EQ(larger.peers[17], (std::set<int>{5}));     // around the end
}

TEST(Lift, AHubHasMessagesFromAllCopies) {
  Job run(4);
  for (int rank = 1; rank < 4; ++rank) run.message(rank, 0, 100, 0);
  LiftRules rules = growing(1, 1, 4, 16);
  rules.hubs = {0};
  const Recorded application(run.stream, rules, 16);
  run_to_the_end(application, 16);
  EXPECT_EQ(stream_of(application, 0, 16).calls.size(), 12u);
  EXPECT_TRUE(stream_of(application, 4, 16).calls.empty());
  EXPECT_EQ(stream_of(application, 5, 16).calls.at(0).peer, 0);
}

TEST(Lift, CommunicatorsGrowByTheirExponents) {
  Job run(4);
  run.stream.communicators = {{{0, 1}, {2, 3}}};
  for (const auto& [exponent, size] : {std::pair(0.0, 2u), {0.5, 4u}, {1.0, 8u}}) {
    LiftRules rules = growing(1, 1, 4, 16);
    rules.exponents = {exponent};
    EXPECT_EQ(Lift(run.stream, rules, 16).groups_of(9).at(0).size(), size);
  }
}

TEST(Lift, AnApproximateSkeletonTakesTheLargestRunThatDividesTheJob) {
  const auto stream = [](int ranks) {
    return R"({"schema": "recorded-stream/2", "digest": "d)" + std::to_string(ranks) + R"(", "ranks": )" +
           std::to_string(ranks) +
           R"(, "phases": [], "communicators": [], "calls": [{"call": "MPI_Barrier"}], "streams": [)" +
           (ranks == 2 ? "[0], [0]" : "[0, 0, 0], [0, 0, 0], [0, 0, 0]") + "]}";
  };
  const auto run = [](int ranks) {
    const std::string growth =
        R"({"family": "constant", "dimensions": 1, "width": 0.0, "constant": 0.0, "scale": 1.0})";
    return R"({"ranks": )" + std::to_string(ranks) + R"(, "file": "lift-test-)" + std::to_string(ranks) +
           R"(.json", "digest": "d)" + std::to_string(ranks) + R"(", "hubs": [], "reach": 1, "messages": )" + growth +
           R"(, "peak": )" + growth + R"(, "bytes": )" + growth + R"(, "collectives": {}, "exponents": []})";
  };
  for (const int ranks : {2, 3}) {
    std::ofstream(std::filesystem::temp_directory_path() / ("lift-test-" + std::to_string(ranks) + ".json"))
        << stream(ranks);
  }
  const auto content = [&](const std::string& only) {
    DerivedContent made;
    made.further = R"(, "approximate": {"phases": [], "runs": [)" + run(2) + ", " + run(3) + "]" + only + "}";
    return made.text();
  };
  const DerivedFile file(content(""));
  const auto application = [&](int ranks) { return make_application("derived", file.parameters(), ranks); };
  const auto calls = [&](int ranks) { return stream_of(*application(ranks), ranks - 1, ranks).calls.size(); };
  EXPECT_EQ(calls(4), 1u);
  EXPECT_EQ(calls(9), 3u);
  EXPECT_EQ(calls(12), 3u);
  EXPECT_THROW(application(5), UserError);
  // The body is for all other jobs.
  const DerivedFile some(content(R"(, "only": [4])"));
  const auto of_some = [&](int ranks) {
    return stream_of(*make_application("derived", some.parameters(), ranks), 0, ranks).calls.size();
  };
  EXPECT_EQ(of_some(4), 1u);
  EXPECT_EQ(of_some(5), 0u);
  EXPECT_THROW(make_application("derived", some.parameters(R"({"nx": 17})"), 4), UserError);
}

}  // namespace
}  // namespace manynode::test
