// Jobs that are held back: a static rate to the picosecond, and the control by stalls against a model of its own, chunk
// by chunk.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing::injection_control_test {
namespace {

constexpr std::uint64_t kChunk = 2048;
constexpr double kLineRate = 1e10;
constexpr Picoseconds kRoundTrip = 2 * (kLinkLatency + kSwitchLatency);

RunConfig one_switch(std::int64_t hosts) {
  auto config = small_machine({hosts}, {1}, {1});
  config.network.host.eager_limit_bytes = std::uint64_t{1} << 40;
  return config;
}

// With buffers of one chunk.
RunConfig with_credits(RunConfig config) {
  config.network.flow_control = FlowControl::Credits;
  config.network.input_buffer_bytes = kChunk;
  config.network.output_buffer_bytes = kChunk;
  return config;
}

RunConfig at_share(RunConfig config, double share) {
  config.jobs[0].injection.kind = InjectionKind::Static;
  config.jobs[0].injection.share = share;
  return config;
}

RunConfig controlled(RunConfig config, double window_s, double gain, double sensitivity = 0) {
  config.jobs[0].injection = {InjectionKind::Aimd, 1, window_s, gain, sensitivity, 0.01, 0.05, 0.02};
  return config;
}

// Some messages at a time from rank 0 to rank 1.
Body messages(int count, std::uint64_t bytes) {
  return [=](Mpi& mpi) {
    std::vector<Request> requests;
    for (int i = 0; i < count && mpi.rank() == 0; ++i) requests.push_back(mpi.isend(1, bytes));
    for (int i = 0; i < count && mpi.rank() == 1; ++i) requests.push_back(mpi.irecv(0, bytes));
    mpi.waitall(requests);
  };
}

TEST(InjectionControl, StaticRateIsKeptToThePicosecond) {
  constexpr int kChunks = 8;
  constexpr Picoseconds kTurn = 4 * bytes_time(kChunk);
  for (const auto& network : {one_switch(2), with_credits(one_switch(2))}) {
    const auto result = run(at_share(network, 0.25), one_way(kChunks * kChunk, 1));
    EXPECT_EQ(result.makespan, (kChunks - 1) * kTurn + eager_time(kChunk, 2));
    ASSERT_EQ(result.injection.size(), 2u);  // a NIC for each node of the job
    const InjectionUse& sender = result.injection[0];
    EXPECT_EQ(sender.nic, 0u);
    EXPECT_EQ(sender.bytes, kChunks * kChunk);
    EXPECT_EQ(sender.held_bytes, (kChunks - 1) * kChunk);
    // A chunk is ready when the one before it has left the NIC.
    EXPECT_EQ(sender.held, (kChunks - 1) * (kTurn - bytes_time(kChunk)));
    EXPECT_DOUBLE_EQ(sender.rate_mean_Bps, kLineRate / 4);
    EXPECT_DOUBLE_EQ(sender.rate_least_Bps, kLineRate / 4);
    EXPECT_EQ(result.injection[1].bytes, 0u);
  }
}

TEST(InjectionControl, MessagesAndRanksOfANodeShareItsRate) {
  constexpr Picoseconds kTurn = 2 * bytes_time(kChunk);
  for (const auto& network : {one_switch(2), with_credits(one_switch(2))}) {
    // All sends have been started before the third chunk has its turn (300 ns each, a turn is 409.6 ns).
    const auto result = run(at_share(network, 0.5), messages(2, 4 * kChunk));
    EXPECT_EQ(result.makespan, 7 * kTurn + eager_time(kChunk, 2));
    EXPECT_EQ(result.injection[0].bytes, 8 * kChunk);
    auto ranks = at_share(network, 0.5);
    ranks.jobs[0].ranks_per_node = 2;
    const auto both = run(ranks, [](Mpi& mpi) {
      if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, 4 * kChunk);
      if (mpi.rank() >= 2) mpi.recv(mpi.rank() - 2, 4 * kChunk);
    });
    EXPECT_EQ(both.makespan, 7 * kTurn + eager_time(kChunk, 2));
  }
}

TEST(InjectionControl, AtLineRateChangesNothing) {
  for (const auto& network : {one_switch(3), with_credits(one_switch(3))}) {
    const Body body = [](Mpi& mpi) { mpi.alltoall(20 * kChunk); };
    const auto free = run(network, body);
    const auto held = run(at_share(network, 1), body);
    EXPECT_EQ(held.makespan, free.makespan);
    EXPECT_EQ(held.injection[0].held, 0);
    EXPECT_TRUE(free.injection.empty());
  }
}

