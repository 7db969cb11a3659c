// Datatypes of the guest: which bytes travel, in which order, and where they end.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "channel_in_memory.h"

namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

std::vector<double> travelled(std::size_t bytes) {
  std::vector<double> values(bytes / sizeof(double));
  std::memcpy(values.data(), channel_content(), bytes);
  return values;
}

using Doubles = std::vector<double>;

TEST(Datatype, ContiguousDataTravelsAsItIs) {
  const Doubles data = counted(6);
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_DOUBLE, &three);
  EXPECT_EQ(travelled(channel_put(data.data(), 2, three)), data);
  MPI_Type_free(&three);
}

TEST(Datatype, AVectorTravelsWithoutItsGapsAndLeavesThemAlone) {
  const Doubles data = counted(12);
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &column);
  EXPECT_EQ(travelled(channel_put(data.data() + 1, 1, column)), (Doubles{1, 5, 9}));
  Doubles target(12, -1);
  EXPECT_EQ(channel_get(target.data(), 1, column, 24), 0u);
  EXPECT_EQ(target, (Doubles{1, -1, -1, -1, 5, -1, -1, -1, 9, -1, -1, -1}));
  MPI_Type_free(&column);
}

TEST(Datatype, ItemsFollowEachOtherByTheirExtent) {
  const Doubles data = counted(14);
  MPI_Datatype pairs, narrow;
  MPI_Type_vector(2, 2, 3, MPI_DOUBLE, &pairs);
  MPI_Aint lb, extent;
  int size;
  MPI_Type_get_extent(pairs, &lb, &extent);
  MPI_Type_size(pairs, &size);
  EXPECT_EQ(lb, 0);
  EXPECT_EQ(extent, 5 * 8);
  EXPECT_EQ(size, 4 * 8);
  EXPECT_EQ(travelled(channel_put(data.data(), 2, pairs)), (Doubles{0, 1, 3, 4, 5, 6, 8, 9}));
  MPI_Type_create_resized(pairs, 0, 7 * 8, &narrow);
  EXPECT_EQ(travelled(channel_put(data.data(), 2, narrow)), (Doubles{0, 1, 3, 4, 7, 8, 10, 11}));
  MPI_Type_free(&pairs);
  MPI_Type_free(&narrow);
}

TEST(Datatype, VectorsOfVectorsNest) {
  // the face x = 1 of a 2 x 3 x 2 block within 4 x 3 x 2 points
  const Doubles data = counted(24);
  MPI_Datatype line, face;
  MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &line);
  MPI_Type_create_hvector(2, 1, 12 * 8, line, &face);
  EXPECT_EQ(travelled(channel_put(data.data() + 1, 1, face)), (Doubles{1, 5, 9, 13, 17, 21}));
  MPI_Type_free(&line);
  EXPECT_TRUE(datatype_is_alive(face));
  EXPECT_EQ(travelled(channel_put(data.data(), 1, face)), (Doubles{0, 4, 8, 12, 16, 20})) << "its part was freed";
  MPI_Type_free(&face);
}

TEST(Datatype, AVectorWithoutGapsIsContiguous) {
  Doubles target(2000, -1);
  const Doubles data = counted(2000);
  MPI_Datatype all;
  MPI_Type_vector(500, 4, 4, MPI_DOUBLE, &all);
  channel_put(data.data(), 1, all);
  channel_get(target.data(), 1, all, 16000);
  EXPECT_EQ(target, data);
  EXPECT_EQ(channel_longest_get(), 16000u) << "straight to its place";
  MPI_Type_free(&all);
}

TEST(Datatype, LongDataWithGapsComesInPiecesOfOnePage) {
  std::vector<char> data(30000), target(30000, 7), expected(30000, 7);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31);
  MPI_Datatype odd;
  MPI_Type_vector(2000, 7, 15, MPI_CHAR, &odd);
  EXPECT_EQ(channel_put(data.data() + 1, 1, odd), 14000u);
  channel_get(target.data() + 1, 1, odd, 14000);
  EXPECT_EQ(channel_longest_get(), 4096u);
  for (std::size_t i = 0; i < 2000; ++i) {
    for (std::size_t k = 0; k < 7; ++k) expected[1 + 15 * i + k] = data[1 + 15 * i + k];
  }
  EXPECT_EQ(target, expected);
  MPI_Type_free(&odd);
}

