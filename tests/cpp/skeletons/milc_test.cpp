// MILC: the geometry that program and skeleton share, and what a whole run of the skeleton must satisfy.
#include <set>

#include "application_stream.hpp"
#include "manynode/error_report.hpp"
#include "milc/geometry.hpp"
#include "milc/skeleton.hpp"

namespace manynode::milc {
namespace {

TEST(MilcGeometry, TheRanksAreDealtToTheAxesByPrimeFactors) {
  EXPECT_EQ(process_grid(1), (Quad{1, 1, 1, 1}));
  EXPECT_EQ(process_grid(2), (Quad{1, 1, 1, 2}));
  EXPECT_EQ(process_grid(12), (Quad{1, 2, 2, 3}));
  EXPECT_EQ(process_grid(7), (Quad{1, 1, 1, 7}));
  EXPECT_EQ(process_grid(16), (Quad{2, 2, 2, 2}));
  EXPECT_EQ(process_grid(256), (Quad{4, 4, 4, 4}));
  for (int size = 1; size <= 200; ++size) {
    EXPECT_EQ(volume(process_grid(size)), size);
  }
}

TEST(MilcGeometry, NeighboursAreMutualAndTheLatticeIsPeriodic) {
  const Quad grid{2, 3, 1, 4};
  EXPECT_EQ(neighbour(grid, 0, 0, -1), 1);
  EXPECT_EQ(neighbour(grid, 0, 1, -1), 4);
  EXPECT_EQ(neighbour(grid, 0, 2, 1), 0);
  EXPECT_EQ(neighbour(grid, 0, 3, -1), 18);
  for (int rank = 0; rank < 24; ++rank) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      EXPECT_EQ(neighbour(grid, neighbour(grid, rank, axis, 1), axis, -1), rank);
    }
  }
}

TEST(MilcGeometry, AGatherFetchesHalfOfEachSlice) {
  EXPECT_EQ(gathered_sites({6, 6, 6, 6}, 0, 1), 108);
  EXPECT_EQ(gathered_sites({6, 6, 6, 6}, 3, 3), 324);
  EXPECT_EQ(gathered_sites({4, 6, 8, 2}, 1, 1), 32);
}

Parameters small(std::int64_t third_neighbours = 0, std::int64_t iterations = 3) {
  return Parameters({{"nx", std::int64_t{4}},
                     {"ny", std::int64_t{6}},
                     {"nz", std::int64_t{4}},
                     {"nt", std::int64_t{8}},
                     {"iterations", iterations},
                     {"third_neighbours", third_neighbours}});
}

TEST(MilcSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
    for (const std::int64_t third : {0, 1}) {
      SCOPED_TRACE(std::to_string(size) + " ranks");
      test::run_to_the_end(*make_application("milc", small(third), size), size);
    }
  }
}

TEST(MilcSkeleton, AStepIsAnIterationWithTwoOperatorsAndTwoReductions) {
  const test::Stream stream = test::stream_of(*make_application("milc", small(), 16), 5, 16);
  EXPECT_EQ(stream.steps, 3);
  const int applied = 2 * (3 + 1);  // in three iterations, and for the residual at the end
  EXPECT_EQ(stream.count("pack"), 8 * applied);
  EXPECT_EQ(stream.count("adjoint"), applied);
  EXPECT_EQ(stream.count("forward"), applied);
  EXPECT_EQ(stream.count("backward"), applied - 1);
  EXPECT_EQ(stream.count("checksum"), 1);
  EXPECT_EQ(stream.count("direction"), 3 - 1);
  const auto reductions = std::count_if(stream.calls.begin(), stream.calls.end(),
                                        [](const Call& call) { return call.kind == CallKind::Allreduce; });
  EXPECT_EQ(reductions, 1 + 2 * 3 + 1);
}

TEST(MilcSkeleton, ThirdNeighboursBringThreeSlices) {
  const test::Stream stream = test::stream_of(*make_application("milc", small(1, 1), 2), 0, 2);
  std::vector<std::uint64_t> sites;
  for (const Call& call : stream.calls) {
    if (call.kind == CallKind::Isend && call.peer != kProcNull) {
      sites.push_back(call.bytes / (6 * sizeof(double)));
    }
  }
  // Neighbours in t only: half of 4 * 6 * 4 sites and three times as many, forward and backward, four operators.
  std::vector<std::uint64_t> expected;
  for (int i = 0; i < 8; ++i) {
    expected.insert(expected.end(), {48, 144});
  }
  EXPECT_EQ(sites, expected);
}

TEST(MilcSkeleton, ARankAloneComputesTheSamePhasesButPacksNothing) {
  const test::Stream alone = test::stream_of(*make_application("milc", small(), 1), 0, 1);
  test::Stream among = test::stream_of(*make_application("milc", small(), 16), 3, 16);
  std::erase(among.phases, "pack");
  EXPECT_EQ(alone.phases, among.phases);
}

TEST(MilcSkeleton, OnlyPhasesThatOccurAreAskedOfTheProfile) {
  for (const int size : {1, 8}) {
    for (const std::int64_t iterations : {1, 2}) {
      const auto application = make_application("milc", small(0, iterations), size);
      const std::vector<std::string> names = application->phases();
      const test::Stream stream = test::stream_of(*application, 0, size);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
                std::set<std::string>(stream.phases.begin(), stream.phases.end()));
    }
  }
}

TEST(MilcSkeleton, ExtentsThatCannotHoldEvenAndOddSitesAreRefused) {
  const auto make = [](std::int64_t ny, std::int64_t third) {
    return make_application("milc", Parameters({{"ny", ny}, {"third_neighbours", third}}), 1);
  };
  try {
    make(5, 0);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "ny");
    EXPECT_EQ(error.found, "5");
    EXPECT_EQ(error.allowed, "integer, at least 2, at most 1024, a multiple of 2");
  }
  EXPECT_NO_THROW(make(2, 0));
  EXPECT_THROW(make(2, 1), UserError);
  EXPECT_NO_THROW(make(4, 1));
}

TEST(MilcSkeleton, ALatticeThatIsTooLargeIsRefused) {
  const std::int64_t most = 1024;
  EXPECT_THROW(make_application("milc", Parameters({{"nx", most}, {"ny", most}, {"nz", most}}), 1), UserError);
}

}  // namespace
}  // namespace manynode::milc
