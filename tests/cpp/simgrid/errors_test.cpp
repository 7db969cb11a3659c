// Ranks that cannot finish, messages without a partner, and what the engine cannot do: errors by name, and no hang.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

using ::testing::Test;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Errors, ACycleOfLongBlockingSendsNamesWhoWaits) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() > 1) return;
    mpi.send(1 - mpi.rank(), kEagerLimit + 1, 3);
    mpi.recv(1 - mpi.rank(), kEagerLimit + 1, 3);
  });
  EXPECT_TRUE(contains(text, "the simulation ended with 2 unfinished ranks")) << text;
  EXPECT_TRUE(contains(text, "rank 0 waits in MPI_Send (step 1) for rank 1 to receive its message, tag 3, 16385 bytes"))
      << text;
  EXPECT_TRUE(contains(text, "rank 1 waits in MPI_Send")) << text;
}

TEST(Errors, TheSameCycleOfShortSendsFinishes) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() > 1) return;
    mpi.send(1 - mpi.rank(), kEagerLimit, 3);
    mpi.recv(1 - mpi.rank(), kEagerLimit, 3);
  });
  EXPECT_EQ(text, "no error");
}

TEST(Errors, AReceiveWithoutItsSendIsNamed) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() == 3) mpi.recv(2, 50, 9);
  });
  EXPECT_TRUE(contains(text, "rank 3 waits in MPI_Recv (step 1) for a message from rank 2, tag 9, 50 bytes")) << text;
}

TEST(Errors, AMessageThatNobodyReceivesIsNamed) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 50, 9);
  });
  EXPECT_TRUE(contains(text, "without a partner")) << text;
  EXPECT_TRUE(contains(text, "from rank 0 to rank 1, tag 9, 50 bytes")) << text;
}

TEST(Errors, AMessageLongerThanItsReceiveIsNamed) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 60, 9);
    if (mpi.rank() == 1) mpi.recv(0, 50, 9);
  });
  EXPECT_TRUE(contains(text, "longer than the receive")) << text;
  EXPECT_TRUE(contains(text, "receive of rank 1 from rank 0, tag 9, 50 bytes")) << text;
}

TEST(Errors, AReceiveOfAnyTagIsRefused) {
  const auto text = failure(machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 50, 9);
    if (mpi.rank() == 1) mpi.recv(0, 50, kAnyTag);
  });
  EXPECT_TRUE(contains(text, "no receive of any tag")) << text;
}

TEST(Errors, AMessageBeyondTwoGigabytesIsRefused) {
  const auto text = failure(machine(), one_way(std::uint64_t{1} << 31, 1));
  EXPECT_TRUE(contains(text, "too long for the engine simgrid")) << text;
}

TEST(Errors, RailsOtherThanByRankAreRefusedByName) {
  const std::map<network::RailChoice, std::string> choices{{network::RailChoice::Striped, "striped"},
                                                           {network::RailChoice::ByMessage, "by-message"},
                                                           {network::RailChoice::ByDirection, "by-direction"}};
  for (const auto& [choice, name] : choices) {
    auto config = machine();
    config.network.host.rails = 2;
    config.network.host.rail_choice = choice;
    config.jobs[0].nodes = 2;
    try {
      run(config, one_way(8, 1));
      ADD_FAILURE() << name;
    } catch (const UserError& error) {
      EXPECT_EQ(error.found, name);
    }
  }
}

TEST(Errors, ALatencyBySizeIsRefused) {
  auto config = machine();
  config.network.host.message_latency = {{0, 0, 0}, {64, 1e-6, 0}};
  try {
    run(config, one_way(8, 1));
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "network.host.message_latency");
  }
}

TEST(Errors, ProcessorsThatTakeMessagesInAsTheyComeAreRefused) {
  auto config = machine();
  config.network.host.receive = network::Receive::OnArrival;
  EXPECT_THROW(run(config, one_way(8, 1)), UserError);
}

TEST(Errors, FlowControlIsRefused) {
  auto config = machine();
  config.network.flow_control = network::FlowControl::Credits;
  EXPECT_THROW(run(config, one_way(8, 1)), UserError);
}

TEST(Errors, AnUnknownRankClassIsAnErrorOfTheInput) {
  TimingProfile profile;
  profile.classes = {"0"};
  profile.phases = {{PhaseTiming{{Cluster{1e-6, 1, {1e-6, 1e-6}, {0, 1}}}, {}}}};
  auto config = machine();
  config.jobs[0].class_of_rank = {"0", "0", "edge", "0"};
  auto with_profile = program(one_way(8, 1));
  with_profile.profile = profile;
  try {
    simulate_replica({with_profile}, config, 0);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.found, "edge");
    EXPECT_EQ(error.allowed, "0");
  }
}

TEST(Errors, AMessageThatTakesTooLongNamesItsLink) {
  auto config = machine();
  config.network.link.bandwidth_Bps = 1e-3;
  try {
    run(config, one_way(800, 1));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "network.link.bandwidth");
    EXPECT_TRUE(contains(error.found, "800 bytes, 0.001 B/s")) << error.found;
  }
}

TEST(Errors, TheEndOfSimulatedTimeIsToldWithTheLargestParts) {
  auto config = machine();
  config.network.switch_latency_s = network::kLongestStep_s;
  const auto text = failure(config, [](Mpi& mpi) {
    for (int i = 0; i < 10; ++i) mpi.pause(1e6);
    mpi.barrier();
  });
  EXPECT_TRUE(contains(text, "has passed 8e+06 s")) << text;
  EXPECT_TRUE(contains(text, "network.switch_latency, 1e+05 s")) << text;
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
