// Arithmetic of the markers library where no hardware counter can be read.
#include "counter_math.h"
#include "format.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace {

TEST(CombineRdpmc, AddsTheCounterToTheOffset) { EXPECT_EQ(mk_combine_rdpmc(1000, 234, 48), 1234u); }

TEST(CombineRdpmc, ExtendsTheSignOfANarrowCounter) {
  // the kernel starts a 48-bit counter at -100: it reads 2^48 - 100, and the event has counted nothing yet
  EXPECT_EQ(mk_combine_rdpmc(100, (1ull << 48) - 100, 48), 0u);
  EXPECT_EQ(mk_combine_rdpmc(100, (1ull << 48) - 1, 48), 99u);
  EXPECT_EQ(mk_combine_rdpmc(100, 0, 48), 100u);
}

TEST(CombineRdpmc, IgnoresBitsAboveTheWidth) { EXPECT_EQ(mk_combine_rdpmc(0, (7ull << 48) | 5, 48), 5u); }

TEST(CombineRdpmc, BearsEveryWidth) {
  EXPECT_EQ(mk_combine_rdpmc(3, ~0ull, 64), 2u);
  EXPECT_EQ(mk_combine_rdpmc(7, 99, 0), 7u);
  EXPECT_EQ(mk_combine_rdpmc(7, 99, 65), 7u);
}

TEST(Delta, IsTheDifferenceAndNeverWrapsAround) {
  EXPECT_EQ(mk_delta(10, 25), 15u);
  EXPECT_EQ(mk_delta(25, 25), 0u);
  EXPECT_EQ(mk_delta(25, 10), 0u);
  EXPECT_EQ(mk_delta(0, UINT64_MAX), UINT64_MAX);
}

TEST(Scale, ExtrapolatesAGroupThatSharedTheCounters) {
  EXPECT_EQ(mk_scale(500, 1000, 1000), 500u);
  EXPECT_EQ(mk_scale(500, 1000, 250), 2000u);
  EXPECT_EQ(mk_scale(1, 3, 2), 2u) << "rounds to nearest";
}

TEST(Scale, BearsTheExtremes) {
  EXPECT_EQ(mk_scale(500, 1000, 0), 0u);
  EXPECT_EQ(mk_scale(500, 10, 1000), 500u) << "running longer than enabled is a rounding of the kernel's";
  EXPECT_EQ(mk_scale(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX);
}

TEST(ParseNumber, TakesDecimalNumbersAndNothingElse) {
  EXPECT_EQ(mk_parse_number("0", 9), 0u);
  EXPECT_EQ(mk_parse_number("18446744073709551615", 9), UINT64_MAX);
  for (const char* wrong : {"", "-1", "1e6", " 1", "18446744073709551616", "99999999999999999999999"})
    EXPECT_EQ(mk_parse_number(wrong, 9), 9u) << wrong;
  EXPECT_EQ(mk_parse_number(nullptr, 9), 9u);
}

TEST(SumWords, FindsEveryFlippedBit) {
  unsigned char data[64];
  for (std::size_t i = 0; i < sizeof data; i++) data[i] = static_cast<unsigned char>(i * 37);
  const auto right = mk_sum_words(0, data, sizeof data);
  for (std::size_t bit = 0; bit < 8 * sizeof data; bit++) {
    data[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
    EXPECT_NE(mk_sum_words(0, data, sizeof data), right) << bit;
    data[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
  }
}

TEST(SumWords, ContinuesOverPiecesAndNeedsNoAlignment) {
  unsigned char data[65] = {};
  std::memset(data + 1, 0xab, 64);
  EXPECT_EQ(mk_sum_words(mk_sum_words(0, data + 1, 24), data + 25, 40), mk_sum_words(0, data + 1, 64));
}

TEST(Format, HasTheDocumentedLayout) {
  EXPECT_EQ(offsetof(mk_file_header, checksum), 120u);
  EXPECT_EQ(offsetof(mk_record, call_site), 32u);
  EXPECT_EQ(offsetof(mk_record, flags), 62u);
  EXPECT_EQ(offsetof(mk_record, request), 68u);
  EXPECT_EQ(sizeof(mk_file_end), 24u);
}

}  // namespace
