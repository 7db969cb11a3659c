// Collectives on groups of ranks: a group of p ranks exchanges the messages of a world of p ranks.
#include <functional>

#include "chosen.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

constexpr int kWorldSize = 24;

struct Grouping {
  const char* name;
  std::function<Communicator(Mpi&)> make;
};

std::vector<Grouping> groupings() {
  static const Partition scrambled(kWorldSize, [](int rank) { return std::pair{rank % 5, rank * 7 % kWorldSize}; });
  return {
      {"odd and even", [](Mpi& mpi) { return mpi.strided(mpi.rank() % 2, 2, kWorldSize / 2); }},
      {"rows backwards", [](Mpi& mpi) { return mpi.strided(mpi.rank() / 8 * 8 + 7, -1, 8); }},
      {"columns of a grid", [](Mpi& mpi) { return mpi.cart_sub(mpi.cart(kWorld, std::array{4, 6}), {true, false}); }},
      {"planes with gaps",
       [](Mpi& mpi) { return mpi.cart_sub(mpi.cart(kWorld, std::array{2, 3, 4}), {true, false, true}); }},
      {"columns of a plane with gaps",
       [](Mpi& mpi) {
         const Communicator plane = mpi.cart_sub(mpi.cart(kWorld, std::array{2, 3, 4}), {true, false, true});
         return mpi.cart_sub(mpi.cart(plane, std::array{4, 2}), {true, false});
       }},
      {"lists shared by the ranks", [](Mpi& mpi) { return mpi.split(scrambled); }},
      {"lists of each rank",
       [](Mpi& mpi) { return mpi.split(kWorld, [](int rank) { return std::pair{rank % 3, -rank * rank % 11}; }); }},
  };
}

void emit(const std::string& collective, Mpi& mpi, std::uint64_t bytes, int root, Communicator comm) {
  static const std::map<std::string, std::function<void(Mpi&, std::uint64_t, int, Communicator)>> calls = {
      {"barrier", [](Mpi& mpi, std::uint64_t, int, Communicator comm) { mpi.barrier(comm); }},
      {"bcast", [](Mpi& mpi, std::uint64_t bytes, int root, Communicator comm) { mpi.bcast(bytes, root, comm); }},
      {"reduce", [](Mpi& mpi, std::uint64_t bytes, int root, Communicator comm) { mpi.reduce(bytes, root, comm); }},
      {"allreduce", [](Mpi& mpi, std::uint64_t bytes, int, Communicator comm) { mpi.allreduce(bytes, comm); }},
      {"gather", [](Mpi& mpi, std::uint64_t bytes, int root, Communicator comm) { mpi.gather(bytes, root, comm); }},
      {"allgather", [](Mpi& mpi, std::uint64_t bytes, int, Communicator comm) { mpi.allgather(bytes, comm); }},
      {"scatter", [](Mpi& mpi, std::uint64_t bytes, int root, Communicator comm) { mpi.scatter(bytes, root, comm); }},
      {"alltoall", [](Mpi& mpi, std::uint64_t bytes, int, Communicator comm) { mpi.alltoall(bytes, comm); }},
      {"reduce_scatter",
       [](Mpi& mpi, std::uint64_t bytes, int, Communicator comm) { mpi.reduce_scatter(bytes, comm); }},
      {"scan", [](Mpi& mpi, std::uint64_t bytes, int, Communicator comm) { mpi.scan(bytes, comm); }}};
  calls.at(collective)(mpi, bytes, root, comm);
}

// What each rank of the world is in its group: the group's size, its rank there, and the group's ranks in the world.
struct Place {
  int size{0};
  int rank{0};
  std::vector<int> members;
};

TEST(SubCommunicators, EveryAlgorithmSendsThereWhatItSendsInAWorldOfThatSize) {
  constexpr std::uint64_t kBytes = 20000;
  for (const CollectiveField& field : collective_fields()) {
    std::vector<std::string> names = collective_algorithms(field.collective);
    names.emplace_back("auto");
    for (const std::string& name : names) {
      const CollectiveChoice choice = chosen(field.collective, name);
      for (const Grouping& grouping : groupings()) {
        SCOPED_TRACE(std::string(field.collective) + " " + name + ", " + grouping.name);
        std::vector<Place> places(kWorldSize);
        const auto programs = lowered(
            kWorldSize, choice,
            [&](Mpi& mpi) {
              const Communicator comm = grouping.make(mpi);
              Place& place = places[static_cast<std::size_t>(mpi.rank())];
              place.size = mpi.size(comm);
              place.rank = mpi.rank(comm);
              for (int member = 0; member < place.size; ++member) {
                place.members.push_back(mpi.world_rank(comm, member));
              }
              emit(field.collective, mpi, kBytes, place.size - 1, comm);
            },
            {}, 1);
        for (int rank = 0; rank < kWorldSize; ++rank) {
          const Place& place = places[static_cast<std::size_t>(rank)];
          ASSERT_EQ(place.members.at(static_cast<std::size_t>(place.rank)), rank);
          const auto alone = lowered(
              place.size, choice, [&](Mpi& mpi) { emit(field.collective, mpi, kBytes, place.size - 1, kWorld); }, {},
              1)[static_cast<std::size_t>(place.rank)];
          const auto& here = programs[static_cast<std::size_t>(rank)];
          ASSERT_EQ(here.size(), alone.size());
          for (std::size_t i = 0; i < here.size(); ++i) {
            EXPECT_EQ(here[i].kind, alone[i].kind);
            EXPECT_EQ(here[i].bytes, alone[i].bytes);
            if (alone[i].peer != kNoPeer) {
              EXPECT_EQ(here[i].peer, place.members[static_cast<std::size_t>(alone[i].peer)]);
            }
          }
        }
        Matcher(programs, SendMode::Rendezvous).run();
      }
    }
  }
}

TEST(SubCommunicators, RowsAndColumnsDoNotMixTheirMessages) {
  const auto programs = lowered(12, {}, [](Mpi& mpi) {
    const Communicator grid = mpi.cart(kWorld, std::array{3, 4});
    const Communicator row = mpi.cart_sub(grid, {false, true});
    const Communicator column = mpi.cart_sub(grid, {true, false});
    mpi.alltoall(1000, row);
    mpi.alltoall(2000, column);
    mpi.allreduce(8, grid);
  });
  Matcher matcher(programs, SendMode::Rendezvous);
  matcher.run();
  for (int rank = 0; rank < 12; ++rank) {
    EXPECT_GE(matcher.bytes_received(rank), 3 * 1000U + 2 * 2000U);
  }
}

}  // namespace
}  // namespace manynode::test
