// Caffe's training: the tree and the sizes that program and skeleton share, the encoding, and the skeleton's calls.
#include <algorithm>
#include <cmath>
#include <map>

#include "caffe/app_codec.hpp"
#include "caffe/settings.hpp"
#include "manynode/skeleton.hpp"
#include "matcher.hpp"

namespace manynode::caffe {
namespace {

TEST(CaffeTree, ParentsAndChildrenAreMutual) {
  for (int size = 1; size <= 70; ++size) {
    int edges = 0;
    for (int rank = 0; rank < size; ++rank) {
      for (const int child : {child_of(rank, 0, size), child_of(rank, 1, size)}) {
        if (child != kNobody) {
          EXPECT_EQ(parent_of(child), rank);
          EXPECT_LT(height_of(child, size), height_of(rank, size));
          ++edges;
        }
      }
    }
    EXPECT_EQ(edges, size - 1);
  }
}

TEST(CaffeTree, TheHeightIsTheLogarithmOfTheRanks) {
  EXPECT_EQ(height_of(0, 1), 0);
  EXPECT_EQ(height_of(0, 2), 1);
  EXPECT_EQ(height_of(0, 7), 2);
  EXPECT_EQ(height_of(0, 8), 3);
  EXPECT_EQ(height_of(0, 64), 6);
  EXPECT_EQ(height_of(63, 64), 0);
}

TEST(CaffeCodec, ABlockTakesAByteForEachNumberAndAScale) {
  EXPECT_EQ(encoded_bytes(1), 1 + 4);
  EXPECT_EQ(encoded_bytes(256), 256 + 4);
  EXPECT_EQ(encoded_bytes(257), 257 + 8);
}

TEST(CaffeCodec, WhatComesBackDiffersByHalfAStepAtMost) {
  Numbers numbers(600);  // two blocks and a part
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::sin(static_cast<double>(i)) * (i < 256 ? 1e-3 : 10);
  }
  Encoded encoded(static_cast<std::size_t>(encoded_bytes(600)));
  encode(numbers, encoded);
  Numbers back(numbers.size());
  decode(encoded, false, back);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double largest = i < 256 ? 1e-3 : 10;
    EXPECT_NEAR(back[i], numbers[i], 1.001 * largest / 254);
  }
  decode(encoded, true, back);
  EXPECT_NEAR(back[500], 2 * numbers[500], 2.002 * 10 / 254);
}

TEST(CaffeCodec, ABlockOfZerosStaysZero) {
  Encoded encoded(static_cast<std::size_t>(encoded_bytes(300)), std::byte{1});
  encode(Numbers(300, 0.0), encoded);
  Numbers back(300, 1.0);
  decode(encoded, false, back);
  EXPECT_EQ(back, Numbers(300, 0.0));
}

const Parameters kSmall({{"side", std::int64_t{8}}, {"filters", std::int64_t{2}}, {"iterations", std::int64_t{3}}});

struct Emitted {
  std::vector<std::vector<Primitive>> programs;             // [rank]
  std::vector<std::map<std::string, int>> phases;           // [rank]
  std::vector<std::map<CallKind, std::uint64_t>> messages;  // [rank]: those to or from somebody
};

Emitted run(int size) {
  const auto application = make_application("caffe", kSmall, size);
  const std::vector<std::string> names = application->phases();
  Emitted result;
  const CollectiveChoice choice;
  for (int rank = 0; rank < size; ++rank) {
    Communicators communicators(rank, size);
    Lowering lowering(rank, choice, communicators);
    const auto skeleton = application->make(rank, size);
    auto& program = result.programs.emplace_back();
    auto& phases = result.phases.emplace_back();
    auto& messages = result.messages.emplace_back();
    for (bool more = true; more;) {
      Calls calls;
      Mpi mpi(rank, size, calls, communicators);
      more = skeleton->step(mpi);
      for (const Call& call : calls.calls) {
        lowering.lower(call, calls, program);
        if (call.kind == CallKind::Compute) {
          ++phases[names.at(call.first)];
        } else if (call.peer >= 0) {
          ++messages[call.kind];
        }
      }
    }
  }
  return result;
}

TEST(CaffeSkeleton, EveryMessageFindsItsReceiver) {
  for (const int size : {1, 2, 3, 4, 5, 8, 12, 31, 64}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    test::Matcher(run(size).programs, test::SendMode::Rendezvous).run();
  }
}

TEST(CaffeSkeleton, EveryRankHasEveryPhaseOfEveryLayer) {
  for (const int size : {1, 2, 7, 64}) {
    const Emitted result = run(size);
    for (const auto& phases : result.phases) {
      const std::map<std::string, int> expected = {{"setup", 1},   {"forward", 3}, {"backward", 12}, {"decode", 12},
                                                   {"encode", 12}, {"apply", 12},  {"check", 1}};
      EXPECT_EQ(phases, expected);
    }
  }
}

TEST(CaffeSkeleton, EachLayerGoesOverEachEdgeOnceUpAndOnceDown) {
  constexpr int kSize = 12;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const auto& messages : run(kSize).messages) {
    sent += messages.contains(CallKind::Isend) ? messages.at(CallKind::Isend) : 0;
    received += messages.contains(CallKind::Irecv) ? messages.at(CallKind::Irecv) : 0;
  }
  EXPECT_EQ(sent, 3U * kLayers * 2 * (kSize - 1));
  EXPECT_EQ(received, sent);
}

TEST(CaffeSkeleton, ImagesThatCannotBePooledTwiceAreRefused) {
  try {
    make_application("caffe", Parameters({{"side", std::int64_t{10}}}), 2);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "side");
    EXPECT_EQ(error.found, "10");
    EXPECT_EQ(error.allowed, "integer, at least 4, at most 1024, a multiple of 4");
  }
}

}  // namespace
}  // namespace manynode::caffe
