// The goal sink: what requires what, and compute times in whole nanoseconds.
#include <gtest/gtest.h>

#include <sstream>

#include "manynode/error_report.hpp"
#include "sinks/streams.hpp"

namespace manynode::test {
namespace {

// A rank that emits the calls it is given, in one step.
class Given : public Application, public Skeleton {
 public:
  explicit Given(void (*calls)(Mpi&)) : calls_(calls) {}
  std::string name() const override { return "given"; }
  std::vector<std::string> phases() const override { return {"work"}; }
  std::unique_ptr<Skeleton> make(int, int) const override { return std::make_unique<Given>(calls_); }
  bool step(Mpi& mpi) override {
    calls_(mpi);
    return false;
  }

 private:
  void (*calls_)(Mpi&);
};

// Of rank 0 of two.
std::string goal(void (*calls)(Mpi&), const TimingModel* timing = nullptr, double reduce_bandwidth_Bps = 0) {
  const Given application(calls);
  sinks::Selection selection;
  selection.application = &application;
  selection.size = 2;
  selection.ranks = {0};
  selection.timing = timing;
  selection.reduce_bandwidth_Bps = reduce_bandwidth_Bps;
  std::ostringstream out;
  sinks::print_goal(selection, out);
  return out.str();
}

TEST(GoalSink, OperationsStartInProgramOrderAndAfterWhatWasWaitedFor) {
  const std::string text = goal([](Mpi& mpi) {
    const std::array requests = {mpi.irecv(1, 10, 3), mpi.isend(1, 20, 4)};
    mpi.compute({0});
    mpi.waitall(requests);
    mpi.send(1, 30, 5);
  });
  EXPECT_EQ(text,
            "num_ranks 2\n"
            "rank 0 {\n"
            "l1: recv 10b from 1 tag 3\n"
            "l2: send 20b to 1 tag 4\n"
            "l2 irequires l1\n"
            "l3: calc 0\n"
            "l3 irequires l2\n"
            "l4: send 30b to 1 tag 5\n"
            "l4 requires l3\n"
            "l4 requires l1\n"
            "l4 requires l2\n"
            "}\n");
}

TEST(GoalSink, ReductionsTakeTimeWhereABandwidthIsGiven) {
  const auto allreduce = [](Mpi& mpi) { mpi.allreduce(800); };
  EXPECT_NE(goal(allreduce).find(": calc 0\n"), std::string::npos);
  EXPECT_NE(goal(allreduce, nullptr, 1e9).find(": calc 800\n"), std::string::npos);
}

TEST(GoalSink, OtherWorkOfCollectivesIsThereWhereItTakesTime) {
  const auto text = [](double copy_Bps, double call_s, double step_s) {
    const Given application([](Mpi& mpi) { mpi.allgather(800); });
    sinks::Selection selection;
    selection.application = &application;
    selection.size = 2;
    selection.ranks = {0};
    selection.collectives.allgather = "bruck";
    selection.copy_bandwidth_Bps = copy_Bps;
    selection.collective_call_s = call_s;
    selection.collective_step_s = step_s;
    std::ostringstream out;
    sinks::print_goal(selection, out);
    return out.str();
  };
  EXPECT_EQ(text(0, 0, 0).find("calc"), std::string::npos);
  EXPECT_EQ(text(1e9, 3e-6, 1e-6),
            "num_ranks 2\n"
            "rank 0 {\n"
            "l1: calc 3000\n"
            "l2: calc 800\n"
            "l2 requires l1\n"
            "l3: recv 800b from 1 tag 1048576\n"
            "l3 requires l2\n"
            "l4: send 800b to 1 tag 1048576\n"
            "l4 irequires l3\n"
            "l5: calc 1000\n"
            "l5 requires l3\n"
            "l5 requires l4\n"
            "l6: calc 1600\n"
            "l6 requires l5\n"
            "}\n");
}

TEST(GoalSink, ComputeTimesAddUpInSpiteOfRounding) {
  TimingProfile profile;
  profile.classes = {"0"};
  profile.phases = {{{{{0.4e-9, 1, {0.4e-9}, {1}}}, {}}}};
  const TimingModel timing(profile, {0, 0}, 1, 0, true);
  const std::string text = goal(
      [](Mpi& mpi) {
        for (int i = 0; i < 5; ++i) {
          mpi.compute({0});
        }
      },
      &timing);
  int sum = 0;
  for (std::size_t at = text.find("calc "); at != std::string::npos; at = text.find("calc ", at + 1)) {
    sum += std::stoi(text.substr(at + 5));
  }
  EXPECT_EQ(sum, 2);  // five times 0.4 ns
}

TEST(GoalSink, APauseIsItsTime) {
  EXPECT_NE(goal([](Mpi& mpi) { mpi.pause(2e-6); }).find(": calc 2000\n"), std::string::npos);
}

TEST(GoalSink, AReceiveFromAnybodyIsRefused) {
  EXPECT_THROW(goal([](Mpi& mpi) { mpi.recv(kAnySource, 8); }), UserError);
}

}  // namespace
}  // namespace manynode::test
