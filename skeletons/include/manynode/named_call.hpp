// A call by MPI's name with the fields that it needs: how skeletons that read their calls from files emit them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manynode/mpi.hpp"

namespace manynode {

// "MPI_Iallreduce" is {CallKind::Allreduce, true}, "MPI_Rput" {CallKind::Put, true}. MPI_Isend and MPI_Irecv are kinds
// of their own.
struct CallForm {
  CallKind kind{CallKind::Barrier};
  bool nonblocking{false};  // of collectives and remote operations

  bool operator==(const CallForm&) const = default;
};

// MPI's names of all calls that skeletons have, sorted.
std::vector<std::string> call_names();

// None for a name that skeletons do not have.
std::optional<CallForm> call_form(std::string_view name);

// Ranks are those of the communicator. Fields that a call does not use are not read.
struct NamedCall {
  CallForm form;
  Communicator communicator;
  int peer{kNoPeer};    // destination, source, root or target; kNoPeer: all, as of MPI_Win_flush_all
  int source{kNoPeer};  // of MPI_Sendrecv
  int tag{0};
  int receive_tag{0};  // of MPI_Sendrecv
  std::uint64_t bytes{0};
  std::uint64_t receive_bytes{0};  // of MPI_Sendrecv
  Bytes sent;                      // of each block, where the call has many
  Bytes received;
  Neighbors neighbors;
  std::span<const Request> requests;  // that a wait completes
  int window{0};                      // of one-sided calls: the window's number
  std::span<const int> group;         // of MPI_Win_post, _start, _complete and _wait
};

// Returns the request of a call that makes one. Errors are those of Mpi.
std::optional<Request> emit(Mpi& mpi, const NamedCall& call);

}  // namespace manynode
