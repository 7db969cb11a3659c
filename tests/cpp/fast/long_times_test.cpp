// Times and sizes that do not fit: each ends the run with an error that names the key, none comes out as a fast run.
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "small_machine.hpp"

namespace manynode::network::testing::long_times_test {
namespace {

// The error of a run as one text, the key in front.
std::string refusal(const RunConfig& config, Body body, int steps = 1) {
  try {
    run(config, std::move(body), steps);
  } catch (const UserError& error) {
    return error.where + ": " + error.what() + ": " + error.found;
  } catch (const SimulationError& error) {
    std::string text = error.what();
    for (const auto& line : error.details) text += "\n" + line;
    return text;
  }
  return "no error";
}

::testing::AssertionResult names(const std::string& text, const std::string& words) {
  if (text.find(words) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << words << "\" is not in: " << text;
}

Body allreduce(std::uint64_t bytes) {
  return [=](Mpi& mpi) { mpi.allreduce(bytes); };
}

Body ring(std::uint64_t bytes) {
  return [=](Mpi& mpi) {
    mpi.sendrecv((mpi.rank() + 1) % mpi.size(), bytes, 0, (mpi.rank() + mpi.size() - 1) % mpi.size(), bytes, 0);
  };
}

TEST(LongTimes, AReductionThatTakesTooLongNamesItsBandwidth) {
  auto config = small_machine();
  config.network.host.reduce_bandwidth_Bps = 1e-5;
  EXPECT_TRUE(names(refusal(config, allreduce(800)), "network.host.reduce_bandwidth: "));
  EXPECT_TRUE(names(refusal(config, allreduce(800)), "1e-05 B/s"));
}

TEST(LongTimes, OtherWorkOfACollectiveThatTakesTooLongNamesItsKey) {
  auto copies = small_machine();
  copies.collectives.allgather = "bruck";
  copies.network.host.copy_bandwidth_Bps = BandwidthBySize({{0, 1e9}, {800, 1e-5}});
  const Body allgather = [](Mpi& mpi) { mpi.allgather(800); };
  EXPECT_TRUE(names(refusal(copies, allgather), "network.host.copy_bandwidth: "));
  EXPECT_TRUE(names(refusal(copies, allgather), "1e-05 B/s"));
  auto fresh = small_machine();
  fresh.collectives.allreduce = "recursive_doubling";
  fresh.network.host.fresh_bandwidth_Bps = BandwidthBySize({{0, 1e9}, {32 << 20, 1e-5}});
  EXPECT_TRUE(names(refusal(fresh, allreduce(32 << 20)), "network.host.fresh_bandwidth: "));
  const auto hundred = [](Mpi& mpi) {
    for (int i = 0; i < 100; ++i) mpi.allreduce(8);
  };
  auto call = small_machine();
  call.network.host.collective_call_s = 1e5;
  EXPECT_TRUE(names(refusal(call, hundred), "network.host.collective_call: "));
  auto step = small_machine();
  step.network.host.collective_step_s = 1e5;
  EXPECT_TRUE(names(refusal(step, hundred), "network.host.collective_step: "));
}

TEST(LongTimes, AMessageThatTakesTooLongNamesTheLink) {
  auto config = small_machine();
  config.network.link.bandwidth_Bps = 1e-4;
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.link.bandwidth: "));
  EXPECT_TRUE(names(refusal(config, one_way(1'000'000, 2)), "network.link.bandwidth: "));
  config.network.link_classes["host-up"] = {1e-5, 0};
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.link_classes.host-up.bandwidth: "));
}

TEST(LongTimes, AMessageThatTakesTooLongNamesTheNic) {
  auto config = small_machine();
  config.network.host.nic_bandwidth_Bps = 1e-3;
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.host.nic_bandwidth: "));
}

TEST(LongTimes, AMessageThatTakesTooLongWithinANodeNamesTheCopy) {
  auto config = small_machine();
  config.jobs[0].nodes = 1;
  config.jobs[0].ranks_per_node = 2;
  config.network.intranode.bandwidth_Bps = 1e-3;
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.intranode.bandwidth: "));
}

TEST(LongTimes, OverheadsThatTakeTooLongAreNamed) {
  auto config = small_machine();
  config.network.host.overhead_send = {{0, 0, 9e4}};
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.host.overhead_send: "));
  config = small_machine();
  config.network.host.overhead_recv = {{0, 0, 9e4}};
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.host.overhead_recv: "));
  config.network.host.receive = Receive::OnArrival;
  EXPECT_TRUE(names(refusal(config, one_way(800, 1)), "network.host.overhead_recv: "));
}

TEST(LongTimes, AComputePhaseThatTakesTooLongIsNamedWithItsRank) {
  const auto cluster = [](double mean) { return Cluster{mean, 1, {mean}, {1}}; };
  for (const double seconds : {9e6, 1e12, 1e300, std::numeric_limits<double>::infinity()}) {
    Program program = loaded([](Mpi& mpi) {
      mpi.compute(Phase{0});
      mpi.barrier();
    });
    program.profile = TimingProfile{{"only"}, {{PhaseTiming{{cluster(seconds)}, {}}}}};
    auto config = small_machine();
    config.jobs[0].constant = true;
    try {
      simulate({program}, config, 0);
      FAIL() << seconds;
    } catch (const UserError& error) {
      EXPECT_EQ(error.where, "timing profile, phase work");
      EXPECT_TRUE(names(error.found, "rank 0, at 0 s, step 1"));
      EXPECT_TRUE(names(error.remedy, "simulate.slow_node.factor"));
    }
  }
}

// Steps that are each short enough; the run is cut off where they come to the end of time.
TEST(LongTimes, ManyStepsThatAddUpAreToldWithTheirLargestParts) {
  auto config = small_machine();
  config.network.link.latency_s = kLongestStep_s;
  const std::string text = refusal(config, ring(8), 1000);
  EXPECT_TRUE(names(text, "has passed 8e+06 s"));
  EXPECT_TRUE(names(text, "MPI_Sendrecv: "));
  EXPECT_TRUE(names(text, "network.link.latency, 1e+05 s"));
  EXPECT_TRUE(names(text, "events, at "));
}

TEST(LongTimes, PausesThatAddUpAreToldAsComputing) {
  const std::string text = refusal(small_machine(), [](Mpi& mpi) { mpi.pause(5e4); }, 1000);
  EXPECT_TRUE(names(text, "compute: 8e+06 s in 160 calls"));
}

TEST(LongTimes, EveryKindOfNetworkEndsInTheSameWay) {
  for (const auto& kind : {"chunks", "credits", "striped", "on-arrival", "injection"}) {
    auto config = small_machine();
    config.network.link.bandwidth_Bps = 1e-1;
    config.network.switch_latency_s = 9e4;
    if (kind == std::string("credits")) {
      config.network.flow_control = FlowControl::Credits;
      config.network.input_buffer_bytes = config.network.output_buffer_bytes = 1 << 20;
    } else if (kind == std::string("striped")) {
      config.network.host.rails = 2;
      config.network.host.rail_choice = RailChoice::Striped;
      config.jobs[0].nodes = 2;
    } else if (kind == std::string("on-arrival")) {
      config.network.host.receive = Receive::OnArrival;
    } else if (kind == std::string("injection")) {
      config.jobs[0].injection.kind = InjectionKind::Static;
      config.jobs[0].injection.share = 1e-3;
    }
    EXPECT_TRUE(names(refusal(config, ring(8000), 10'000), "has passed 8e+06 s")) << kind;
  }
}

TEST(LongTimes, ARateOfNextToNothingHoldsNoChunkBackForATimeThatWraps) {
  auto config = small_machine();
  config.jobs[0].injection.kind = InjectionKind::Static;
  config.jobs[0].injection.share = 1e-300;
  EXPECT_TRUE(names(refusal(config, ring(100'000)), "injection of job main"));
}

TEST(LongTimes, MessagesThatWaitAtANicForTooLongAreRefused) {
  auto config = small_machine({2, 2}, {1, 2}, {1, 1});
  config.network.flow_control = FlowControl::Credits;
  config.network.input_buffer_bytes = config.network.output_buffer_bytes = 1 << 20;
  config.network.host.nic_bandwidth_Bps = 1;
  config.network.link.bandwidth_Bps = 1;
  config.network.chunk_bytes = 90'000;
  config.network.host.eager_limit_bytes = 1 << 20;
  const std::string text = refusal(config, [](Mpi& mpi) {
    std::vector<Request> requests;
    for (int i = 0; i < 200 && mpi.rank() < 2; ++i) {
      requests.push_back(mpi.rank() == 0 ? mpi.isend(1, 90'000) : mpi.irecv(0, 90'000));
    }
    mpi.waitall(requests);
  });
  EXPECT_TRUE(names(text, "has passed 8e+06 s"));
}

TEST(LongTimes, WhatLinksWaitTogetherMayPassTheEndOfTime) {
  auto config = small_machine({64}, {1}, {1});
  config.network.link.bandwidth_Bps = 1;
  config.network.host.nic_bandwidth_Bps = 1;
  config.network.host.eager_limit_bytes = 1 << 20;
  config.network.chunk_bytes = 1 << 20;
  // On each of 8 links, 7 chunks of 60,000 s, which wait for those before them: 8 x 21 x 60,000 s in all.
  const auto result = run(config, [](Mpi& mpi) {
    const int first = mpi.rank() / 8 * 8;
    if (mpi.rank() > first) return mpi.send(first, 60'000);
    for (int peer = first + 1; peer < first + 8; ++peer) mpi.recv(peer, 60'000);
  });
  EXPECT_LT(result.makespan, kEndOfTime);
  TimeSum stall = 0;
  for (const ClassUse& use : result.class_uses) {
    EXPECT_GE(use.stall, 0);
    stall += use.stall;
  }
  EXPECT_GT(stall, static_cast<TimeSum>(9'223'372'036'854'775'807));
}

TEST(LongTimes, ALinkWhoseWaitsAddUpBeyond64BitsIsNamed) {
  auto config = small_machine({64}, {1}, {1});
  config.network.link.bandwidth_Bps = 1;
  config.network.host.nic_bandwidth_Bps = 1;
  config.network.host.eager_limit_bytes = 1 << 20;
  const std::string text = refusal(config, [](Mpi& mpi) {
    if (mpi.rank() > 0) return mpi.send(0, 120'000);
    for (int peer = 1; peer < mpi.size(); ++peer) mpi.recv(peer, 120'000);
  });
  EXPECT_TRUE(names(text, "add up to more than 64 bits"));
  EXPECT_TRUE(names(text, "to host-0"));
}

TEST(LongTimes, ASizeThatCannotBeCountedIsRefused) {
  const auto config = small_machine();
  for (const std::uint64_t bytes : {std::uint64_t{1} << 51, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_TRUE(names(refusal(config, one_way(bytes, 1)), "rank 0, MPI_Send: a message of the skeleton is too long"));
    EXPECT_TRUE(names(refusal(config, allreduce(bytes)), "MPI_Allreduce"));
  }
  // 64 chunks of more than 32 bits.
  EXPECT_TRUE(names(refusal(config, one_way(std::uint64_t{1} << 40, 1)), "a message is too long for the engine"));
  EXPECT_EQ(refusal(config, one_way(std::uint64_t{1} << 37, 1)), "no error");
}

TEST(LongTimes, BytesOfAllMessagesAreHeldBelowWhatTablesHold) {
  auto config = small_machine();
  config.jobs[0].nodes = 1;
  config.jobs[0].ranks_per_node = 2;
  config.network.intranode.bandwidth_Bps = 1e20;
  const std::string text = refusal(config, ring(std::uint64_t{1} << 50), 10'000);
  EXPECT_TRUE(names(text, "more bytes than the tables of links can hold"));
}

TEST(LongTimes, NumbersWithoutEndAreRefusedWithTheirKey) {
  for (const auto& number : {"1e400", "Infinity", "NaN"}) {
    try {
      parse_run_config(std::string(R"({"schema": "network-run/2", "network": {"link": {"latency_s": )") + number +
                       "}}}");
      FAIL() << number;
    } catch (const UserError& error) {
      EXPECT_TRUE(names(error.where + " " + error.found, "network.link.latency_s")) << number;
    }
  }
}

TEST(LongTimes, ARunThatEndsJustInTimeIsNotRefused) {
  auto config = small_machine();
  config.network.link.latency_s = kLongestStep_s;
  // Two links one way.
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2) + 2 * (kLongestStep - kLinkLatency));
}

}  // namespace
}  // namespace manynode::network::testing::long_times_test
