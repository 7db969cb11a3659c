// Derived skeletons: every call of the interface, with its fields, as a skeleton in C++ would make it.
#include <gtest/gtest.h>

#include "application_stream.hpp"
#include "derived_file.hpp"

namespace manynode::test {
namespace {

constexpr int kRanks = 4;

// Makes by hand what a file describes.
class ByHand : public Application, public Skeleton {
 public:
  explicit ByHand(void (*calls)(Mpi&)) : calls_(calls) {}
  std::string name() const override { return "by hand"; }
  std::vector<std::string> phases() const override { return {"work", "rest"}; }
  std::unique_ptr<Skeleton> make(int, int) const override { return std::make_unique<ByHand>(calls_); }
  bool step(Mpi& mpi) override {
    calls_(mpi);
    return false;
  }

 private:
  void (*calls_)(Mpi&);
};

std::string by_hand(void (*calls)(Mpi&)) { return text_of(ByHand(calls), kRanks); }

int next_rank(const Mpi& mpi) { return (mpi.rank() + 1) % kRanks; }
int previous_rank(const Mpi& mpi) { return (mpi.rank() + kRanks - 1) % kRanks; }

std::vector<std::uint64_t> counts(std::uint64_t first, std::uint64_t step, std::size_t size = kRanks) {
  std::vector<std::uint64_t> all;
  for (std::size_t k = 0; k < size; ++k) all.push_back(first + step * k);
  return all;
}

DerivedContent with_body(const std::string& body) {
  DerivedContent content;
  content.body = body;
  content.definitions = R"([["next", "(rank + 1) % P"], ["previous", "(rank - 1) % P"]])";
  return content;
}

TEST(DerivedCalls, MessagesHavePeersBytesAndTags) {
  const DerivedContent content = with_body(R"([
    {"compute": "work"},
    {"call": "MPI_Irecv", "peer": "previous", "bytes": "nx * 8", "tag": "7", "request": "a"},
    {"call": "MPI_Irecv", "peer": "any", "bytes": "8", "tag": "-1", "request": "a"},
    {"call": "MPI_Isend", "peer": "next", "bytes": "nx * 8", "tag": "7", "request": "b"},
    {"call": "MPI_Send", "peer": "next", "bytes": "8"},
    {"call": "MPI_Recv", "peer": "null", "bytes": "rank"},
    {"call": "MPI_Waitall", "requests": ["b", "a"]},
    {"call": "MPI_Sendrecv", "peer": "next", "bytes": "rank + 1", "tag": "3", "source": "previous",
     "receive_bytes": "previous + 1", "receive_tag": "4"},
    {"call": "MPI_Sendrecv", "peer": "next", "bytes": "8", "tag": "5", "source": "previous"},
    {"compute": "rest"}])");
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              mpi.compute(Phase{0});
              const std::array requests = {mpi.irecv(previous_rank(mpi), 128, 7), mpi.irecv(kAnySource, 8, kAnyTag),
                                           mpi.isend(next_rank(mpi), 128, 7)};
              mpi.send(next_rank(mpi), 8);
              mpi.recv(kProcNull, static_cast<std::uint64_t>(mpi.rank()));
              mpi.waitall(requests);
              mpi.sendrecv(next_rank(mpi), static_cast<std::uint64_t>(mpi.rank()) + 1, 3, previous_rank(mpi),
                           static_cast<std::uint64_t>(previous_rank(mpi)) + 1, 4);
              mpi.sendrecv(next_rank(mpi), 8, 5, previous_rank(mpi), 8, 5);
              mpi.compute(Phase{1});
            }));
}

