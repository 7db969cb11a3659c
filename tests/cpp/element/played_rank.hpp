// A rank's program played without SST: what it asks for is written down, and each event but a test takes a microsecond.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event_sink.hpp"
#include "rank_program.hpp"
#include "small_machine.hpp"
#include "world.hpp"

namespace manynode::sst_element::testing {

using network::testing::Body;
using network::testing::BodyApplication;

inline constexpr network::Picoseconds kMicrosecond = 1'000'000;

// Events as text: "isend 3 80000000 64" is rank, tag in hexadecimal, bytes.
class Written final : public EventSink {
 public:
  void compute(std::uint32_t phase) override { add("compute", {phase}); }
  void delay(std::uint64_t nanoseconds) override { add("delay", {nanoseconds}); }
  void send(std::uint32_t to, std::uint32_t tag, std::uint32_t bytes) override { message("send", to, tag, bytes); }
  void recv(std::uint32_t from, std::uint32_t tag, std::uint32_t bytes) override { message("recv", from, tag, bytes); }
  void isend(std::uint32_t to, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) override {
    start(request);
    message("isend", to, tag, bytes);
  }
  void irecv(std::uint32_t from, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) override {
    start(request);
    message("irecv", from, tag, bytes);
  }
  void wait(RequestHandle* request) override { waitall(request, 1); }
  void test(RequestHandle* request, int* flag) override {
    tested.push_back(*request);
    *flag = copies_are_done ? 1 : 0;
    add("test", {});
  }
  void waitall(RequestHandle* requests, std::uint32_t count) override {
    for (std::uint32_t i = 0; i < count; ++i) waited.push_back(requests[i]);
    if (count == 1) {
      add("wait", {});
    } else {
      add("waitall", {count});
    }
  }
  // Completes the last of them, which are in waiting order; a test may choose another.
  void waitany(RequestHandle* requests, std::uint32_t count, int* index) override {
    *index = static_cast<int>(count) - 1;
    if (request_comes_from >= 0) *index = 0;
    waited.push_back(requests[*index]);
    add("waitany", {count});
  }
  std::uint32_t received_from() const override {
    return static_cast<std::uint32_t>(std::exchange(request_comes_from, -1));
  }
  void make_group(std::vector<int> ranks, std::uint32_t* group) override {
    *group = ++groups;
    add("group", {ranks.begin(), ranks.end()});
  }
  // Group, root, bytes.
  void collective(CallKind kind, std::uint32_t group, int root, std::uint32_t bytes) override {
    add(call_name(kind), {group, static_cast<std::uint64_t>(root), bytes});
  }
  // Group, first counts.
  void alltoallv(std::uint32_t group, int* sent, int* received) override {
    add("MPI_Alltoallv", {group, static_cast<std::uint64_t>(sent[0]), static_cast<std::uint64_t>(sent[1]),
                          static_cast<std::uint64_t>(received[2])});
  }

  std::vector<std::string> events;     // since the last look
  std::vector<RequestHandle> started;  // handles, in the order of starting
  std::vector<RequestHandle> waited;   // in the order of waiting
  std::vector<RequestHandle> tested;   // in the order of testing
  bool copies_are_done{true};          // what tests find
  std::uint32_t groups{0};
  mutable int request_comes_from{-1};  // the next waitany completes the receive of a request from this rank

 private:
  void add(std::string_view what, const std::vector<std::uint64_t>& numbers) {
    std::string& text = events.emplace_back(what);
    for (const std::uint64_t number : numbers) {
      text += ' ';
      text += std::to_string(number);
    }
  }
  // As firefly does, but at once: a handle of its own for each message.
  void start(RequestHandle* request) {
    *request = reinterpret_cast<RequestHandle>(++last_handle_ * 16);
    started.push_back(*request);
  }
  void message(const char* what, std::uint32_t rank, std::uint32_t tag, std::uint32_t bytes) {
    char text[80];
    std::snprintf(text, sizeof text, "%s %d %08x %u", what, static_cast<int>(rank), tag, bytes);
    events.emplace_back(text);
  }

  std::uintptr_t last_handle_{0};
};

// A world without files, whose jobs all run `program`.
inline std::unique_ptr<World> world_of(network::RunConfig config, network::Program program,
                                       bool own_collectives = false) {
  std::vector<network::Program> programs(config.jobs.size(), program);
  return std::make_unique<World>(Settings{"", "", own_collectives, 1}, std::move(config), std::move(programs));
}

// Plays a rank to its end, or for `most` rounds.
struct PlayedRank {
  PlayedRank(World& world, int rank, std::size_t job = 0) : program(world.add(job, rank)) { program.begin(0); }

  // One call of advance(); then its events happen. False when the rank has finished.
  bool round() {
    sink.events.clear();
    if (!program.advance(now, sink)) return false;
    for (const std::string& event : sink.events) {
      if (event.starts_with("compute")) {
        now +=
            static_cast<network::Picoseconds>(program.draw(static_cast<std::uint32_t>(std::stoul(event.substr(8))))) *
            1000;
      } else if (event != "test") {
        now += kMicrosecond;
      }
    }
    rounds.push_back(sink.events);
    return true;
  }
  void play(int most = 1'000'000) {
    while (most-- > 0 && round()) continue;
  }
  const network::OperationUse& use(CallKind kind) const { return program.uses()[static_cast<std::size_t>(kind)]; }

  RankProgram& program;
  Written sink;
  network::Picoseconds now{0};
  std::vector<std::vector<std::string>> rounds;  // events asked for together
};

// Of a job with so many ranks, one on each node.
inline network::RunConfig ranks_on(std::uint32_t nodes) {
  network::RunConfig config = network::testing::small_machine();
  config.jobs[0].nodes = nodes;
  return config;
}

}  // namespace manynode::sst_element::testing
