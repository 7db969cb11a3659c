// Collectives with bytes by rank or by neighbour, and scans: the right data arrives, for uneven and empty shares.
#include <bit>
#include <functional>

#include "chosen.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

// Uneven shares; in the second case some are empty, in the third all but one.
using Share = std::uint64_t (*)(int rank);
constexpr Share kShares[] = {[](int rank) { return std::uint64_t{8} * static_cast<unsigned>(rank * rank + 1); },
                             [](int rank) { return static_cast<std::uint64_t>(rank % 3) * 400; },
                             [](int rank) { return std::uint64_t{rank == 1 ? 70'000u : 0u}; }};

std::vector<std::uint64_t> all_shares(Share share, int size) {
  std::vector<std::uint64_t> bytes;
  for (int rank = 0; rank < size; ++rank) bytes.push_back(share(rank));
  return bytes;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::vector<std::string> with_auto(const std::string& collective) {
  std::vector<std::string> names = collective_algorithms(collective);
  names.emplace_back("auto");
  return names;
}

using ShareCheck = std::function<void(const Matcher&, int size, Share share)>;

void for_every_share(const CollectiveChoice& choice, const std::function<void(Mpi&, Share)>& emit,
                     const ShareCheck& check) {
  for (int size = 1; size <= 9; ++size) {
    for (const Share share : kShares) {
      for (const SendMode mode : {SendMode::Eager, SendMode::Rendezvous}) {
        SCOPED_TRACE(std::to_string(size) + " ranks, rank 1 has " + std::to_string(share(1)) + " bytes");
        Matcher matcher(lowered(size, choice, [&](Mpi& mpi) { emit(mpi, share); }), mode);
        matcher.run();
        check(matcher, size, share);
      }
    }
  }
}

TEST(Counts, AnAllgathervBringsEveryShareToEverybody) {
  for (const std::string& name : with_auto("allgather")) {
    SCOPED_TRACE(name);
    for_every_share(
        chosen("allgather", name), [](Mpi& mpi, Share share) { mpi.allgatherv(all_shares(share, mpi.size())); },
        [&](const Matcher& matcher, int size, Share share) {
          for (int rank = 0; rank < size; ++rank) {
            const std::uint64_t others = sum_of(all_shares(share, size)) - share(rank);
            if (name == "linear") {
              EXPECT_GE(matcher.bytes_received(rank), others) << "the broadcast brings the own share back";
            } else {
              EXPECT_EQ(matcher.bytes_received(rank), others);
            }
            for (int from = 0; from < size; ++from) {
              EXPECT_TRUE(share(from) == 0 || matcher.known(rank)[static_cast<std::size_t>(from)] > 0)
                  << from << " to " << rank;
            }
          }
        });
  }
}

TEST(Counts, AReduceScatterCombinesEachContributionToEachShareOnce) {
  for (const std::string& name : with_auto("reduce_scatter")) {
    SCOPED_TRACE(name);
    for_every_share(
        chosen("reduce_scatter", name),
        [](Mpi& mpi, Share share) { mpi.reduce_scatter(all_shares(share, mpi.size())); },
        [&](const Matcher& matcher, int size, Share share) {
          const std::uint64_t combined = static_cast<std::uint64_t>(size - 1) * sum_of(all_shares(share, size));
          if (name == "recursive_doubling") {
            EXPECT_GE(matcher.bytes_combined(), combined);
          } else {
            EXPECT_EQ(matcher.bytes_combined(), combined);
          }
          for (int rank = 0; rank < size && name != "auto"; ++rank) {
            const Known& known = matcher.known(rank);
            // At the ring, contributions pass only with shares that are not empty.
            if (share(rank) > 0) {
              EXPECT_TRUE(std::all_of(known.begin(), known.end(), [](auto times) { return times > 0; })) << rank;
            }
            if (size > 1 && (name == "at_root" ? rank > 0 : name != "recursive_halving")) {
              EXPECT_GE(matcher.bytes_received(rank), share(rank));
            }
          }
        });
  }
}

TEST(Counts, AGathervBringsEveryShareToTheRoot) {
  for (const bool last : {false, true}) {
    const auto root_of = [last](int size) { return last ? size - 1 : 0; };
    for_every_share(
        {},
        [&](Mpi& mpi, Share share) {
          const bool is_root = mpi.rank() == root_of(mpi.size());
          mpi.gatherv(share(mpi.rank()), is_root ? all_shares(share, mpi.size()) : std::vector<std::uint64_t>(),
                      root_of(mpi.size()));
        },
        [&](const Matcher& matcher, int size, Share share) {
          const int root = root_of(size);
          EXPECT_EQ(matcher.bytes_received(root), sum_of(all_shares(share, size)) - share(root));
          for (int rank = 0; rank < size; ++rank) {
            EXPECT_EQ(matcher.known(root)[static_cast<std::size_t>(rank)], rank == root || share(rank) > 0 ? 1U : 0U);
            EXPECT_EQ(matcher.bytes_sent(rank), rank == root ? 0 : share(rank));
          }
        });
  }
}

TEST(Counts, AScattervLeavesEachRankItsShare) {
  for_every_share(
      {},
      [](Mpi& mpi, Share share) {
        const int root = mpi.size() / 2;
        mpi.scatterv(mpi.rank() == root ? all_shares(share, mpi.size()) : std::vector<std::uint64_t>(),
                     share(mpi.rank()), root);
      },
      [](const Matcher& matcher, int size, Share share) {
        for (int rank = 0; rank < size; ++rank) {
          EXPECT_EQ(matcher.bytes_received(rank), rank == size / 2 ? 0 : share(rank));
        }
      });
}

TEST(Counts, AnAlltoallwMovesTheStatedBytes) {
  const auto pair = [](int from, int to) { return static_cast<std::uint64_t>((from + 2 * to) % 3 * 100); };
  for (const std::string& name : with_auto("alltoall")) {
    for (int size = 2; size <= 9; ++size) {
      Matcher matcher(lowered(size, chosen("alltoall", name),
                              [&](Mpi& mpi) {
                                std::vector<std::uint64_t> sent;
                                std::vector<std::uint64_t> received;
                                for (int other = 0; other < size; ++other) {
                                  sent.push_back(pair(mpi.rank(), other));
                                  received.push_back(pair(other, mpi.rank()));
                                }
                                mpi.alltoallw(sent, received);
                              }),
                      SendMode::Rendezvous);
      matcher.run();
      for (int rank = 0; rank < size; ++rank) {
        std::uint64_t expected = 0;
        for (int other = 0; other < size; ++other) expected += other == rank ? 0 : pair(other, rank);
        EXPECT_EQ(matcher.bytes_received(rank), expected);
      }
    }
  }
}

TEST(Scans, EachRankCombinesWhatComesFromBelowOnce) {
  for (const std::string& name : with_auto("scan")) {
    for (const bool exclusive : {false, true}) {
      for (int size = 1; size <= 17; ++size) {
        SCOPED_TRACE(name + (exclusive ? ", exscan, " : ", scan, ") + std::to_string(size) + " ranks");
        const auto programs =
            lowered(size, chosen("scan", name), [&](Mpi& mpi) { exclusive ? mpi.exscan(24) : mpi.scan(24); });
        Matcher matcher(programs, SendMode::Rendezvous);
        matcher.run();
        for (int rank = 0; rank < size; ++rank) {
          Known expected(static_cast<std::size_t>(size), 0);
          std::fill(expected.begin(), expected.begin() + rank, 1);
          EXPECT_EQ(matcher.from_below(rank), expected) << "rank " << rank;
          // Linear: the last rank has no one to send its combination to. Doubling: for each exchange one, and one more
          // for each from below, of which exscan copies the first.
          const auto combined = std::count_if(
              programs[static_cast<std::size_t>(rank)].begin(), programs[static_cast<std::size_t>(rank)].end(),
              [](const Primitive& primitive) { return primitive.kind == PrimitiveKind::ReduceLocal; });
          if (name == "linear") {
            EXPECT_EQ(combined, rank == 0 || (exclusive && rank == size - 1) ? 0 : 1);
          } else {
            const int below = std::popcount(static_cast<unsigned>(rank));
            int exchanges = 0;
            for (int bit = 1; bit < size; bit *= 2) exchanges += (rank ^ bit) < size ? 1 : 0;
            EXPECT_EQ(combined, exchanges + below - (exclusive && below > 0 ? 1 : 0));
          }
        }
      }
    }
  }
}

// A chain without wrap, and a ring in which a rank of two has the same neighbour twice and a rank of one itself.
struct Chain {
  Chain(int rank, int size, bool ring) {
    const int lower = ring ? (rank - 1 + size) % size : rank - 1;
    const int upper = ring ? (rank + 1) % size : rank + 1;
    ranks = {lower < 0 ? kProcNull : lower, upper >= size ? kProcNull : upper};
  }
  Neighbors neighbors() const { return {.sources = ranks, .destinations = ranks}; }
  std::vector<int> ranks;
};

TEST(Neighbors, GetWhatTheirNeighboursSendAndNothingFromNobody) {
  for (const bool ring : {false, true}) {
    for (int size = 1; size <= 9; ++size) {
      for (int form = 0; form < 5; ++form) {
        SCOPED_TRACE(std::to_string(size) + (ring ? " in a ring, form " : " in a chain, form ") + std::to_string(form));
        // From each rank to every neighbour; rank 3 has nothing to say where sizes may differ.
        const auto bytes_of = [&](int rank) { return form % 2 == 0 && rank == 3 ? 0 : std::uint64_t{100}; };
        Matcher matcher(lowered(size, {},
                                [&](Mpi& mpi) {
                                  const Chain chain(mpi.rank(), size, ring);
                                  const std::vector<std::uint64_t> sent(2, bytes_of(mpi.rank()));
                                  std::vector<std::uint64_t> received;
                                  for (const int rank : chain.ranks) received.push_back(bytes_of(rank));
                                  switch (form) {
                                    case 0:
                                      return mpi.neighbor_allgatherv(sent[0], received, chain.neighbors());
                                    case 1:
                                      return mpi.neighbor_allgather(100, chain.neighbors());
                                    case 2:
                                      return mpi.neighbor_alltoallv(sent, received, chain.neighbors());
                                    case 3:
                                      return mpi.neighbor_alltoall(100, chain.neighbors());
                                    default:
                                      return mpi.neighbor_alltoallw(sent, received, chain.neighbors());
                                  }
                                }),
                        SendMode::Rendezvous);
        matcher.run();
        for (int rank = 0; rank < size; ++rank) {
          std::uint64_t expected = 0;
          for (const int other : Chain(rank, size, ring).ranks) {
            if (other == kProcNull || other == rank) continue;
            expected += bytes_of(other);
            EXPECT_EQ(matcher.known(rank)[static_cast<std::size_t>(other)], bytes_of(other) > 0 ? 1U : 0U);
          }
          EXPECT_EQ(matcher.bytes_received(rank), expected);
        }
      }
    }
  }
}

TEST(Counts, OfTheWrongNumberAreADefectWithAName) {
  const std::vector<std::uint64_t> one(1);
  EXPECT_THROW(lowered(2, {}, [&](Mpi& mpi) { mpi.gatherv(1, one, 0); }), std::logic_error);
  EXPECT_THROW(lowered(2, {}, [&](Mpi& mpi) { mpi.allgatherv(one); }), std::logic_error);
  EXPECT_THROW(lowered(2, {}, [&](Mpi& mpi) { mpi.neighbor_alltoallv(one, {}, {}); }), std::logic_error);
}

}  // namespace
}  // namespace manynode::test