TEST(DerivedCalls, CollectivesBlock) {
  const DerivedContent content = with_body(R"([
    {"call": "MPI_Barrier"},
    {"call": "MPI_Bcast", "bytes": "1", "peer": "2"},
    {"call": "MPI_Reduce", "bytes": "2", "peer": "3"},
    {"call": "MPI_Allreduce", "bytes": "3"},
    {"call": "MPI_Scan", "bytes": "4"},
    {"call": "MPI_Exscan", "bytes": "5"},
    {"call": "MPI_Gather", "bytes": "6", "peer": "0"},
    {"call": "MPI_Gatherv", "bytes": "10 + rank", "received": "10 + k", "peer": "1"},
    {"call": "MPI_Allgather", "bytes": "7"},
    {"call": "MPI_Allgatherv", "received": "20 + k"},
    {"call": "MPI_Scatter", "bytes": "8", "peer": "1"},
    {"call": "MPI_Scatterv", "bytes": "3 * rank", "sent": "3 * k", "peer": "2"},
    {"call": "MPI_Alltoall", "bytes": "9"},
    {"call": "MPI_Alltoallv", "sent": "rank + k", "received": "k + rank"},
    {"call": "MPI_Alltoallw", "sent": "2 * rank + k", "received": "2 * k + rank"},
    {"call": "MPI_Reduce_scatter_block", "bytes": "11"},
    {"call": "MPI_Reduce_scatter", "received": "5 * k"}])");
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              const auto rank = static_cast<std::uint64_t>(mpi.rank());
              mpi.barrier();
              mpi.bcast(1, 2);
              mpi.reduce(2, 3);
              mpi.allreduce(3);
              mpi.scan(4);
              mpi.exscan(5);
              mpi.gather(6, 0);
              mpi.gatherv(10 + rank, rank == 1 ? counts(10, 1) : counts(0, 0, 0), 1);
              mpi.allgather(7);
              mpi.allgatherv(counts(20, 1));
              mpi.scatter(8, 1);
              mpi.scatterv(rank == 2 ? counts(0, 3) : counts(0, 0, 0), 3 * rank, 2);
              mpi.alltoall(9);
              mpi.alltoallv(counts(rank, 1), counts(rank, 1));
              mpi.alltoallw(counts(2 * rank, 1), counts(rank, 2));
              mpi.reduce_scatter(11);
              mpi.reduce_scatter(counts(0, 5));
            }));
}

TEST(DerivedCalls, CollectivesHaveNonBlockingForms) {
  const DerivedContent content = with_body(R"([
    {"call": "MPI_Ibarrier", "request": "r"},
    {"call": "MPI_Ibcast", "bytes": "1", "peer": "2", "request": "r"},
    {"call": "MPI_Ireduce", "bytes": "2", "peer": "3", "request": "r"},
    {"call": "MPI_Iallreduce", "bytes": "3", "request": "r"},
    {"call": "MPI_Iscan", "bytes": "4", "request": "r"},
    {"call": "MPI_Iexscan", "bytes": "5", "request": "r"},
    {"call": "MPI_Igather", "bytes": "6", "peer": "0", "request": "r"},
    {"call": "MPI_Igatherv", "bytes": "10 + rank", "received": "10 + k", "peer": "1", "request": "r"},
    {"call": "MPI_Iallgather", "bytes": "7", "request": "r"},
    {"call": "MPI_Iallgatherv", "received": "20 + k", "request": "r"},
    {"call": "MPI_Iscatter", "bytes": "8", "peer": "1", "request": "r"},
    {"call": "MPI_Iscatterv", "bytes": "3 * rank", "sent": "3 * k", "peer": "2", "request": "r"},
    {"call": "MPI_Ialltoall", "bytes": "9", "request": "r"},
    {"call": "MPI_Ialltoallv", "sent": "rank + k", "received": "k + rank", "request": "r"},
    {"call": "MPI_Ialltoallw", "sent": "2 * rank + k", "received": "2 * k + rank", "request": "r"},
    {"call": "MPI_Ireduce_scatter_block", "bytes": "11", "request": "r"},
    {"call": "MPI_Ireduce_scatter", "received": "5 * k", "request": "r"},
    {"call": "MPI_Waitall", "requests": ["r"]}])");
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              const auto rank = static_cast<std::uint64_t>(mpi.rank());
              const std::vector<Request> requests = {
                  mpi.ibarrier(),
                  mpi.ibcast(1, 2),
                  mpi.ireduce(2, 3),
                  mpi.iallreduce(3),
                  mpi.iscan(4),
                  mpi.iexscan(5),
                  mpi.igather(6, 0),
                  mpi.igatherv(10 + rank, rank == 1 ? counts(10, 1) : counts(0, 0, 0), 1),
                  mpi.iallgather(7),
                  mpi.iallgatherv(counts(20, 1)),
                  mpi.iscatter(8, 1),
                  mpi.iscatterv(rank == 2 ? counts(0, 3) : counts(0, 0, 0), 3 * rank, 2),
                  mpi.ialltoall(9),
                  mpi.ialltoallv(counts(rank, 1), counts(rank, 1)),
                  mpi.ialltoallw(counts(2 * rank, 1), counts(rank, 2)),
                  mpi.ireduce_scatter(11),
                  mpi.ireduce_scatter(counts(0, 5))};
              mpi.waitall(requests);
            }));
}

