// Three-dimensional transforms: the cube that program and skeleton share, and what the skeleton's calls must satisfy.
#include "application_stream.hpp"
#include "hacc/shape.hpp"
#include "hacc/skeleton.hpp"

namespace manynode::hacc {
namespace {

TEST(HaccShape, RanksFormAGridAndTheCubeIsTheLargestWithAFastTransform) {
  const Shape of_64 = shape(32 << 10, 64);
  EXPECT_EQ(of_64.rows, 8);
  EXPECT_EQ(of_64.columns, 8);
  EXPECT_EQ(of_64.side, 128);
  EXPECT_EQ(shape(32 << 10, 12).rows, 3);
  EXPECT_EQ(shape(1000, 3).side, 12);  // 14 has a factor of 7, 13 is prime
  EXPECT_TRUE(smooth(1) && smooth(30) && smooth(128));
  EXPECT_FALSE(smooth(14) || smooth(11));
}

TEST(HaccShape, PencilsInEachDirectionHoldTheCube) {
  for (int ranks = 1; ranks <= 100; ++ranks) {
    const Shape of_all = shape(100000, ranks);
    EXPECT_EQ(of_all.rows * of_all.columns, ranks);
    const std::int64_t cube = of_all.side * of_all.side * of_all.side;
    EXPECT_LE(cube, 100000 * ranks);
    std::int64_t in_rows = 0;
    std::int64_t in_columns = 0;
    for (int row = 0; row < of_all.rows; ++row) {
      for (int from = 0; from < of_all.columns; ++from) {
        for (int to = 0; to < of_all.columns; ++to) {
          in_rows += of_all.in_row(row, from, to);
        }
      }
    }
    for (int column = 0; column < of_all.columns; ++column) {
      for (int from = 0; from < of_all.rows; ++from) {
        for (int to = 0; to < of_all.rows; ++to) {
          in_columns += of_all.in_column(column, from, to);
        }
      }
    }
    EXPECT_EQ(in_rows, cube);
    EXPECT_EQ(in_columns, cube);
  }
}

TEST(HaccShape, MoreRanksInARowThanPlanesAreRefused) {
  try {
    make_application("hacc", Parameters({{"elements", std::int64_t{1}}}), 13);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "elements");
    EXPECT_EQ(error.found, "1, a side of 2");
    EXPECT_EQ(error.allowed, "a side of at least 13");
  }
}

const Parameters kSmall({{"elements", std::int64_t{300}}, {"iterations", std::int64_t{3}}});

TEST(HaccSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 7, 12, 16, 25}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    test::run_to_the_end(*make_application("hacc", kSmall, size), size);
  }
}

TEST(HaccSkeleton, AStepTurnsThePencilsFourTimes) {
  const auto application = make_application("hacc", kSmall, 12);  // 3 rows of 4
  const test::Stream stream = test::stream_of(*application, 5, 12);
  EXPECT_EQ(stream.steps, 3);
  EXPECT_EQ(stream.count("along-z"), 3);
  EXPECT_EQ(stream.count("along-x"), 3);
  EXPECT_EQ(stream.count("check"), 1);
  int sends = 0;
  std::uint64_t bytes = 0;
  for (const Call& call : stream.calls) {
    if (call.kind == CallKind::Isend) {
      ++sends;
      bytes += call.bytes;
      EXPECT_TRUE(call.peer / 4 == 1 || call.peer % 4 == 1) << "outside of its row and column";
    }
  }
  EXPECT_EQ(sends, 3 * (2 * 3 + 2 * 2));
  // 15^3 cells: 5 planes in x, parts of 3, 4, 4 and 4 planes in y and z; what is not the rank's own.
  const std::uint64_t row = 5 * 4 * (15 - 4);
  const std::uint64_t row_back = row;
  const std::uint64_t column = 4 * 5 * (15 - 5);
  EXPECT_EQ(bytes, 3 * 16 * (row + row_back + 2 * column));
}

TEST(HaccSkeleton, ARankAloneComputesTheSamePhases) {
  EXPECT_EQ(test::stream_of(*make_application("hacc", kSmall, 1), 0, 1).phases,
            test::stream_of(*make_application("hacc", kSmall, 12), 3, 12).phases);
}

}  // namespace
}  // namespace manynode::hacc
