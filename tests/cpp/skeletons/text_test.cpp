// The text sink's lines of waits and collectives.
#include <gtest/gtest.h>

#include <sstream>

#include "sinks/streams.hpp"

namespace manynode::test {
namespace {

// A rank that emits the calls it is given, in one step.
class Emitted : public Application, public Skeleton {
 public:
  explicit Emitted(void (*calls)(Mpi&)) : calls_(calls) {}
  std::string name() const override { return "emitted"; }
  std::vector<std::string> phases() const override { return {"work"}; }
  std::unique_ptr<Skeleton> make(int, int) const override { return std::make_unique<Emitted>(calls_); }
  bool step(Mpi& mpi) override {
    calls_(mpi);
    return false;
  }

 private:
  void (*calls_)(Mpi&);
};

// Of rank 1 of three.
std::string lines(void (*calls)(Mpi&), bool lowered = false, const CollectiveChoice& choice = {}, LocalWork work = {}) {
  const Emitted application(calls);
  sinks::Selection selection;
  selection.application = &application;
  selection.size = 3;
  selection.ranks = {1};
  selection.lowered = lowered;
  selection.collectives = choice;
  selection.work = work;
  std::ostringstream out;
  sinks::print_text(selection, out);
  return out.str();
}

TEST(TextSink, WaitsNameTheirRequestsAtTheEnd) {
  EXPECT_EQ(lines([](Mpi& mpi) {
              const std::array all = {mpi.irecv(0, 8), mpi.irecv(2, 8), mpi.ibarrier()};
              mpi.wait(mpi.isend(0, 8));
              mpi.waitany(all[2]);
              mpi.waitsome(std::span(all).first(2));
              mpi.waitall({});
            }),
            "1 0 MPI_Irecv peer=0 bytes=8 tag=0 request=0\n"
            "1 1 MPI_Irecv peer=2 bytes=8 tag=0 request=1\n"
            "1 2 MPI_Ibarrier communicator=0 size=3 request=2\n"
            "1 3 MPI_Isend peer=0 bytes=8 tag=0 request=3\n"
            "1 4 MPI_Wait requests=1 ids=3\n"
            "1 5 MPI_Waitany requests=1 ids=2\n"
            "1 6 MPI_Waitsome requests=2 ids=0,1\n"
            "1 7 MPI_Waitall requests=0\n");
}

TEST(TextSink, TheOwnWorkOfACollectiveHasItsLines) {
  CollectiveChoice bruck;
  bruck.allgather = "bruck";
  const auto allgather = [](Mpi& mpi) { mpi.allgather(8); };
  const std::string text = lines(allgather, true, bruck, {.copies = true, .calls = true, .steps = true});
  EXPECT_EQ(text.substr(0, text.find("Irecv")),
            "1 0 CollectiveCall call=MPI_Allgather\n"
            "1 1 CopyLocal call=MPI_Allgather bytes=8\n"
            "1 2 ");
  EXPECT_EQ(text.substr(text.rfind("1 11 ")),
            "1 11 CollectiveStep call=MPI_Allgather\n"
            "1 12 CopyLocal call=MPI_Allgather bytes=16\n"
            "1 13 CopyLocal call=MPI_Allgather bytes=8\n");
  EXPECT_EQ(lines(allgather, true, bruck).find("Copy"), std::string::npos);
}

TEST(TextSink, FreshMemoryHasALine) {
  const auto allreduce = [](Mpi& mpi) { mpi.allreduce(64 << 20); };
  CollectiveChoice choice;
  choice.allreduce = "recursive_doubling";
  const std::string text = lines(allreduce, true, choice, {.fresh = true});
  EXPECT_NE(text.find("1 0 FreshMemory call=MPI_Allreduce bytes=67108864\n"), std::string::npos) << text;
}

TEST(TextSink, OneSidedCallsNameTheirWindow) {
  EXPECT_EQ(lines([](Mpi& mpi) {
              const Communicator pair = mpi.group(std::array{1, 2});
              mpi.put(2, 80, {kWorld, 1});
              mpi.rget(0, 16, {});
              mpi.win_lock(0, {});
              mpi.win_flush(kNoPeer, {});
              mpi.win_start(std::array{1, 0}, {pair, 0});
              mpi.win_fence({});
            }),
            "1 0 MPI_Put peer=2 bytes=80 window=1\n"
            "1 1 MPI_Rget peer=0 bytes=16 window=0 request=0\n"
            "1 2 MPI_Win_lock peer=0 window=0\n"
            "1 3 MPI_Win_flush window=0\n"
            "1 4 MPI_Win_start window=0 communicator=1 group=2,1\n"
            "1 5 MPI_Win_fence window=0\n");
}

TEST(TextSink, CollectivesHaveTheirBytesByRankAtTheEnd) {
  EXPECT_EQ(lines([](Mpi& mpi) {
              const std::vector<std::uint64_t> counts{1, 0, 5};
              const std::vector<std::uint64_t> others{2, 3, 4};
              mpi.scan(8);
              mpi.exscan(16);
              mpi.gatherv(0, counts, 1);
              mpi.gatherv(7, {}, 2);
              mpi.scatterv(counts, 0, 1);
              mpi.iscatterv({}, 9, 0);
              mpi.allgatherv(others);
              mpi.reduce_scatter(others);
              mpi.ireduce_scatter(8);
              mpi.alltoallv(counts, others);
              mpi.ialltoallw(counts, others);
            }),
            "1 0 MPI_Scan bytes=8 communicator=0 size=3\n"
            "1 1 MPI_Exscan bytes=16 communicator=0 size=3\n"
            "1 2 MPI_Gatherv root=1 bytes=0 communicator=0 size=3 received=1,0,5\n"
            "1 3 MPI_Gatherv root=2 bytes=7 communicator=0 size=3\n"
            "1 4 MPI_Scatterv root=1 bytes=0 communicator=0 size=3 sent=1,0,5\n"
            "1 5 MPI_Iscatterv root=0 bytes=9 communicator=0 size=3 request=0\n"
            "1 6 MPI_Allgatherv bytes=3 communicator=0 size=3 received=2,3,4\n"
            "1 7 MPI_Reduce_scatter bytes=3 communicator=0 size=3 received=2,3,4\n"
            "1 8 MPI_Ireduce_scatter_block bytes=8 communicator=0 size=3 request=1\n"
            "1 9 MPI_Alltoallv bytes=6 receive_bytes=9 communicator=0 size=3 sent=1,0,5 received=2,3,4\n"
            "1 10 MPI_Ialltoallw bytes=6 receive_bytes=9 communicator=0 size=3 request=2 sent=1,0,5 received=2,3,4\n");
}

TEST(TextSink, NeighborsAreRanksOfTheWorld) {
  EXPECT_EQ(
      lines([](Mpi& mpi) {
        const Communicator backwards = mpi.group(std::array{2, 1, 0});
        const std::array sources = {kProcNull, 0};
        const std::array destinations = {0, 2};
        const Neighbors neighbors{.sources = sources, .destinations = destinations};
        const std::array<std::uint64_t, 2> sent{10, 20};
        const std::array<std::uint64_t, 2> received{30, 40};
        mpi.neighbor_allgather(8, neighbors, backwards);
        mpi.ineighbor_alltoall(8, neighbors, backwards);
        mpi.neighbor_allgatherv(8, received, neighbors, backwards);
        mpi.neighbor_alltoallv(sent, received, neighbors, backwards);
        mpi.neighbor_alltoallw({}, received, {.sources = sources, .destinations = {}}, backwards);
      }),
      "1 0 MPI_Neighbor_allgather bytes=8 communicator=1 size=3 sources=2 destinations=2,0\n"
      "1 1 MPI_Ineighbor_alltoall bytes=8 communicator=1 size=3 request=0 sources=2 destinations=2,0\n"
      "1 2 MPI_Neighbor_allgatherv bytes=8 communicator=1 size=3 sources=2 destinations=2,0 sent=8,8 received=40\n"
      "1 3 MPI_Neighbor_alltoallv bytes=30 communicator=1 size=3 sources=2 destinations=2,0 sent=10,20 received=40\n"
      "1 4 MPI_Neighbor_alltoallw bytes=0 communicator=1 size=3 sources=2 received=40\n");
}

}  // namespace
}  // namespace manynode::test
