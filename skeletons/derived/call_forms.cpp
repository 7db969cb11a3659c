#include "call_forms.hpp"

#include <map>
#include <string_view>
#include <vector>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::derived {
namespace {

std::uint32_t required_fields(CallKind kind) {
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
    case CallKind::Barrier:
    case CallKind::Compute:
      return 0;
  }
  return 0;
}

std::uint32_t optional_fields(CallKind kind) {
  if (is_wait(kind)) return kOrder | kTake;
  if (is_collective(kind)) return kCommunicator;
  return kCommunicator | kTag | (kind == CallKind::Sendrecv ? kReceiveBytes | kReceiveTag : 0);
}

std::map<std::string, CallForm> all_forms() {
  std::map<std::string, CallForm> forms;
  for (std::size_t i = 1; i < kCallKinds; ++i) {  // without compute
    const auto kind = static_cast<CallKind>(i);
    const CallForm form{kind, false, required_fields(kind), optional_fields(kind)};
    forms.emplace(call_name(kind), form);
    if (is_collective(kind)) {
      Call nonblocking;
      nonblocking.kind = kind;
      nonblocking.flags = kNonblocking;
      forms.emplace(call_name(nonblocking), CallForm{kind, true, form.required | kRequest, form.optional});
    }
  }
  return forms;
}

}  // namespace

CallForm call_form(const std::string& name, const std::string& where) {
  static const std::map<std::string, CallForm> forms = all_forms();
  const auto found = forms.find(name);
  if (found != forms.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, form] : forms) names.push_back(known);
  throw UserError("there is no such call", where, name, joined(names), did_you_mean(name, names));
}

}  // namespace manynode::derived
