// One MPI call of one rank, or the compute phase between two calls: the record that a skeleton emits.
//
// A skeleton emits a stream of calls, the markers record the same stream of the real application, and sinks print it.
// To save memory per rank, engines lower a call to primitives (primitive.hpp) only when a rank reaches it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  ReduceScatter,
};

inline constexpr std::size_t kCallKinds = 18;

// MPI's own names, in the order of CallKind; "compute" for the phase between two calls.
inline constexpr std::array<std::string_view, kCallKinds> kCallNames = {
    "compute",     "MPI_Send",      "MPI_Isend",   "MPI_Recv",     "MPI_Irecv",     "MPI_Wait",
    "MPI_Waitall", "MPI_Sendrecv",  "MPI_Barrier", "MPI_Bcast",    "MPI_Reduce",    "MPI_Allreduce",
    "MPI_Gather",  "MPI_Allgather", "MPI_Scatter", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Reduce_scatter_block"};

constexpr std::string_view call_name(CallKind kind) { return kCallNames[static_cast<std::size_t>(kind)]; }

constexpr bool is_collective(CallKind kind) { return kind >= CallKind::Barrier; }

inline constexpr std::int32_t kNoPeer = -1;
inline constexpr std::int32_t kAnySource = -2;
inline constexpr std::int32_t kProcNull = -3;  // as MPI_PROC_NULL: the call returns at once
inline constexpr std::int32_t kAnyTag = -1;

// In place of a phase: a compute call with a stated time, the same in every engine, with or without a timing profile.
inline constexpr std::uint32_t kPause = 0xffffffffu;

// Fields that a kind does not use are 0 (or kNoPeer). A step of every rank may be in memory at once: the record is
// limited to half a cache line, and fields of few kinds are in the side tables of Calls.
struct Call {
  CallKind kind{CallKind::Compute};
  std::uint8_t reserved{0};
  std::uint16_t communicator{0};  // index in the rank's communicator table; 0 is MPI_COMM_WORLD
  std::int32_t peer{kNoPeer};     // rank in the communicator: destination, source or root
  std::int32_t peer2{kNoPeer};    // sendrecv: source
  std::int32_t tag{0};
  std::uint32_t first{0};  // compute: index in the skeleton's phase names, or kPause; isend, irecv: request; wait,
                           // waitall: first entry in Calls::requests; sendrecv, alltoallv: first entry in Calls::counts
  std::uint32_t count{0};  // wait, waitall: number of requests; alltoallv: size of the communicator
  std::uint64_t bytes{0};  // sent or received. Collectives: one rank's contribution; scatter, gather, reduce_scatter:
                           // one rank's share; alltoall: the message of one pair; alltoallv: all bytes that this rank
                           // sends. Pause: picoseconds
};
static_assert(sizeof(Call) == 32);

}  // namespace manynode
