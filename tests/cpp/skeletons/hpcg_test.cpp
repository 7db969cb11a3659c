// HPCG: the geometry that program and skeleton share, and what a whole run of the skeleton must satisfy.
#include <set>

#include "hpcg/geometry.hpp"
#include "hpcg/skeleton.hpp"
#include "manynode/error_report.hpp"
#include "matcher.hpp"

namespace manynode::hpcg {
namespace {

TEST(HpcgGeometry, TheProcessGridIsAsNearToACubeAsItsDivisorsAllow) {
  EXPECT_EQ(process_grid(1), (Triple{1, 1, 1}));
  EXPECT_EQ(process_grid(2), (Triple{1, 1, 2}));
  EXPECT_EQ(process_grid(7), (Triple{1, 1, 7}));
  EXPECT_EQ(process_grid(12), (Triple{2, 2, 3}));
  EXPECT_EQ(process_grid(64), (Triple{4, 4, 4}));
  EXPECT_EQ(process_grid(1728), (Triple{12, 12, 12}));
  EXPECT_EQ(process_grid(2400), (Triple{10, 15, 16}));
  for (int size = 1; size <= 200; ++size) {
    const Triple grid = process_grid(size);
    EXPECT_EQ(grid[0] * grid[1] * grid[2], size);
    EXPECT_LE(grid[0], grid[1]);
    EXPECT_LE(grid[1], grid[2]);
  }
}

TEST(HpcgGeometry, ARankInTheMiddleHas26NeighboursACornerHas7) {
  const Triple grid{3, 3, 3};
  EXPECT_EQ(neighbours(grid, 13).size(), 26U);
  EXPECT_EQ(neighbours(grid, 0).size(), 7U);
  EXPECT_TRUE(neighbours({1, 1, 1}, 0).empty());
}

TEST(HpcgGeometry, NeighboursAreMutualOrderedAndShareAsMuch) {
  const Triple grid{2, 3, 4};
  const Triple local{4, 6, 8};
  for (int rank = 0; rank < 24; ++rank) {
    int last = -1;
    for (const Neighbour& neighbour : neighbours(grid, rank)) {
      EXPECT_GT(neighbour.rank, last);
      last = neighbour.rank;
      int found = 0;
      for (const Neighbour& back : neighbours(grid, neighbour.rank)) {
        if (back.rank == rank) {
          ++found;
          EXPECT_EQ(shared_points(local, back.direction), shared_points(local, neighbour.direction));
        }
      }
      EXPECT_EQ(found, 1);
    }
  }
}

TEST(HpcgGeometry, FacesEdgesAndCornersAreWhatTouches) {
  const Triple local{4, 6, 8};
  EXPECT_EQ(shared_points(local, {1, 0, 0}), 48);
  EXPECT_EQ(shared_points(local, {0, -1, 1}), 4);
  EXPECT_EQ(shared_points(local, {1, 1, 1}), 1);
}

Parameters small(int iterations, int preconditioner = 1) {
  return Parameters({{"nx", std::int64_t{8}},
                     {"ny", std::int64_t{16}},
                     {"nz", std::int64_t{24}},
                     {"iterations", std::int64_t{iterations}},
                     {"preconditioner", std::int64_t{preconditioner}}});
}

struct Stream {
  std::vector<std::string> phases;
  std::vector<Call> calls;
  int steps{0};
};

Stream stream_of(const Application& application, int rank, int size) {
  Stream result;
  Communicators communicators(rank, size);
  const std::unique_ptr<Skeleton> skeleton = application.make(rank, size);
  for (bool more = true; more; ++result.steps) {
    Calls calls;
    Mpi mpi(rank, size, calls, communicators);
    more = skeleton->step(mpi);
    result.calls.insert(result.calls.end(), calls.calls.begin(), calls.calls.end());
  }
  const std::vector<std::string> names = application.phases();
  for (const Call& call : result.calls) {
    if (call.kind == CallKind::Compute) {
      result.phases.push_back(names.at(call.first));
    }
  }
  return result;
}

int count(const std::vector<std::string>& phases, const std::string& name) {
  return static_cast<int>(std::count(phases.begin(), phases.end(), name));
}

TEST(HpcgSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 8, 12, 18, 27}) {
    for (const int preconditioner : {0, 1}) {
      SCOPED_TRACE(std::to_string(size) + " ranks");
      const auto application = make_application("hpcg", small(2, preconditioner), size);
      std::vector<std::vector<Primitive>> programs;
      const CollectiveChoice choice;
      for (int rank = 0; rank < size; ++rank) {
        Communicators communicators(rank, size);
        Lowering lowering(rank, choice, communicators);
        const auto skeleton = application->make(rank, size);
        programs.emplace_back();
        for (bool more = true; more;) {
          Calls calls;
          Mpi mpi(rank, size, calls, communicators);
          more = skeleton->step(mpi);
          for (const Call& call : calls.calls) {
            lowering.lower(call, calls, programs.back());
          }
        }
      }
      test::Matcher(std::move(programs), test::SendMode::Rendezvous).run();
    }
  }
}

