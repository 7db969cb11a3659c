// SNAP: the geometry that program and skeleton share, and what a whole run of the skeleton must satisfy.
#include <set>

#include "application_stream.hpp"
#include "manynode/error_report.hpp"
#include "snap/geometry.hpp"
#include "snap/skeleton.hpp"

namespace manynode::snap {
namespace {

TEST(SnapGeometry, TheProcessGridIsAsNearToASquareAsItsDivisorsAllow) {
  for (int size = 1; size <= 200; ++size) {
    const ProcessGrid grid = process_grid(size);
    EXPECT_EQ(grid.y * grid.z, size);
    EXPECT_GE(grid.y, grid.z);
    for (int z = grid.z + 1; z * z <= size; ++z) {
      EXPECT_NE(size % z, 0);
    }
  }
  EXPECT_EQ(process_grid(12).y, 4);
  EXPECT_EQ(process_grid(7).z, 1);
}

TEST(SnapGeometry, NeighboursAreMutualAndEndAtTheBorder) {
  const ProcessGrid grid{4, 3};
  EXPECT_EQ(neighbour(grid, 0, -1, 0), kNoNeighbour);
  EXPECT_EQ(neighbour(grid, 3, 1, 0), kNoNeighbour);
  EXPECT_EQ(neighbour(grid, 11, 0, 1), kNoNeighbour);
  EXPECT_EQ(neighbour(grid, 5, 1, 0), 6);
  EXPECT_EQ(neighbour(grid, 5, 0, 1), 9);
  for (int rank = 0; rank < 12; ++rank) {
    const int there = neighbour(grid, rank, 0, 1);
    if (there != kNoNeighbour) {
      EXPECT_EQ(neighbour(grid, there, 0, -1), rank);
    }
  }
}

TEST(SnapGeometry, TheFourCornersDifferInOneDirectionFromOneToTheNext) {
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = 0; i < kCorners.size(); ++i) {
    seen.insert({kCorners[i].y, kCorners[i].z});
    const Corner& next = kCorners[(i + 1) % kCorners.size()];
    EXPECT_EQ((kCorners[i].y != next.y) + (kCorners[i].z != next.z), 1);
  }
  EXPECT_EQ(seen.size(), 4U);
}

Parameters small(std::int64_t inners = 2) {
  return Parameters({{"nx", std::int64_t{12}},
                     {"ny", std::int64_t{3}},
                     {"nz", std::int64_t{2}},
                     {"chunk", std::int64_t{4}},
                     {"angles", std::int64_t{5}},
                     {"groups", std::int64_t{2}},
                     {"outers", std::int64_t{3}},
                     {"inners", inners}});
}

TEST(SnapSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 7, 12, 16}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    test::run_to_the_end(*make_application("snap", small(), size), size);
  }
}

TEST(SnapSkeleton, AStepIsAnInnerIteration) {
  const auto application = make_application("snap", small(), 6);
  const test::Stream stream = test::stream_of(*application, 3, 6);
  EXPECT_EQ(stream.steps, 3 * 2);
  EXPECT_EQ(application->steps(), 3U * 2U);
}

TEST(SnapSkeleton, EachInnerIterationSweepsEightOctantsOfEachGroupInChunks) {
  const test::Stream stream = test::stream_of(*make_application("snap", small(), 6), 0, 6);
  EXPECT_EQ(stream.count("sweep"), 3 * 2 * (8 * 2 * 3));
  EXPECT_EQ(stream.count("outer_source"), 3);
  EXPECT_EQ(stream.count("inner_source"), 3);
  EXPECT_EQ(stream.count("inner_change"), 6);
  EXPECT_EQ(stream.count("outer_change"), 3);
  EXPECT_EQ(stream.count("setup"), 1);
}

TEST(SnapSkeleton, FacesAreAsLargeAsTheChunkTimesTheOtherExtent) {
  const test::Stream stream = test::stream_of(*make_application("snap", small(), 4), 0, 4);
  std::set<std::pair<int, std::uint64_t>> sent;
  for (const Call& call : stream.calls) {
    if (call.kind == CallKind::Isend && call.peer != kProcNull) {
      sent.insert({call.peer, call.bytes});
    }
  }
  // Rank 0 is a corner of the 2 x 2 ranks: rank 1 lies in y, rank 2 in z.
  EXPECT_EQ(sent, (std::set<std::pair<int, std::uint64_t>>{{1, 5 * 4 * 2 * 8}, {2, 5 * 4 * 3 * 8}}));
}

TEST(SnapSkeleton, ARankAloneComputesTheSamePhases) {
  const test::Stream alone = test::stream_of(*make_application("snap", small(), 1), 0, 1);
  const test::Stream among = test::stream_of(*make_application("snap", small(), 9), 4, 9);
  EXPECT_EQ(alone.phases, among.phases);
}

TEST(SnapSkeleton, OnlyPhasesThatOccurAreAskedOfTheProfile) {
  for (const std::int64_t inners : {1, 2}) {
    const auto application = make_application("snap", small(inners), 4);
    const std::vector<std::string> names = application->phases();
    const test::Stream stream = test::stream_of(*application, 0, 4);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
              std::set<std::string>(stream.phases.begin(), stream.phases.end()));
  }
}

TEST(SnapSkeleton, ChunksThatDoNotFillXAreRefused) {
  try {
    make_application("snap", Parameters({{"nx", std::int64_t{10}}, {"chunk", std::int64_t{4}}}), 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "chunk");
    EXPECT_EQ(error.found, "4");
    EXPECT_EQ(error.allowed, "a divisor of nx, which is 10");
  }
}

TEST(SnapSkeleton, AMeshOrAMessageThatIsTooLargeIsRefused) {
  const std::int64_t most = 16384;
  EXPECT_THROW(make_application("snap", Parameters({{"nx", most}, {"ny", most}, {"nz", most}, {"chunk", most}}), 1),
               UserError);
  const Parameters long_message({{"nx", most}, {"ny", most}, {"nz", std::int64_t{1}}, {"chunk", most}});
  EXPECT_THROW(make_application("snap", long_message, 1), UserError);
}

}  // namespace
}  // namespace manynode::snap
