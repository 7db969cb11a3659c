// Collectives, blocking and not: the guest's data lies without gaps, so that displacements are sums of counts. What a
// rank sends and receives by its role is as in shim/collectives.c.
#include <cstring>

#include "constants.hpp"
#include "proxy.hpp"

namespace manynode::bridge {
namespace {

constexpr int kBlockingToNonblocking = MB_Ibarrier - MB_Barrier;

std::vector<int> displacements(const std::vector<int>& counts) {
  std::vector<int> sums;
  std::int64_t sum = 0;
  for (const int count : counts) {
    sums.push_back(native_count(sum));
    sum += count;
  }
  return sums;
}

std::int64_t total(const std::vector<int>& counts) {
  std::int64_t sum = 0;
  for (const int count : counts) {
    sum += count;
  }
  return sum;
}

}  // namespace

void Proxy::collective(Request& request, Reply& reply) {
  const bool nonblocking = request.header.call >= MB_Ibarrier;
  const int kind = nonblocking ? request.header.call - kBlockingToNonblocking : request.header.call;
  const std::int64_t handle = request.word(MB_C_REQUEST);
  const Communicator& communicator = comm_of(request.word(MB_C_COMM));
  const MPI_Comm comm = communicator.comm;
  const auto size = static_cast<std::int64_t>(communicator.world_ranks.size());
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int root = static_cast<int>(request.word(MB_C_ROOT));
  const bool at_root = rank == root;
  const MPI_Op op = native_op(request.word(MB_C_OP));
  const bool send_in_place = (request.word(MB_C_FLAGS) & MB_SEND_IN_PLACE) != 0;
  const bool recv_in_place = (request.word(MB_C_FLAGS) & MB_RECV_IN_PLACE) != 0;
  const int send_count = native_count(request.word(MB_C_SEND_COUNT));
  const int recv_count = native_count(request.word(MB_C_RECV_COUNT));
  const MPI_Datatype send_type = native_type(request.word(MB_C_SEND_TYPE));
  const MPI_Datatype recv_type = native_type(request.word(MB_C_RECV_TYPE));
  const std::int64_t send_span = span_of(request.word(MB_C_SEND_TYPE));
  const std::int64_t recv_span = span_of(request.word(MB_C_RECV_TYPE));

  Pending call;
  call.comm = request.word(MB_C_COMM);
  call.collective = true;
  call.external = communicator.external;
  inject_read(nonblocking ? handle : 0, request.payload.size, call.external);
  call.send = std::move(request.payload);

  // The lists of counts: sent ones first.
  auto next = request.list.begin();
  const auto take_list = [&](int number) {
    for (std::int64_t i = 0; i < size && next != request.list.end(); ++i) {
      call.lists[number].push_back(native_count(*next++));
    }
    call.lists[number + 1] = displacements(call.lists[number]);
  };
  const auto& send_counts = call.lists[0];
  const auto& send_displs = call.lists[1];
  const auto& recv_counts = call.lists[2];
  const auto& recv_displs = call.lists[3];

  // Room for what comes; with MPI_IN_PLACE, what the guest sent lies in it at `offset`.
  const void* out = call.send.at.get();
  void* in = nullptr;
  const auto expect = [&](std::int64_t elements, std::int64_t offset = 0) {
    call.receive = Bytes(static_cast<std::size_t>(elements * recv_span));
    in = call.receive.at.get();
    if (send_in_place) {
      if (static_cast<std::size_t>(offset * recv_span) + call.send.size > call.receive.size) {
        throw GuestLost("its guest sent more than its receive buffer holds");
      }
      std::memcpy(call.receive.at.get() + offset * recv_span, call.send.at.get(), call.send.size);
      out = MPI_IN_PLACE;
    }
  };
  const auto run = [&](auto blocking, auto other, auto... arguments) {
    return wire_error(nonblocking ? other(arguments..., &call.request) : blocking(arguments...));
  };

  std::int64_t result = 0;
  switch (kind) {
    case MB_Barrier:
      result = run(MPI_Barrier, MPI_Ibarrier, comm);
      break;
    case MB_Bcast:
      if (!at_root) {
        call.receive = Bytes(static_cast<std::size_t>(send_count * send_span));
      }
      result = run(MPI_Bcast, MPI_Ibcast, static_cast<void*>(at_root ? call.send.at.get() : call.receive.at.get()),
                   send_count, send_type, root, comm);
      break;
    case MB_Reduce:
      if (at_root) {
        expect(recv_count);
      }
      result = run(MPI_Reduce, MPI_Ireduce, out, in, send_count, send_type, op, root, comm);
      break;
    case MB_Allreduce:
      expect(recv_count);
      result = run(MPI_Allreduce, MPI_Iallreduce, out, in, send_count, send_type, op, comm);
      break;
    case MB_Scan:
      expect(recv_count);
      result = run(MPI_Scan, MPI_Iscan, out, in, send_count, send_type, op, comm);
      break;
    case MB_Exscan:
      expect(recv_count);
      result = run(MPI_Exscan, MPI_Iexscan, out, in, send_count, send_type, op, comm);
      break;
    case MB_Reduce_scatter:
      take_list(2);
      // In place, the whole input lies in the receive buffer, of which the first part is the result.
      expect(send_in_place ? total(recv_counts) : recv_counts.at(static_cast<std::size_t>(rank)));
      result = run(MPI_Reduce_scatter, MPI_Ireduce_scatter, out, in, recv_counts.data(), recv_type, op, comm);
      break;
    case MB_Reduce_scatter_block:
      expect(send_in_place ? recv_count * size : recv_count);
      result = run(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, out, in, recv_count, recv_type, op, comm);
      break;
    case MB_Gather:
      if (at_root) {
        expect(recv_count * size, static_cast<std::int64_t>(recv_count) * rank);
      }
      result = run(MPI_Gather, MPI_Igather, out, send_count, send_type, in, recv_count, recv_type, root, comm);
      break;
    case MB_Gatherv:
      if (at_root) {
        take_list(2);
        expect(total(recv_counts), recv_displs.at(static_cast<std::size_t>(rank)));
      }
      result = run(MPI_Gatherv, MPI_Igatherv, out, send_count, send_type, in, recv_counts.data(), recv_displs.data(),
                   recv_type, root, comm);
      break;
    case MB_Allgather:
      expect(recv_count * size, static_cast<std::int64_t>(recv_count) * rank);
      result = run(MPI_Allgather, MPI_Iallgather, out, send_count, send_type, in, recv_count, recv_type, comm);
      break;
    case MB_Allgatherv:
      take_list(2);
      expect(total(recv_counts), recv_displs.at(static_cast<std::size_t>(rank)));
      result = run(MPI_Allgatherv, MPI_Iallgatherv, out, send_count, send_type, in, recv_counts.data(),
                   recv_displs.data(), recv_type, comm);
      break;
    case MB_Scatter:
      if (!recv_in_place) {
        expect(recv_count);
      } else {
        in = MPI_IN_PLACE;
      }
      result = run(MPI_Scatter, MPI_Iscatter, out, send_count, send_type, in, recv_count, recv_type, root, comm);
      break;
    case MB_Scatterv:
      if (at_root) {
        take_list(0);
      }
      if (!recv_in_place) {
        expect(recv_count);
      } else {
        in = MPI_IN_PLACE;
      }
      result = run(MPI_Scatterv, MPI_Iscatterv, out, send_counts.data(), send_displs.data(), send_type, in, recv_count,
                   recv_type, root, comm);
      break;
    case MB_Alltoall:
      expect(recv_count * size);
      result = run(MPI_Alltoall, MPI_Ialltoall, out, send_count, send_type, in, recv_count, recv_type, comm);
      break;
    case MB_Alltoallv:
      if (!send_in_place) {
        take_list(0);
      }
      take_list(2);
      expect(total(recv_counts));
      result = run(MPI_Alltoallv, MPI_Ialltoallv, out, send_counts.data(), send_displs.data(), send_type, in,
                   recv_counts.data(), recv_displs.data(), recv_type, comm);
      break;
    default:
      throw GuestLost("its guest asked for a collective that does not exist");
  }
  reply.header.word[MB_R_RESULT] = result;
  if (result != 0) {
    return;
  }
  if (kind == MB_Exscan && rank == 0) {
    call.receive.size = 0;  // undefined there: the guest's memory stays as it is
  }
  if (send_in_place && kind == MB_Reduce_scatter) {
    call.receive.size = static_cast<std::size_t>(recv_counts[static_cast<std::size_t>(rank)] * recv_span);
  }
  if (send_in_place && kind == MB_Reduce_scatter_block) {
    call.receive.size = static_cast<std::size_t>(recv_count * recv_span);
  }
  if (nonblocking) {
    // The lists must stay where they are: moving a vector keeps its memory.
    pending_[handle] = std::move(call);
    return;
  }
  reply.header.word[MB_R_EXTERNAL] = call.external ? 1 : 0;
  inject_write(0, call.receive.size, call.external);
  outgoing_ = std::move(call.receive);
  reply.add(outgoing_.at.get(), outgoing_.size);
}

}  // namespace manynode::bridge