// In a ring; nobody is before rank 0.
TEST(DerivedCalls, NeighbourCollectivesHaveListsOfRanks) {
  const std::string lists = R"("sources": ["previous if rank else null", "next"], "destinations": ["next"])";
  std::string body;
  for (const auto& [name, fields] :
       std::vector<std::pair<std::string, std::string>>{{"allgather", R"("bytes": "8")"},
                                                        {"allgatherv", R"("bytes": "8", "received": "8 + k")"},
                                                        {"alltoall", R"("bytes": "16")"},
                                                        {"alltoallv", R"("sent": "30 + k", "received": "20 + k")"},
                                                        {"alltoallw", R"("sent": "50 + k", "received": "40 + k")"}}) {
    body += R"({"call": "MPI_Neighbor_)" + name + "\", " + fields + ", " + lists + "}, ";
    body += R"({"call": "MPI_Ineighbor_)" + name + "\", " + fields + ", " + lists + R"(, "request": "r"}, )";
  }
  body += R"({"call": "MPI_Waitsome", "requests": ["r"]})";
  EXPECT_EQ(derived_text(with_body("[" + body + "]"), kRanks), by_hand([](Mpi& mpi) {
              const std::array sources = {mpi.rank() == 0 ? kProcNull : previous_rank(mpi), next_rank(mpi)};
              const std::array destinations = {next_rank(mpi)};
              const Neighbors around{sources, destinations};
              std::vector<Request> requests;
              mpi.neighbor_allgather(8, around);
              requests.push_back(mpi.ineighbor_allgather(8, around));
              mpi.neighbor_allgatherv(8, counts(8, 1, 2), around);
              requests.push_back(mpi.ineighbor_allgatherv(8, counts(8, 1, 2), around));
              mpi.neighbor_alltoall(16, around);
              requests.push_back(mpi.ineighbor_alltoall(16, around));
              mpi.neighbor_alltoallv(counts(30, 0, 1), counts(20, 1, 2), around);
              requests.push_back(mpi.ineighbor_alltoallv(counts(30, 0, 1), counts(20, 1, 2), around));
              mpi.neighbor_alltoallw(counts(50, 0, 1), counts(40, 1, 2), around);
              requests.push_back(mpi.ineighbor_alltoallw(counts(50, 0, 1), counts(40, 1, 2), around));
              mpi.waitsome(requests);
            }));
}

TEST(DerivedCalls, WaitsCompleteRequestsByNameInAnOrder) {
  const DerivedContent content = with_body(R"([
    {"repeat": "3", "index": "i", "do": [
      {"call": "MPI_Irecv", "peer": "previous", "bytes": "i", "request": "in"},
      {"call": "MPI_Isend", "peer": "next", "bytes": "i", "request": "out"}]},
    {"call": "MPI_Wait", "requests": ["out"]},
    {"call": "MPI_Waitany", "requests": ["in", "out"], "order": "newest"},
    {"call": "MPI_Waitsome", "requests": ["out", "in"], "order": "names", "take": "2"},
    {"call": "MPI_Waitall", "requests": ["in"], "order": "newest"},
    {"call": "MPI_Waitall", "requests": ["in", "out"]},
    {"call": "MPI_Waitsome", "requests": ["in"], "take": "0"}])");
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              std::vector<Request> in;
              std::vector<Request> out;
              for (std::uint64_t i = 0; i < 3; ++i) {
                in.push_back(mpi.irecv(previous_rank(mpi), i));
                out.push_back(mpi.isend(next_rank(mpi), i));
              }
              mpi.wait(out[0]);
              mpi.waitany(out[2]);
              mpi.waitsome(std::array{out[1], in[0]});
              mpi.waitall(std::array{in[2], in[1]});
              mpi.waitall({});
              mpi.waitsome({});
            }));
}