TEST(InjectionControl, AnswersOfTheNicAreNotHeldBack) {
  // Rank 1 has eager chunks waiting while it answers the request of rank 0; the data of rank 0 then go at their rate,
  // and rank 0 is done when the acknowledgement is back.
  auto config = at_share(one_switch(2), 0.1);
  config.network.host.eager_limit_bytes = 8 * kChunk;
  const auto result = run(config, [](Mpi& mpi) {
    const std::uint64_t sizes[] = {9 * kChunk, 8 * kChunk};
    const int other = 1 - mpi.rank();
    const Request requests[] = {mpi.isend(other, sizes[mpi.rank()]), mpi.irecv(other, sizes[other])};
    mpi.waitall(requests);
  });
  EXPECT_EQ(result.makespan, acknowledged_time(kChunk, 2) + 8 * 10 * bytes_time(kChunk));
}

TEST(InjectionControl, HoldsBackNoOtherJob) {
  auto config = one_switch(4);
  config.jobs.resize(2, config.jobs[0]);
  for (std::uint32_t job = 0; job < 2; ++job) {
    config.jobs[job].nodes = 2;
    config.jobs[job].hosts = {2 * job, 2 * job + 1};
  }
  config = at_share(config, 0.5);
  const auto result = simulate({loaded(one_way(8 * kChunk, 1)), loaded(one_way(8 * kChunk, 1))}, config, 0);
  EXPECT_EQ(result.jobs[0].makespan, 7 * 2 * bytes_time(kChunk) + eager_time(kChunk, 2));
  EXPECT_EQ(result.jobs[1].makespan, eager_time(8 * kChunk, 2));
  ASSERT_EQ(result.injection.size(), 2u);
  EXPECT_EQ(result.injection[1].job, 0u);
}

TEST(InjectionControl, OrderOfMessagesIsKept) {
  // The receiver takes them in by their tags; an eager message that is held back is not overtaken by a later request.
  auto config = at_share(one_switch(2), 0.1);
  config.network.host.eager_limit_bytes = kChunk;
  const auto result = run(config, [](Mpi& mpi) {
    const std::uint64_t sizes[] = {kChunk, kChunk, 3 * kChunk};
    std::vector<Request> requests;
    for (const auto bytes : sizes) {
      if (mpi.rank() == 0) requests.push_back(mpi.isend(1, bytes));
      if (mpi.rank() == 1) requests.push_back(mpi.irecv(0, bytes));
    }
    mpi.waitall(requests);
  });
  EXPECT_EQ(result.bytes(), 5 * kChunk);
  EXPECT_GT(result.makespan, 4 * 10 * bytes_time(kChunk));
}

// One message through a buffer of one chunk, which lets a chunk start once per round trip: the whole course of the
// control, by equations 14 and 15, from when each chunk had its turn and when it started.
struct Course {
  std::vector<Picoseconds> starts;
  double rate{kLineRate};
  double least{kLineRate};
  double alpha{0};
  double rate_time{0};
};

Course followed(const InjectionConfig& config, int chunks) {
  Course course;
  const auto window = to_picoseconds(config.window_s);
  std::vector<std::pair<Picoseconds, Picoseconds>> stalls;
  const auto stalled_until = [&](Picoseconds time) {
    Picoseconds sum = 0;
    for (const auto& [begin, end] : stalls) sum += std::max<Picoseconds>(0, std::min(end, time) - begin);
    return sum;
  };
  Picoseconds window_end = window;
  Picoseconds next = 0;
  const auto windows_to = [&](Picoseconds now) {
    for (; window_end <= now; window_end += window) {
      course.rate_time += course.rate * to_seconds(window);
      const double share = to_seconds(stalled_until(window_end) - stalled_until(window_end - window)) / config.window_s;
      course.alpha = (1 - config.gain) * course.alpha + config.gain * share;
      course.rate = course.alpha > config.threshold ? course.rate * (1 - course.alpha / (2 + config.sensitivity))
                                                    : course.rate + config.increase * kLineRate;
      course.rate = std::clamp(course.rate, config.least * kLineRate, kLineRate);
      course.least = std::min(course.least, course.rate);
    }
  };
  Picoseconds ready = kOverheadSend + kNicLatency;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const Picoseconds turn = std::max(ready, next);
    windows_to(turn);
    next = course.rate < kLineRate ? turn + std::llrint(static_cast<double>(kChunk) / course.rate * 1e12) : turn;
    const Picoseconds start = chunk == 0 ? turn : std::max(turn, course.starts.back() + kRoundTrip);
    if (start > turn) stalls.emplace_back(turn, start);
    course.starts.push_back(start);
    ready = start + bytes_time(kChunk);
  }
  return course;
}

TEST(InjectionControl, FirstWindowIsAsComputedByHand) {
  // Chunks start every 380 ns from 350 ns on, and the link is stalled for 175.2 ns before each but the first. A window
  // of 1870 ns ends with the fifth start: 4 * 175.2 / 1870 = 0.37476 of it was stalled, alpha is half of that, and the
  // rate falls by half of alpha. The eighth chunk starts before the next window ends.
  const auto result = run(controlled(with_credits(one_switch(2)), 1870e-9, 0.5), one_way(8 * kChunk, 1));
  const double alpha = 0.5 * 4 * 175.2 / 1870;
  EXPECT_NEAR(result.injection[0].rate_least_Bps, kLineRate * (1 - alpha / 2), 1);
  EXPECT_EQ(result.injection[1].rate_least_Bps, kLineRate);  // the receiver was never stalled
  // With sensitivity c, by alpha / (2 + c).
  const auto aware = run(controlled(with_credits(one_switch(2)), 1870e-9, 0.5, 3), one_way(8 * kChunk, 1));
  EXPECT_NEAR(aware.injection[0].rate_least_Bps, kLineRate * (1 - alpha / 5), 1);
}

