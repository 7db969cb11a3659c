// One MPI call of one rank, or the compute phase between two calls: the record that a skeleton emits.
//
// A skeleton emits a stream of calls, the markers record the same stream of the real application, and sinks print it.
// To save memory per rank, engines lower a call to primitives (primitive.hpp) only when a rank reaches it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace manynode {

enum class CallKind : std::uint8_t {
  Compute,
  Send,
  Isend,
  Recv,
  Irecv,
  Wait,
  Waitall,
  Sendrecv,
  Barrier,
  Bcast,
  Reduce,
  Allreduce,
  Gather,
  Allgather,
  Scatter,
  Alltoall,
  Alltoallv,
  ReduceScatter,  // MPI_Reduce_scatter_block
  Gatherv,
  Scatterv,
  Allgatherv,
  ReduceScatterv,  // MPI_Reduce_scatter: counts by rank
  Scan,
  Exscan,
  Alltoallw,
  NeighborAllgather,
  NeighborAllgatherv,
  NeighborAlltoall,
  NeighborAlltoallv,
  NeighborAlltoallw,
  Waitany,
  Waitsome,
  Put,
  Get,
  Accumulate,
  GetAccumulate,
  WinFence,
  WinPost,
  WinStart,
  WinComplete,
  WinWait,
  WinLock,    // without a peer: MPI_Win_lock_all
  WinUnlock,  // the same
  WinFlush,   // the same
};

inline constexpr std::size_t kCallKinds = 44;

// MPI's own names, in the order of CallKind; "compute" for the phase between two calls.
inline constexpr std::array<std::string_view, kCallKinds> kCallNames = {
    "compute",
    "MPI_Send",
    "MPI_Isend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Sendrecv",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Gather",
    "MPI_Allgather",
    "MPI_Scatter",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Reduce_scatter_block",
    "MPI_Gatherv",
    "MPI_Scatterv",
    "MPI_Allgatherv",
    "MPI_Reduce_scatter",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Alltoallw",
    "MPI_Neighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Put",
    "MPI_Get",
    "MPI_Accumulate",
    "MPI_Get_accumulate",
    "MPI_Win_fence",
    "MPI_Win_post",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_wait",
    "MPI_Win_lock",
    "MPI_Win_unlock",
    "MPI_Win_flush",
};

constexpr std::string_view call_name(CallKind kind) { return kCallNames[static_cast<std::size_t>(kind)]; }

constexpr bool is_collective(CallKind kind) { return kind >= CallKind::Barrier && kind <= CallKind::NeighborAlltoallw; }
constexpr bool is_neighbor_collective(CallKind kind) {
  return kind >= CallKind::NeighborAllgather && kind <= CallKind::NeighborAlltoallw;
}
constexpr bool is_wait(CallKind kind) {
  return kind == CallKind::Wait || kind == CallKind::Waitall || kind == CallKind::Waitany || kind == CallKind::Waitsome;
}
// Of one-sided communication; remote operations are those that move data.
constexpr bool is_one_sided(CallKind kind) { return kind >= CallKind::Put; }
constexpr bool is_remote_operation(CallKind kind) { return kind >= CallKind::Put && kind <= CallKind::GetAccumulate; }
// Posts, starts and their ends name a group of ranks.
constexpr bool has_group(CallKind kind) { return kind >= CallKind::WinPost && kind <= CallKind::WinWait; }

// Of a collective: unless it is the non-blocking form.
constexpr bool blocks(CallKind kind) {
  return kind != CallKind::Compute && kind != CallKind::Isend && kind != CallKind::Irecv && !is_remote_operation(kind);
}

inline constexpr std::int32_t kNoPeer = -1;
inline constexpr std::int32_t kAnySource = -2;
inline constexpr std::int32_t kProcNull = -3;  // as MPI_PROC_NULL: the call returns at once
inline constexpr std::int32_t kAnyTag = -1;

// In place of a phase: a compute call with a stated time, the same in every engine, with or without a timing profile.
inline constexpr std::uint32_t kPause = 0xffffffffu;

// A flag of a collective: its non-blocking form, whose request is `tag`. Of a remote operation: the same of MPI_Rput
// and its kin.
inline constexpr std::uint8_t kNonblocking = 1;

// Fields that a kind does not use are 0 (or kNoPeer). A step of every rank may be in memory at once: the record is
// limited to half a cache line, and fields of few kinds are in the side tables of Calls.
struct Call {
  CallKind kind{CallKind::Compute};
  std::uint8_t flags{0};
  std::uint16_t communicator{0};  // index in the rank's communicator table; 0 is MPI_COMM_WORLD
  std::int32_t peer{kNoPeer};     // rank in the communicator: destination, source, root or target
  std::int32_t peer2{kNoPeer};    // sendrecv: source; one-sided calls: the window
  std::int32_t tag{0};            // non-blocking collectives, MPI_Rput and its kin: request
  std::uint32_t first{0};  // compute: index in the skeleton's phase names, or kPause; isend, irecv: request; waits:
                           // first entry in Calls::requests; sendrecv, collectives with bytes by rank or neighbour,
                           // calls with a group: first entry in Calls::counts
  std::uint32_t count{0};  // waits: number of requests; collectives with bytes by rank: number of ranks, 0 where a rank
                           // does not know them (gatherv, scatterv away from the root); size of the group
  std::uint64_t bytes{0};  // sent or received. Collectives: one rank's contribution; scatter(v), reduce_scatter: one
                           // rank's share; alltoall: the message of one pair or neighbour; alltoallv, alltoallw: all
                           // bytes that this rank sends. Pause: picoseconds

  // A collective or remote operation that its rank starts, and completes in a later wait.
  constexpr bool nonblocking() const { return (flags & kNonblocking) != 0; }
  // Its request is complete at once.
  constexpr bool starts_nothing() const { return is_remote_operation(kind) && nonblocking() && peer == kProcNull; }
};
static_assert(sizeof(Call) == 32);

// MPI's name of the call: "MPI_Iallreduce" for the non-blocking form of MPI_Allreduce, "MPI_Rput" for MPI_Put with a
// request.
inline std::string call_name(const Call& call) {
  std::string name(call_name(call.kind));
  if (call.nonblocking()) {
    constexpr std::size_t kPrefix = std::string_view("MPI_").size();
    name[kPrefix] = static_cast<char>(name[kPrefix] - 'A' + 'a');
    name.insert(kPrefix, 1, is_remote_operation(call.kind) ? 'R' : 'I');
  }
  return name;
}

}  // namespace manynode
