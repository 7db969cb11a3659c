// A body with the calls that few applications use: bytes by rank, scans, neighbours, non-blocking collectives, waits
// for some requests, a group by its members.
#pragma once

#include <array>
#include <vector>

#include "manynode/mpi.hpp"

namespace manynode::testing {

// `bytes` is the size of a message; every third one is empty.
inline void emit_rare_calls(Mpi& mpi, std::uint64_t bytes) {
  const int size = mpi.size();
  const int rank = mpi.rank();
  const auto pair = [&](int from, int to) { return static_cast<std::uint64_t>((from + to) % 3) * bytes; };
  std::vector<std::uint64_t> shares;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
  for (int other = 0; other < size; ++other) {
    shares.push_back(pair(other, 0));
    sent.push_back(pair(rank, other));
    received.push_back(pair(other, rank));
  }
  const std::vector<std::uint64_t> none;
  const int root = size - 1;
  const std::array around = {rank == 0 ? kProcNull : rank - 1, rank == size - 1 ? kProcNull : rank + 1};
  const Neighbors neighbors{.sources = around, .destinations = around};
  std::array<std::uint64_t, 2> to{};
  std::array<std::uint64_t, 2> from{};
  std::array<std::uint64_t, 2> gathered{};
  for (std::size_t i = 0; i < around.size(); ++i) {
    if (around[i] == kProcNull) continue;
    to[i] = pair(rank, around[i] + 1);
    from[i] = pair(around[i], rank + 1);
    gathered[i] = shares[static_cast<std::size_t>(around[i])];
  }

  mpi.gatherv(shares[static_cast<std::size_t>(rank)], rank == root ? shares : none, root);
  mpi.scatterv(rank == root ? shares : none, shares[static_cast<std::size_t>(rank)], root);
  mpi.allgatherv(shares);
  mpi.reduce_scatter(shares);
  mpi.scan(bytes);
  mpi.exscan(bytes);
  mpi.alltoallw(sent, received);
  mpi.neighbor_allgather(bytes, neighbors);
  mpi.neighbor_allgatherv(shares[static_cast<std::size_t>(rank)], gathered, neighbors);
  mpi.neighbor_alltoall(bytes, neighbors);
  mpi.neighbor_alltoallv(to, from, neighbors);
  mpi.neighbor_alltoallw(to, from, neighbors);

  const std::array halo = {mpi.irecv(around[0], bytes), mpi.isend(around[1], bytes)};
  const std::array collectives = {
      mpi.ibarrier(),
      mpi.ibcast(bytes, root),
      mpi.ireduce(bytes, root),
      mpi.iallreduce(bytes),
      mpi.igather(bytes, root),
      mpi.igatherv(shares[static_cast<std::size_t>(rank)], rank == root ? shares : none, root),
      mpi.iallgather(bytes),
      mpi.iallgatherv(shares),
      mpi.iscatter(bytes, root),
      mpi.iscatterv(rank == root ? shares : none, shares[static_cast<std::size_t>(rank)], root),
      mpi.ialltoall(bytes),
      mpi.ialltoallv(sent, received),
      mpi.ialltoallw(sent, received),
      mpi.ireduce_scatter(bytes),
      mpi.ireduce_scatter(shares),
      mpi.iscan(bytes),
      mpi.iexscan(bytes),
      mpi.ineighbor_allgather(bytes, neighbors),
      mpi.ineighbor_allgatherv(shares[static_cast<std::size_t>(rank)], gathered, neighbors),
      mpi.ineighbor_alltoall(bytes, neighbors),
      mpi.ineighbor_alltoallv(to, from, neighbors),
      mpi.ineighbor_alltoallw(to, from, neighbors)};
  mpi.compute({0});
  mpi.waitany(collectives[3]);
  mpi.waitsome(halo);
  const Request last = mpi.iallreduce(bytes);
  // Backwards, so that no formula of the world fits.
  std::vector<int> members;
  for (int member = size - 1; member >= 0; --member) members.push_back(member);
  mpi.allreduce(bytes, mpi.group(members));
  std::vector<Request> rest(collectives.begin(), collectives.end());
  rest.erase(rest.begin() + 3);
  rest.push_back(last);
  mpi.waitall(rest);
}

}  // namespace manynode::testing
