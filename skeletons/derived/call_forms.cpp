#include "call_forms.hpp"

#include <optional>
#include <vector>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::derived {
namespace {

std::uint32_t fields_of(CallKind kind) {
  switch (kind) {
    case CallKind::Send:
    case CallKind::Recv:
    case CallKind::Bcast:
    case CallKind::Reduce:
    case CallKind::Gather:
    case CallKind::Scatter:
      return kPeer | kBytes;
    case CallKind::Isend:
    case CallKind::Irecv:
      return kPeer | kBytes | kRequest;
    case CallKind::Sendrecv:
      return kPeer | kBytes | kSource;
    case CallKind::Gatherv:
      return kPeer | kBytes | kReceived;
    case CallKind::Scatterv:
      return kPeer | kBytes | kSent;
    case CallKind::Allreduce:
    case CallKind::Scan:
    case CallKind::Exscan:
    case CallKind::Allgather:
    case CallKind::Alltoall:
    case CallKind::ReduceScatter:
      return kBytes;
    case CallKind::Allgatherv:
    case CallKind::ReduceScatterv:
      return kReceived;
    case CallKind::Alltoallv:
    case CallKind::Alltoallw:
      return kSent | kReceived;
    case CallKind::NeighborAllgather:
    case CallKind::NeighborAlltoall:
      return kBytes | kNeighbors;
    case CallKind::NeighborAllgatherv:
      return kBytes | kReceived | kNeighbors;
    case CallKind::NeighborAlltoallv:
    case CallKind::NeighborAlltoallw:
      return kSent | kReceived | kNeighbors;
    case CallKind::Wait:
    case CallKind::Waitall:
    case CallKind::Waitany:
    case CallKind::Waitsome:
      return kRequests;
    default:
      return 0;
  }
}

bool derived_files_have(const CallForm& form) { return !is_one_sided(form.kind); }

}  // namespace

CallForm form_of(const std::string& name, const std::string& where) {
  if (const std::optional<CallForm> form = call_form(name); form && derived_files_have(*form)) return *form;
  std::vector<std::string> names = call_names();
  std::erase_if(names, [](const std::string& known) { return !derived_files_have(*call_form(known)); });
  throw UserError("there is no such call", where, name, joined(names), did_you_mean(name, names));
}

std::uint32_t required_fields(const CallForm& form) {
  return fields_of(form.kind) | (form.nonblocking ? std::uint32_t{kRequest} : 0);
}

std::uint32_t optional_fields(const CallForm& form) {
  if (form.kind == CallKind::Wait) return kOrder | kTake | kEach;
  if (is_wait(form.kind)) return kOrder | kTake;
  if (is_collective(form.kind)) return kCommunicator;
  return kCommunicator | kTag | (form.kind == CallKind::Sendrecv ? kReceiveBytes | kReceiveTag : 0);
}

}  // namespace manynode::derived