TEST(InjectionControl, FollowsTheStallsOfItsLinkWindowByWindow) {
  constexpr int kChunks = 400;
  for (const double window_s : {100e-9, 380e-9, 1e-6, 7e-6}) {
    for (const double gain : {0.0625, 0.5, 1.0}) {
      for (const double sensitivity : {0.0, 4.0}) {
        const auto config = controlled(with_credits(one_switch(2)), window_s, gain, sensitivity);
        const auto result = run(config, one_way(kChunks * kChunk, 1));
        const Course course = followed(config.jobs[0].injection, kChunks);
        const Picoseconds last = course.starts.back();
        EXPECT_EQ(result.makespan, last - kOverheadSend - kNicLatency + eager_time(kChunk, 2)) << window_s << gain;
        EXPECT_LT(course.least, kLineRate);
        // After the last start, windows go on to the end of the run.
        EXPECT_GE(result.injection[0].rate_least_Bps, course.least * (1 - 1e-9));
        EXPECT_LE(result.injection[0].rate_least_Bps, course.least * (1 + 1e-9));
        EXPECT_NEAR(to_seconds(result.links[0].busy), to_seconds(kChunks * bytes_time(kChunk)), 1e-12);
      }
    }
  }
}

TEST(InjectionControl, WindowsWithoutTrafficAreSkippedExactly) {
  // A job that starts a thousand windows later does the same later.
  auto config = controlled(with_credits(one_switch(2)), 1e-6, 0.5);
  const auto early = run(config, one_way(100 * kChunk, 1));
  config.jobs[0].start_s = 1e-3;
  const auto late = run(config, one_way(100 * kChunk, 1));
  EXPECT_EQ(late.makespan, early.makespan + 1'000'000'000);
  EXPECT_EQ(late.injection[0].rate_least_Bps, early.injection[0].rate_least_Bps);
  EXPECT_EQ(late.injection[0].held, early.injection[0].held);
  EXPECT_GT(late.injection[0].rate_mean_Bps, early.injection[0].rate_mean_Bps);
}

TEST(InjectionControl, RateNeverFallsBelowTheLeast) {
  // Seven senders into one link are stalled for 6/7 of the time; with a least rate of half of the line they stay so.
  auto config = controlled(with_credits(one_switch(8)), 1e-6, 1);
  config.jobs[0].injection.least = 0.5;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, 200 * kChunk);
    for (int sender = 1; mpi.rank() == 0 && sender < 8; ++sender) mpi.recv(sender, 200 * kChunk);
  });
  for (std::uint32_t nic = 1; nic < 8; ++nic) {
    EXPECT_EQ(result.injection[nic].rate_least_Bps, 0.5 * kLineRate);
    EXPECT_EQ(result.injection[nic].bytes, 200 * kChunk);
  }
}

TEST(InjectionControl, AnIncastThatIsHeldBackStallsLess) {
  const Body body = [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, 2000 * kChunk);
    for (int sender = 1; mpi.rank() == 0 && sender < 5; ++sender) mpi.recv(sender, 2000 * kChunk);
  };
  auto network = one_switch(5);
  network.network.flow_control = FlowControl::Credits;
  network.network.input_buffer_bytes = 8 * kChunk;
  network.network.output_buffer_bytes = 8 * kChunk;
  const auto free = run(network, body);
  const auto held = run(controlled(network, 5e-6, 0.25), body);
  EXPECT_LT(static_cast<double>(held.stalls[1].credit), 0.5 * static_cast<double>(free.stalls[1].credit));
  EXPECT_LT(held.injection[1].rate_mean_Bps, 0.6 * kLineRate);
  // The hot link stays busy most of the time.
  EXPECT_LT(static_cast<double>(held.makespan), 1.5 * static_cast<double>(free.makespan));
}

TEST(InjectionControl, SameRunSameCourse) {
  const auto config = controlled(with_credits(one_switch(5)), 3e-6, 0.3);
  const Body body = [](Mpi& mpi) { mpi.alltoall(50 * kChunk); };
  const auto first = run(config, body);
  const auto second = run(config, body);
  EXPECT_EQ(first.makespan, second.makespan);
  ASSERT_EQ(first.injection.size(), second.injection.size());
  for (std::size_t i = 0; i < first.injection.size(); ++i) {
    EXPECT_EQ(first.injection[i].held, second.injection[i].held);
    EXPECT_EQ(first.injection[i].rate_mean_Bps, second.injection[i].rate_mean_Bps);
  }
}

}  // namespace
}  // namespace manynode::network::testing::injection_control_test
