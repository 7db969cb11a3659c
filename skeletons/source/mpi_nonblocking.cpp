// The non-blocking collectives: the call of the blocking form, marked, with a request.
#include "manynode/mpi.hpp"

namespace manynode {

Request Mpi::made_nonblocking() {
  Call& call = out_.calls.back();
  call.flags |= kNonblocking;
  call.tag = static_cast<std::int32_t>(next_request_);
  return Request{next_request_++};
}

Request Mpi::ibarrier(Communicator comm) {
  barrier(comm);
  return made_nonblocking();
}

Request Mpi::ibcast(std::uint64_t bytes, int root, Communicator comm) {
  bcast(bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::ireduce(std::uint64_t bytes, int root, Communicator comm) {
  reduce(bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::iallreduce(std::uint64_t bytes, Communicator comm) {
  allreduce(bytes, comm);
  return made_nonblocking();
}

Request Mpi::iscan(std::uint64_t bytes, Communicator comm) {
  scan(bytes, comm);
  return made_nonblocking();
}

Request Mpi::iexscan(std::uint64_t bytes, Communicator comm) {
  exscan(bytes, comm);
  return made_nonblocking();
}

Request Mpi::igather(std::uint64_t bytes, int root, Communicator comm) {
  gather(bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::igatherv(std::uint64_t bytes, Bytes recv_bytes, int root, Communicator comm) {
  gatherv(bytes, recv_bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::iallgather(std::uint64_t bytes, Communicator comm) {
  allgather(bytes, comm);
  return made_nonblocking();
}

Request Mpi::iallgatherv(Bytes recv_bytes, Communicator comm) {
  allgatherv(recv_bytes, comm);
  return made_nonblocking();
}

Request Mpi::iscatter(std::uint64_t bytes, int root, Communicator comm) {
  scatter(bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::iscatterv(Bytes send_bytes, std::uint64_t bytes, int root, Communicator comm) {
  scatterv(send_bytes, bytes, root, comm);
  return made_nonblocking();
}

Request Mpi::ialltoall(std::uint64_t bytes_per_pair, Communicator comm) {
  alltoall(bytes_per_pair, comm);
  return made_nonblocking();
}

Request Mpi::ialltoallv(Bytes send_bytes, Bytes recv_bytes, Communicator comm) {
  alltoallv(send_bytes, recv_bytes, comm);
  return made_nonblocking();
}

Request Mpi::ialltoallw(Bytes send_bytes, Bytes recv_bytes, Communicator comm) {
  alltoallw(send_bytes, recv_bytes, comm);
  return made_nonblocking();
}

Request Mpi::ireduce_scatter(std::uint64_t bytes_per_rank, Communicator comm) {
  reduce_scatter(bytes_per_rank, comm);
  return made_nonblocking();
}

Request Mpi::ireduce_scatter(Bytes bytes_by_rank, Communicator comm) {
  reduce_scatter(bytes_by_rank, comm);
  return made_nonblocking();
}

Request Mpi::ineighbor_allgather(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm) {
  neighbor_allgather(bytes, neighbors, comm);
  return made_nonblocking();
}

Request Mpi::ineighbor_allgatherv(std::uint64_t bytes, Bytes recv_bytes, const Neighbors& neighbors,
                                  Communicator comm) {
  neighbor_allgatherv(bytes, recv_bytes, neighbors, comm);
  return made_nonblocking();
}

Request Mpi::ineighbor_alltoall(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm) {
  neighbor_alltoall(bytes, neighbors, comm);
  return made_nonblocking();
}

Request Mpi::ineighbor_alltoallv(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm) {
  neighbor_alltoallv(send_bytes, recv_bytes, neighbors, comm);
  return made_nonblocking();
}

Request Mpi::ineighbor_alltoallw(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm) {
  neighbor_alltoallw(send_bytes, recv_bytes, neighbors, comm);
  return made_nonblocking();
}

}  // namespace manynode
