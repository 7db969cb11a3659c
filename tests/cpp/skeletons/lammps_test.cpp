// Molecular dynamics: lengths of messages, and what a whole run of the skeleton must satisfy.
#include <set>

#include "application_stream.hpp"
#include "lammps/geometry.hpp"
#include "lammps/skeleton.hpp"
#include "manynode/error_report.hpp"

namespace manynode::lammps {
namespace {

Parameters small(std::int64_t iterations = 7, std::int64_t every = 3, std::int64_t thermo_every = 2) {
  return Parameters({{"nx", std::int64_t{4}},
                     {"ny", std::int64_t{2}},
                     {"nz", std::int64_t{3}},
                     {"iterations", iterations},
                     {"every", every},
                     {"thermo_every", thermo_every},
                     {"reductions", std::int64_t{2}}});
}

int calls(const test::Stream& stream, CallKind kind) {
  return static_cast<int>(
      std::count_if(stream.calls.begin(), stream.calls.end(), [&](const Call& call) { return call.kind == kind; }));
}

TEST(LammpsGeometry, NeighboursAreMutualAndTheBoxIsPeriodic) {
  const Triple grid{2, 3, 4};
  for (int rank = 0; rank < 24; ++rank) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_EQ(neighbour(grid, neighbour(grid, rank, axis, 1), axis, -1), rank);
    }
  }
  EXPECT_EQ(neighbour(grid, 0, 2, -1), 18);
}

TEST(LammpsGeometry, AMessageHoldsTheDensityAndTwoStandardDeviations) {
  EXPECT_EQ(capacity(0), 4);
  EXPECT_EQ(capacity(100 / kDensity), 100 + 20 + 4);
  // Planes of a crystal lie 0.84 apart: at most 4 of them, of 32 atoms each, within 2.8 of a face of 4 x 4 cells.
  EXPECT_GE(ghost_capacity({4, 4, 4}, 0), 4 * 32);
  // Later axes bring the ghosts of the earlier ones.
  EXPECT_GT(ghost_capacity({4, 4, 4}, 1), ghost_capacity({4, 4, 4}, 0));
  EXPECT_GT(ghost_capacity({4, 4, 4}, 2), ghost_capacity({4, 4, 4}, 1));
}

TEST(LammpsSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 8, 12, 27, 64}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    test::run_to_the_end(*make_application("lammps", small(), size), size);
  }
}

TEST(LammpsSkeleton, AStepHasSixSwapsAndNowAndThenABuildAndSums) {
  const test::Stream stream = test::stream_of(*make_application("lammps", small(), 27), 13, 27);
  EXPECT_EQ(stream.steps, 7);
  // Of 7 steps, 3 and 6 build, 2, 4, 6 and the last have sums.
  EXPECT_EQ(stream.count("neighbour"), 1 + 2);
  EXPECT_EQ(stream.count("borders"), 6 * 3);
  EXPECT_EQ(stream.count("exchange"), 2 * 2);
  EXPECT_EQ(stream.count("force"), 5);
  EXPECT_EQ(stream.count("pack"), 6 * 5);
  EXPECT_EQ(stream.count("integrate"), 1 + 3);  // after an output, and in the first step
  EXPECT_EQ(calls(stream, CallKind::Allreduce), 2 + 2 * 4 + 1);
  EXPECT_EQ(calls(stream, CallKind::Sendrecv), 6 * 3 + 6 * 2);
  EXPECT_EQ(calls(stream, CallKind::Send), 6 * 8 + 6 * 2);
}

TEST(LammpsSkeleton, ARankAloneComputesThePhasesOfManyAndSendsToNobody) {
  const test::Stream alone = test::stream_of(*make_application("lammps", small(), 1), 0, 1);
  EXPECT_EQ(alone.phases, test::stream_of(*make_application("lammps", small(), 64), 5, 64).phases);
  for (const Call& call : alone.calls) {
    if (call.kind == CallKind::Send || call.kind == CallKind::Irecv || call.kind == CallKind::Sendrecv) {
      EXPECT_EQ(call.peer, kProcNull);
      EXPECT_EQ(call.bytes, 0U);
    }
  }
}

TEST(LammpsSkeleton, OnlyPhasesThatOccurAreAskedOfTheProfile) {
  for (const auto& [iterations, every] : {std::pair<std::int64_t, std::int64_t>{3, 1}, {2, 3}, {3, 3}}) {
    const auto application = make_application("lammps", small(iterations, every), 2);
    const std::vector<std::string> names = application->phases();
    const test::Stream stream = test::stream_of(*application, 0, 2);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
              std::set<std::string>(stream.phases.begin(), stream.phases.end()));
  }
}

TEST(LammpsSkeleton, ABoxThatIsTooLargeIsRefused) {
  const std::int64_t most = 256;
  EXPECT_THROW(make_application("lammps", Parameters({{"nx", most}, {"ny", most}, {"nz", most}}), 1), UserError);
}

}  // namespace
}  // namespace manynode::lammps