TEST(Datatype, AShortMessageFillsTheBufferFromItsStart) {
  const Doubles data = counted(9);
  Doubles target(9, -1);
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 3, MPI_DOUBLE, &column);
  channel_put(data.data(), 2, MPI_DOUBLE);
  channel_get(target.data(), 1, column, 16);
  EXPECT_EQ(target, (Doubles{0, -1, -1, 1, -1, -1, -1, -1, -1}));
  MPI_Type_free(&column);
}

TEST(Datatype, BlocksOfACollectiveHaveTheirCountsAndDisplacements) {
  const Doubles data = counted(10);
  const int counts[] = {2, 0, 3}, displs[] = {6, 5, 0};
  EXPECT_EQ(travelled(channel_put_blocks(data.data(), counts, displs, 3, MPI_DOUBLE)), (Doubles{6, 7, 0, 1, 2}));
  Doubles target(10, -1);
  EXPECT_EQ(channel_get_blocks(target.data(), counts, displs, 3, MPI_DOUBLE, 40), 0u);
  EXPECT_EQ(target, (Doubles{0, 1, 2, -1, -1, -1, 6, 7, -1, -1}));
}

TEST(Datatype, PairsTravelWithTheirGap) {
  struct {
    double value;
    int index;
  } pairs[2] = {{1.5, 3}, {2.5, 4}};
  EXPECT_EQ(channel_put(pairs, 2, MPI_DOUBLE_INT), sizeof pairs);
  int size;
  MPI_Type_size(MPI_DOUBLE_INT, &size);
  EXPECT_EQ(size, 12);
}

TEST(Datatype, NothingTravelsOfNothing) {
  MPI_Datatype none;
  MPI_Type_contiguous(0, MPI_DOUBLE, &none);
  EXPECT_EQ(channel_put(nullptr, 5, none), 0u);
  EXPECT_EQ(channel_put(nullptr, 0, MPI_DOUBLE), 0u);
  MPI_Type_free(&none);
}

TEST(Datatype, IsFreedWhenItsLastUserLetsGo) {
  MPI_Datatype row;
  MPI_Type_contiguous(4, MPI_INT, &row);
  const MPI_Datatype handle = row;
  datatype_hold(row);
  MPI_Type_free(&row);
  EXPECT_EQ(row, MPI_DATATYPE_NULL);
  EXPECT_TRUE(datatype_is_alive(handle)) << "a request still uses it";
  datatype_release(handle);
  EXPECT_FALSE(datatype_is_alive(handle));
}

TEST(Datatype, MakingAndFreeingGoesOnForever) {
  MPI_Datatype first = MPI_DATATYPE_NULL, last = MPI_DATATYPE_NULL;
  for (int i = 0; i < 100000; ++i) {
    MPI_Datatype row;
    MPI_Type_vector(4, 1, 2, MPI_INT, &row);
    (i == 0 ? first : last) = row;
    MPI_Type_free(&row);
  }
  EXPECT_EQ(first, last);
}

TEST(Datatype, WrongArgumentsAreErrors) {
  MPI_Datatype made = MPI_DATATYPE_NULL, basic = MPI_INT, none = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_vector(2, 1, -3, MPI_INT, &made), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_contiguous(1, 4711, &made), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_free(&basic), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_commit(&none), MPI_ERR_TYPE);
}

TEST(GetCount, CountsWholeItemsOnly) {
  MPI_Status status{};
  status.mb_bytes = 40;
  int count = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  EXPECT_EQ(count, 5);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Get_count(&status, pair, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
  MPI_Get_elements(&status, pair, &count);
  EXPECT_EQ(count, 5);
  MPI_Type_free(&pair);
}

}  // namespace
