#include "message_tags.hpp"

#include <set>

#include <gtest/gtest.h>

#include "manynode/call.hpp"
#include "manynode/error_report.hpp"
#include "manynode/primitive.hpp"

namespace manynode::sst_element {
namespace {

TEST(MessageTags, TellContextsApart) {
  std::set<std::uint32_t> tags;
  for (const std::uint16_t communicator : {0, 1, 2, 4095}) {
    for (const std::int32_t tag : {0, 1, 4095}) {
      const std::uint16_t context = point_to_point_context(communicator);
      EXPECT_TRUE(tags.insert(message_tag(context, tag)).second);
      EXPECT_TRUE(tags.insert(message_tag(static_cast<std::uint16_t>(context + 1), tag)).second);
    }
  }
}

TEST(MessageTags, LeaveAloneWhatFireflyUses) {
  for (const std::uint16_t context : {0, 1, 2, 3, 8190, 8191}) {
    const std::uint32_t upper = message_tag(context, 4095) >> 28;
    EXPECT_TRUE(upper == 0 || upper >= 7) << upper;
  }
  EXPECT_EQ(message_tag(0, 0x7ffffffe), 0xfffffffeu) << "the largest; the next one is firefly's AnyTag";
}

TEST(MessageTags, TellRemoteOperationsAndWindowsApart) {
  std::set<std::uint32_t> tags = {message_tag(1, 0), message_tag(1, 2047), message_tag(2, 0), message_tag(2, 65535)};
  for (const std::int32_t window : {0, 1, 2}) {
    EXPECT_TRUE(tags.insert(message_tag(1, kFirstWindowTag | window)).second);
    EXPECT_TRUE(tags.insert(message_tag(3, kFirstWindowTag | window)).second);
  }
  for (const RemotePart part : {RemotePart::Request, RemotePart::Data, RemotePart::Reply}) {
    for (const std::uint32_t number : {0u, 1u, 16383u}) EXPECT_TRUE(tags.insert(remote_tag(part, number)).second);
  }
}

TEST(MessageTags, OfCollectivesBeginAgainAfterTwoThousand) {
  EXPECT_EQ(message_tag(1, 5), message_tag(1, 5 + 2048));
  EXPECT_NE(message_tag(1, 5), message_tag(3, 5));
}

TEST(MessageTags, RefuseWhatDoesNotFit) {
  EXPECT_THROW(message_tag(0, kAnyTag), UserError);
  EXPECT_THROW(message_tag(0, 0x7fffffff), UserError);
  EXPECT_THROW(message_tag(0, -7), UserError);
  EXPECT_THROW(message_tag(2, 65'536), UserError);
  EXPECT_THROW(message_tag(point_to_point_context(4096), 0), UserError);
}

TEST(MessageSizes, AreWhatFireflyCanCount) {
  EXPECT_EQ(message_size(2'147'483'647, CallKind::Send), 2'147'483'647u);
  EXPECT_THROW(message_size(2'147'483'648, CallKind::Send), UserError);
}

TEST(EmberRanks, RunNodeByNode) {
  network::JobConfig job;
  job.nodes = 3;
  job.ranks_per_node = 4;
  job.rank_order = network::RankOrder::Cyclic;
  EXPECT_EQ(ember_rank(job, 0), 0u);
  EXPECT_EQ(ember_rank(job, 1), 4u) << "the first rank of node 1";
  EXPECT_EQ(ember_rank(job, 3), 1u) << "the second rank of node 0";
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) EXPECT_EQ(rank_of_ember(job, ember_rank(job, rank)), rank);
  job.rank_order = network::RankOrder::Block;
  EXPECT_EQ(ember_rank(job, 7), 7u);
  job.rank_order = network::RankOrder::Listed;
  job.slots = {11, 3, 7, 0, 1, 2, 4, 5, 6, 8, 9, 10};
  EXPECT_EQ(ember_rank(job, 0), 11u) << "the last slot of the last node";
  for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) EXPECT_EQ(rank_of_ember(job, ember_rank(job, rank)), rank);
}

}  // namespace
}  // namespace manynode::sst_element
