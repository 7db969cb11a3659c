// Calls by name: a table of names, and one line for each call of Mpi.
#include "manynode/named_call.hpp"

#include <map>
#include <stdexcept>
#include <string>

namespace manynode {
namespace {

// Calls the blocking or the non-blocking form of a collective with the same arguments.
template <class... Parameters, class... Arguments>
std::optional<Request> either(Mpi& mpi, const CallForm& form, void (Mpi::*blocking)(Parameters...),
                              Request (Mpi::*nonblocking)(Parameters...), const Arguments&... arguments) {
  if (form.nonblocking) {
    return (mpi.*nonblocking)(arguments...);
  }
  (mpi.*blocking)(arguments...);
  return std::nullopt;
}

template <class... Arguments>
std::optional<Request> no_request(Mpi& mpi, void (Mpi::*blocking)(Arguments...),
                                  std::type_identity_t<Arguments>... arguments) {
  (mpi.*blocking)(arguments...);
  return std::nullopt;
}

std::map<std::string, CallForm, std::less<>> made_forms() {
  std::map<std::string, CallForm, std::less<>> forms;
  for (std::size_t i = 1; i < kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    forms[std::string(call_name(kind))] = {kind, false};
    if (is_collective(kind) || is_remote_operation(kind)) {
      Call call;
      call.kind = kind;
      call.flags = kNonblocking;
      forms[call_name(call)] = {kind, true};
    }
  }
  return forms;
}

const std::map<std::string, CallForm, std::less<>>& forms_by_name() {
  static const auto forms = made_forms();
  return forms;
}

std::optional<Request> emit_message(Mpi& mpi, const NamedCall& call) {
  switch (call.form.kind) {
    case CallKind::Send:
      return no_request(mpi, &Mpi::send, call.peer, call.bytes, call.tag, call.communicator);
    case CallKind::Recv:
      return no_request(mpi, &Mpi::recv, call.peer, call.bytes, call.tag, call.communicator);
    case CallKind::Isend:
      return mpi.isend(call.peer, call.bytes, call.tag, call.communicator);
    case CallKind::Irecv:
      return mpi.irecv(call.peer, call.bytes, call.tag, call.communicator);
    case CallKind::Sendrecv:
      return no_request(mpi, &Mpi::sendrecv, call.peer, call.bytes, call.tag, call.source, call.receive_bytes,
                        call.receive_tag, call.communicator);
    case CallKind::Wait:
      return no_request(mpi, &Mpi::wait, call.requests.front());
    case CallKind::Waitany:
      return no_request(mpi, &Mpi::waitany, call.requests.front());
    case CallKind::Waitall:
      return no_request(mpi, &Mpi::waitall, call.requests);
    case CallKind::Waitsome:
      return no_request(mpi, &Mpi::waitsome, call.requests);
    default:
      throw std::logic_error("a call without a name");
  }
}

// The form of a remote operation without or with a request.
std::optional<Request> either(Mpi& mpi, const NamedCall& call, void (Mpi::*plain)(int, std::uint64_t, Window),
                              Request (Mpi::*with_request)(int, std::uint64_t, Window)) {
  const Window window{call.communicator, call.window};
  if (call.form.nonblocking) return (mpi.*with_request)(call.peer, call.bytes, window);
  return no_request(mpi, plain, call.peer, call.bytes, window);
}

std::optional<Request> emit_one_sided(Mpi& mpi, const NamedCall& call) {
  const Window window{call.communicator, call.window};
  switch (call.form.kind) {
    case CallKind::Put:
      return either(mpi, call, &Mpi::put, &Mpi::rput);
    case CallKind::Get:
      return either(mpi, call, &Mpi::get, &Mpi::rget);
    case CallKind::Accumulate:
      return either(mpi, call, &Mpi::accumulate, &Mpi::raccumulate);
    case CallKind::GetAccumulate:
      return either(mpi, call, &Mpi::get_accumulate, &Mpi::rget_accumulate);
    case CallKind::WinFence:
      return no_request(mpi, &Mpi::win_fence, window);
    case CallKind::WinPost:
      return no_request(mpi, &Mpi::win_post, call.group, window);
    case CallKind::WinStart:
      return no_request(mpi, &Mpi::win_start, call.group, window);
    case CallKind::WinComplete:
      return no_request(mpi, &Mpi::win_complete, call.group, window);
    case CallKind::WinWait:
      return no_request(mpi, &Mpi::win_wait, call.group, window);
    case CallKind::WinLock:
      return no_request(mpi, &Mpi::win_lock, call.peer, window);
    case CallKind::WinUnlock:
      return no_request(mpi, &Mpi::win_unlock, call.peer, window);
    case CallKind::WinFlush:
      return no_request(mpi, &Mpi::win_flush, call.peer, window);
    default:
      throw std::logic_error("a call without a name");
  }
}

}  // namespace

std::vector<std::string> call_names() {
  std::vector<std::string> names;
  for (const auto& [name, form] : forms_by_name()) names.push_back(name);
  return names;
}

std::optional<CallForm> call_form(std::string_view name) {
  const auto& forms = forms_by_name();
  const auto found = forms.find(name);
  return found == forms.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Request> emit(Mpi& mpi, const NamedCall& call) {
  const CallForm& form = call.form;
  const Communicator comm = call.communicator;
  using OneShare = void (Mpi::*)(std::uint64_t, Communicator);
  using Shares = void (Mpi::*)(Bytes, Communicator);
  using IOneShare = Request (Mpi::*)(std::uint64_t, Communicator);
  using IShares = Request (Mpi::*)(Bytes, Communicator);
  switch (form.kind) {
    case CallKind::Barrier:
      return either(mpi, form, &Mpi::barrier, &Mpi::ibarrier, comm);
    case CallKind::Bcast:
      return either(mpi, form, &Mpi::bcast, &Mpi::ibcast, call.bytes, call.peer, comm);
    case CallKind::Reduce:
      return either(mpi, form, &Mpi::reduce, &Mpi::ireduce, call.bytes, call.peer, comm);
    case CallKind::Allreduce:
      return either(mpi, form, &Mpi::allreduce, &Mpi::iallreduce, call.bytes, comm);
    case CallKind::Scan:
      return either(mpi, form, &Mpi::scan, &Mpi::iscan, call.bytes, comm);
    case CallKind::Exscan:
      return either(mpi, form, &Mpi::exscan, &Mpi::iexscan, call.bytes, comm);
    case CallKind::Gather:
      return either(mpi, form, &Mpi::gather, &Mpi::igather, call.bytes, call.peer, comm);
    case CallKind::Gatherv:
      return either(mpi, form, &Mpi::gatherv, &Mpi::igatherv, call.bytes, call.received, call.peer, comm);
    case CallKind::Allgather:
      return either(mpi, form, &Mpi::allgather, &Mpi::iallgather, call.bytes, comm);
    case CallKind::Allgatherv:
      return either(mpi, form, &Mpi::allgatherv, &Mpi::iallgatherv, call.received, comm);
    case CallKind::Scatter:
      return either(mpi, form, &Mpi::scatter, &Mpi::iscatter, call.bytes, call.peer, comm);
    case CallKind::Scatterv:
      return either(mpi, form, &Mpi::scatterv, &Mpi::iscatterv, call.sent, call.bytes, call.peer, comm);
    case CallKind::Alltoall:
      return either(mpi, form, &Mpi::alltoall, &Mpi::ialltoall, call.bytes, comm);
    case CallKind::Alltoallv:
      return either(mpi, form, &Mpi::alltoallv, &Mpi::ialltoallv, call.sent, call.received, comm);
    case CallKind::Alltoallw:
      return either(mpi, form, &Mpi::alltoallw, &Mpi::ialltoallw, call.sent, call.received, comm);
    case CallKind::ReduceScatter:
      return either(mpi, form, static_cast<OneShare>(&Mpi::reduce_scatter),
                    static_cast<IOneShare>(&Mpi::ireduce_scatter), call.bytes, comm);
    case CallKind::ReduceScatterv:
      return either(mpi, form, static_cast<Shares>(&Mpi::reduce_scatter), static_cast<IShares>(&Mpi::ireduce_scatter),
                    call.received, comm);
    case CallKind::NeighborAllgather:
      return either(mpi, form, &Mpi::neighbor_allgather, &Mpi::ineighbor_allgather, call.bytes, call.neighbors, comm);
    case CallKind::NeighborAllgatherv:
      return either(mpi, form, &Mpi::neighbor_allgatherv, &Mpi::ineighbor_allgatherv, call.bytes, call.received,
                    call.neighbors, comm);
    case CallKind::NeighborAlltoall:
      return either(mpi, form, &Mpi::neighbor_alltoall, &Mpi::ineighbor_alltoall, call.bytes, call.neighbors, comm);
    case CallKind::NeighborAlltoallv:
      return either(mpi, form, &Mpi::neighbor_alltoallv, &Mpi::ineighbor_alltoallv, call.sent, call.received,
                    call.neighbors, comm);
    case CallKind::NeighborAlltoallw:
      return either(mpi, form, &Mpi::neighbor_alltoallw, &Mpi::ineighbor_alltoallw, call.sent, call.received,
                    call.neighbors, comm);
    default:
      return is_one_sided(form.kind) ? emit_one_sided(mpi, call) : emit_message(mpi, call);
  }
}

}  // namespace manynode
