// Sparse matrix times multivector: whom a rank faces, and what a whole run of the skeleton must satisfy.
#include "application_stream.hpp"
#include "manynode/error_report.hpp"
#include "spmv/geometry.hpp"
#include "spmv/skeleton.hpp"

namespace manynode::spmv {
namespace {

TEST(SpmvGeometry, SixNeighboursInsideAndThreeInACorner) {
  const Triple grid = process_grid(64);
  EXPECT_EQ(grid, (Triple{4, 4, 4}));
  std::vector<int> ranks;
  for (const Face& face : faces(grid, 21)) {  // at (1, 1, 1)
    ranks.push_back(face.rank);
  }
  EXPECT_EQ(ranks, (std::vector<int>{5, 17, 20, 22, 25, 37}));
  EXPECT_EQ(faces(grid, 0).size(), 3U);
  EXPECT_EQ(faces({1, 1, 2}, 0).size(), 1U);
}

Parameters small(std::int64_t norms = 0) {
  return Parameters({{"nx", std::int64_t{2}},
                     {"ny", std::int64_t{3}},
                     {"nz", std::int64_t{4}},
                     {"columns", std::int64_t{5}},
                     {"iterations", std::int64_t{3}},
                     {"norms", norms}});
}

TEST(SpmvSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 6, 8, 12, 27, 64}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    test::run_to_the_end(*make_application("spmv", small(), size), size);
  }
}

TEST(SpmvSkeleton, ThePapersMessagesHold25PointsOf100Columns) {
  const test::Stream stream = test::stream_of(*make_application("spmv", Parameters(), 64), 21, 64);
  int sends = 0;
  for (const Call& call : stream.calls) {
    if (call.kind == CallKind::Isend) {
      EXPECT_EQ(call.bytes, 5U * 5 * 100 * 8);
      ++sends;
    }
    EXPECT_NE(call.kind, CallKind::Alltoall);
  }
  EXPECT_EQ(sends, 6 * (100 + 1));
  EXPECT_EQ(stream.count("multiply"), 100);
  EXPECT_EQ(stream.count("pack"), 101);
  EXPECT_EQ(stream.steps, 100);
}

TEST(SpmvSkeleton, AFaceHasThePointsOfTheOtherTwoAxes) {
  const test::Stream stream = test::stream_of(*make_application("spmv", small(), 8), 0, 8);
  std::vector<std::uint64_t> bytes;
  for (const Call& call : stream.calls) {
    if (call.kind == CallKind::Isend && bytes.size() < 3) {
      bytes.push_back(call.bytes / 8 / 5);
    }
  }
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{3 * 4, 2 * 4, 2 * 3}));
}

TEST(SpmvSkeleton, NormsAreAnAllreduceOfAllColumnsPerProduct) {
  const auto reductions = [](std::int64_t norms) {
    const test::Stream stream = test::stream_of(*make_application("spmv", small(norms), 2), 0, 2);
    std::vector<std::uint64_t> bytes;
    for (const Call& call : stream.calls) {
      if (call.kind == CallKind::Allreduce) {
        bytes.push_back(call.bytes);
      }
    }
    return bytes;
  };
  EXPECT_EQ(reductions(0), (std::vector<std::uint64_t>{24}));
  EXPECT_EQ(reductions(1), (std::vector<std::uint64_t>{40, 40, 40, 24}));
}

TEST(SpmvSkeleton, ARankAlonePacksNothing) {
  const auto alone = make_application("spmv", small(), 1);
  EXPECT_EQ(alone->phases(), (std::vector<std::string>{"setup", "multiply", "fill", "check"}));
  EXPECT_EQ(test::stream_of(*alone, 0, 1).phases,
            (std::vector<std::string>{"setup", "multiply", "multiply", "multiply", "fill", "check"}));
}

TEST(SpmvSkeleton, AMultivectorThatIsTooLongIsRefused) {
  const std::int64_t most = 1024;
  EXPECT_THROW(make_application("spmv", Parameters({{"nx", most}, {"ny", most}, {"nz", most}}), 1), UserError);
}

}  // namespace
}  // namespace manynode::spmv