TEST(DerivedCalls, AWaitForEachOpenRequestIsAsManyCallsAsThereAreAndMayBeNone) {
  const DerivedContent content = with_body(R"([
    {"repeat": "rank", "do": [{"call": "MPI_Irecv", "peer": "previous", "bytes": "8", "request": "in"}]},
    {"repeat": "rank", "do": [{"call": "MPI_Isend", "peer": "next", "bytes": "8", "request": "out"}]},
    {"call": "MPI_Wait", "requests": ["in"], "order": "newest", "each": true},
    {"call": "MPI_Wait", "requests": ["in", "out"], "each": true}])");
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              std::vector<Request> in;
              std::vector<Request> out;
              for (int i = 0; i < mpi.rank(); ++i) in.push_back(mpi.irecv(previous_rank(mpi), 8));
              for (int i = 0; i < mpi.rank(); ++i) out.push_back(mpi.isend(next_rank(mpi), 8));
              std::reverse(in.begin(), in.end());
              for (const Request request : in) mpi.wait(request);
              for (const Request request : out) mpi.wait(request);
            }));
}

// Rank 3 is in no row; the columns have the opposite order.
DerivedContent with_communicators() {
  DerivedContent content = with_body(R"([
    {"call": "MPI_Allgatherv", "received": "10 + k", "communicator": "rows", "when": "rank < 3"},
    {"call": "MPI_Bcast", "bytes": "8", "peer": "2", "communicator": "rows", "when": "rank < 3"},
    {"call": "MPI_Irecv", "bytes": "8", "peer": "3 - rank", "communicator": "all", "request": "r"},
    {"call": "MPI_Isend", "bytes": "8", "peer": "3 - rank", "communicator": "all", "request": "r"},
    {"call": "MPI_Waitall", "requests": ["r"]},
    {"call": "MPI_Reduce", "bytes": "8", "peer": "1", "communicator": "all"},
    {"call": "MPI_Neighbor_alltoall", "bytes": "8", "sources": ["previous"], "destinations": ["next", "null"],
     "communicator": "all"},
    {"call": "MPI_Allreduce", "bytes": "8", "communicator": "world"}])");
  content.communicators = R"([{"name": "rows", "color": "5 if rank < 3 else -1", "key": "rank"},
                              {"name": "all", "color": "0", "key": "-rank"}])";
  return content;
}

TEST(DerivedCalls, CommunicatorsAreSplitByColourAndKey) {
  const DerivedContent content = with_communicators();
  EXPECT_EQ(derived_text(content, kRanks), by_hand([](Mpi& mpi) {
              const bool member = mpi.rank() < 3;
              const Communicator rows = member ? mpi.strided(0, 1, 3) : mpi.strided(3, 1, 1);
              const Communicator all = mpi.strided(3, -1, 4);
              if (member) {
                mpi.allgatherv(counts(10, 1, 3), rows);
                mpi.bcast(8, 2, rows);
              }
              const int partner = mpi.rank();  // 3 - rank, in the opposite order
              const std::array requests = {mpi.irecv(partner, 8, 0, all), mpi.isend(partner, 8, 0, all)};
              mpi.waitall(requests);
              mpi.reduce(8, 2, all);
              const std::array sources = {3 - previous_rank(mpi)};
              const std::array destinations = {3 - next_rank(mpi), kProcNull};
              mpi.neighbor_alltoall(8, Neighbors{sources, destinations}, all);
              mpi.allreduce(8);
            }));
}

// Communicators after one that a rank is not in have the same number on all ranks: their messages meet.
TEST(DerivedCalls, MessagesOfCommunicatorsArrive) {
  run_to_the_end(*derived_application(with_communicators(), kRanks), kRanks);
}

}  // namespace
}  // namespace manynode::test
