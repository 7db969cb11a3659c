// The form of what guest and proxy say to each other: changing it needs another MB_MAGIC.
#include "wire.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

TEST(Wire, HasTheFormThatItsMagicStandsFor) {
  EXPECT_EQ(MB_MAGIC, 0x3142424du);
  EXPECT_EQ(sizeof(mb_header), 128u);
  EXPECT_EQ(offsetof(mb_header, call), 4u);
  EXPECT_EQ(offsetof(mb_header, entry_ns), 8u);
  EXPECT_EQ(offsetof(mb_header, list_count), 32u);
  EXPECT_EQ(offsetof(mb_header, payload_bytes), 40u);
  EXPECT_EQ(offsetof(mb_header, word), 48u);
  EXPECT_EQ(sizeof(mb_helper_command), 24u);
  EXPECT_EQ(sizeof(mb_helper_done), 16u);
}

TEST(Wire, ARequestWithoutDataIsWrittenAtOnce) {
  // a header, the longest name of a compute phase and a list of a hundred numbers
  EXPECT_LE(sizeof(mb_header) + 204 + 100 * sizeof(std::int64_t), static_cast<std::size_t>(MB_PIECE));
}

TEST(Wire, NonblockingCollectivesAreAsFarFromTheirBlockingOnesAsTheProxyThinks) {
  const int distance = MB_Ibarrier - MB_Barrier;
  EXPECT_EQ(MB_Ibcast - MB_Bcast, distance);
  EXPECT_EQ(MB_Ireduce - MB_Reduce, distance);
  EXPECT_EQ(MB_Iallreduce - MB_Allreduce, distance);
  EXPECT_EQ(MB_Igather - MB_Gather, distance);
  EXPECT_EQ(MB_Igatherv - MB_Gatherv, distance);
  EXPECT_EQ(MB_Iscatter - MB_Scatter, distance);
  EXPECT_EQ(MB_Iscatterv - MB_Scatterv, distance);
  EXPECT_EQ(MB_Iallgather - MB_Allgather, distance);
  EXPECT_EQ(MB_Iallgatherv - MB_Allgatherv, distance);
  EXPECT_EQ(MB_Ialltoall - MB_Alltoall, distance);
  EXPECT_EQ(MB_Ialltoallv - MB_Alltoallv, distance);
  EXPECT_EQ(MB_Ireduce_scatter - MB_Reduce_scatter, distance);
  EXPECT_EQ(MB_Ireduce_scatter_block - MB_Reduce_scatter_block, distance);
  EXPECT_EQ(MB_Iscan - MB_Scan, distance);
  EXPECT_EQ(MB_Iexscan - MB_Exscan, distance);
}

TEST(Wire, BasicTypesAreNumberedWithoutGap) {
  int next = 1;
#define X(number, name, type, bytes) \
  EXPECT_EQ(number, next++);         \
  EXPECT_LE(static_cast<std::size_t>(bytes), sizeof(type));
  MB_BASIC_TYPES(X)
#undef X
  EXPECT_EQ(next, static_cast<int>(MB_BASIC_TYPE_COUNT));
}

}  // namespace
