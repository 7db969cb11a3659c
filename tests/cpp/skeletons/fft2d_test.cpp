// FFT2d: the shape of the matrix that program and skeleton share, and what the skeleton's calls must satisfy.
#include "fft2d/shape.hpp"

#include <numeric>

#include "manynode/skeleton.hpp"
#include "matcher.hpp"

namespace manynode::fft2d {
namespace {

TEST(Fft2dShape, RowsGrowLongerWithTheNumberOfRanksAsInThePaper) {
  constexpr std::int64_t kElements = 32 << 10;
  EXPECT_EQ(shape(kElements, 128).rows_per_rank, 16);  // Eyerman et al., section 5.1: 4 nodes of 32 ranks
  EXPECT_EQ(shape(kElements, 128).columns, 2048);
  EXPECT_EQ(shape(kElements, 256).rows_per_rank, 8);  // 8 nodes
  EXPECT_EQ(shape(kElements, 256).columns, 4096);
}

TEST(Fft2dShape, EveryRankHasItsElementsInRowsAndSomeColumns) {
  for (const std::int64_t elements : {1, 7, 12, 96, 1000, 32768}) {
    for (int ranks = 1; ranks <= std::min<std::int64_t>(elements, 300); ++ranks) {
      const Shape of_all = shape(elements, ranks);
      EXPECT_EQ(of_all.rows_per_rank * of_all.columns, elements);
      EXPECT_LE(of_all.rows(), of_all.columns);
      std::int64_t columns = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(of_all.first_column(rank), columns);
        EXPECT_GE(of_all.columns_of(rank), 1);
        columns += of_all.columns_of(rank);
      }
      EXPECT_EQ(columns, of_all.columns);
    }
  }
}

TEST(Fft2dShape, MoreRanksThanElementsAreRefused) {
  try {
    make_application("fft2d", Parameters({{"elements", std::int64_t{4}}}), 5);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "elements");
    EXPECT_EQ(error.found, "4");
    EXPECT_EQ(error.allowed, "at least 5, the number of ranks");
  }
}

Calls calls_of(const Application& application, int rank, int size) {
  Communicators communicators(rank, size);
  Calls calls;
  Mpi mpi(rank, size, calls, communicators);
  const auto skeleton = application.make(rank, size);
  while (skeleton->step(mpi)) {
  }
  return calls;
}

const Parameters kSmall({{"elements", std::int64_t{96}}, {"iterations", std::int64_t{3}}});

TEST(Fft2dSkeleton, WhatARankSendsAnotherIsWhatThatReceives) {
  for (const int size : {5, 7, 9}) {
    const auto application = make_application("fft2d", kSmall, size);
    std::vector<Calls> all;
    for (int rank = 0; rank < size; ++rank) {
      all.push_back(calls_of(*application, rank, size));
    }
    int compared = 0;
    for (std::size_t i = 0; i < all[0].calls.size(); ++i) {
      if (all[0].calls[i].kind != CallKind::Alltoallv) {
        continue;
      }
      for (std::size_t from = 0; from < all.size(); ++from) {
        for (std::size_t to = 0; to < all.size(); ++to) {
          EXPECT_EQ(all[from].sent(all[from].calls[i])[to], all[to].received(all[to].calls[i])[from]);
          ++compared;
        }
      }
    }
    EXPECT_EQ(compared, 2 * 3 * size * size);
  }
}

TEST(Fft2dSkeleton, ARankSendsItsWholePartInEachTransposition) {
  const auto application = make_application("fft2d", kSmall, 4);  // 4 rows of 24 columns each
  for (const Call& call : calls_of(*application, 1, 4).calls) {
    if (call.kind == CallKind::Alltoall) {
      EXPECT_EQ(4 * call.bytes, 96 * 16);
    }
    EXPECT_NE(call.kind, CallKind::Alltoallv);
  }
}

}  // namespace
}  // namespace manynode::fft2d
