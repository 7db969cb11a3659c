// One MPI call of one rank, or the compute phase between two calls: the record that a skeleton emits.
//
// A stream of calls is what a skeleton promises, what the markers record of the real application, and what the sinks
// print. Engines lower each call to primitives (primitive.hpp) only when a rank reaches it, so that memory per rank
// stays small.
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

// In place of a phase: a compute call that takes the time it states, in every engine, with or without a timing profile.
inline constexpr std::uint32_t kPause = 0xffffffffu;

// The meaning of a field that a kind does not use is 0 (or kNoPeer). A step of every rank may be in memory at a time,
// so the record is kept at half a cache line; what few kinds need is in the side tables of Calls.
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
  std::uint64_t bytes{0};  // sent or received; collectives: the size of one rank's contribution, for scatter, gather
                           // and reduce_scatter of one rank's share, for alltoall of one pair, for alltoallv of all
                           // that this rank sends; of a pause its picoseconds
};
static_assert(sizeof(Call) == 32);

}  // namespace manynode