TEST(HpcgSkeleton, AStepIsAnIteration) {
  const auto application = make_application("hpcg", small(5), 8);
  EXPECT_EQ(stream_of(*application, 3, 8).steps, 5);
}

TEST(HpcgSkeleton, EachVCycleSmoothsSevenTimesWithFourLevels) {
  const auto application = make_application("hpcg", small(3), 8);
  const Stream result = stream_of(*application, 0, 8);
  EXPECT_EQ(count(result.phases, "symgs"), 3 * 7);
  EXPECT_EQ(count(result.phases, "residual"), 3 * 3);
  EXPECT_EQ(count(result.phases, "spmv"), 3);
  EXPECT_EQ(count(result.phases, "pack"), 1 + 3 * 11);
  EXPECT_EQ(count(result.phases, "setup"), 1);
}

TEST(HpcgSkeleton, EachLevelHalvesTheFaces) {
  const auto application = make_application("hpcg", small(1), 2);  // neighbours in z: faces of nx * ny points
  const Stream result = stream_of(*application, 0, 2);
  std::vector<std::uint64_t> sent;
  for (const Call& call : result.calls) {
    if (call.kind == CallKind::Isend) {
      sent.push_back(call.bytes / sizeof(double));
    }
  }
  EXPECT_EQ(sent, (std::vector<std::uint64_t>{128, 128, 128, 32, 32, 8, 8, 2, 8, 32, 128, 128}));
}

TEST(HpcgSkeleton, ARankAloneComputesTheSamePhasesButPacksNothing) {
  const Stream alone = stream_of(*make_application("hpcg", small(2), 1), 0, 1);
  Stream among = stream_of(*make_application("hpcg", small(2), 8), 0, 8);
  std::erase(among.phases, "pack");
  EXPECT_EQ(alone.phases, among.phases);
}

TEST(HpcgSkeleton, OnlyPhasesThatOccurAreAskedOfTheProfile) {
  for (const int size : {1, 8}) {
    for (const int preconditioner : {0, 1}) {
      const auto application = make_application("hpcg", small(2, preconditioner), size);
      const std::vector<std::string> names = application->phases();
      const Stream result = stream_of(*application, 0, size);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
                std::set<std::string>(result.phases.begin(), result.phases.end()));
    }
  }
}

TEST(HpcgSkeleton, AGridThatCannotBeHalvedIsRefused) {
  const auto make = [](std::int64_t nx, std::int64_t preconditioner) {
    return make_application("hpcg", Parameters({{"nx", nx}, {"preconditioner", preconditioner}}), 1);
  };
  try {
    make(12, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "nx");
    EXPECT_EQ(error.found, "12");
    EXPECT_EQ(error.allowed, "a multiple of 8, which is 2^(levels-1)");
  }
  EXPECT_NO_THROW(make(12, 0));
  EXPECT_THROW(
      make_application(
          "hpcg", Parameters({{"nx", std::int64_t{16384}}, {"ny", std::int64_t{16384}}, {"nz", std::int64_t{16384}}}),
          1),
      UserError);
}

}  // namespace
}  // namespace manynode::hpcg
