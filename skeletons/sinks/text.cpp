// The text sink: one line per call, `<rank> <number> <operation> key=value...`, words separated by one space.
//
//   0 0 compute phase=setup
//   0 1 MPI_Barrier communicator=0 size=2
//   0 2 MPI_Irecv peer=1 bytes=2048 tag=99 request=0
//   0 5 MPI_Waitall requests=2 ids=0,1
//   0 6 pause picoseconds=5000000
//
// The name of a phase ends its line: it may have spaces.
// Peers are ranks of MPI_COMM_WORLD (-2 any source, -3 none); tag -1 is any tag. `communicator` is the rank's number of
// the communicator (0: the world). Collectives have it, messages only if it is not 0. Collectives with a root have
// root=<world rank>; `bytes` is Call::bytes. Non-blocking collectives have their request after the size:
//
//   0 7 MPI_Iallreduce bytes=8 communicator=0 size=4 request=2
//
// Lists are at the end of the line, and left out if they are empty: `ids`, the requests of a wait; `sources` and
// `destinations`, the neighbours as ranks of MPI_COMM_WORLD; `sent` and `received`, bytes by rank of the communicator
// or by destination and source. Sizes that this rank does not know (away from the root of a gatherv) are left out.
//
//   0 8 MPI_Gatherv root=0 bytes=100 communicator=0 size=3 received=100,0,50
//   0 9 MPI_Neighbor_alltoallv bytes=60 communicator=0 size=4 sources=1,3 destinations=1,3 sent=20,40 received=20,80
//
// One-sided calls have the window's number on its communicator. Without a peer, locks, unlocks and flushes mean all
// ranks; `group` has ranks of MPI_COMM_WORLD.
//
//   0 10 MPI_Put peer=1 bytes=800 window=0
//   0 11 MPI_Rget peer=1 bytes=800 window=0 request=3
//   0 12 MPI_Win_start window=0 communicator=2 group=1,3
//
// Lowered streams have the primitives in place of the calls:
//
//   0 0 Isend call=MPI_Isend peer=1 bytes=2048 tag=99 context=0 request=1
//   0 1 Remote call=MPI_Get peer=1 bytes=0 returned=800 request=2147483648
//
// Golden tests and the conformance test read this form: keys may be added at the end of a line, not moved or renamed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <numeric>

#include "streams.hpp"

namespace manynode::sinks {
namespace {

class Lines {
 public:
  Lines(std::ostream& out, const std::vector<std::string>& phases) : out_(out), phases_(phases) {}

  void start_rank(int rank) {
    if (rank != rank_) {
      rank_ = rank;
      number_ = 0;
    }
  }

  void write(const Call& call, const Step& step);
  void write(const Primitive& primitive);

 private:
  template <typename... Values>
  void begin(fmt::format_string<Values...> format, Values&&... values) {
    buffer_.clear();
    fmt::format_to(std::back_inserter(buffer_), "{} {} ", rank_, number_++);
    add(format, std::forward<Values>(values)...);
  }

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
  }

  // Nothing if the list is empty.
  template <typename List>
  void add_list(const char* key, const List& list) {
    if (!std::empty(list)) add(" {}={}", key, fmt::join(list, ","));
  }

  void add_collective(const Call& call, const Step& step);
  void add_one_sided(const Call& call, const Step& step);

  void end() { out_ << buffer_ << '\n'; }

  std::ostream& out_;
  const std::vector<std::string>& phases_;
  int rank_{-1};
  std::uint64_t number_{0};
  std::string buffer_;
};

void Lines::write(const Call& call, const Step& step) {
  const Communicator communicator{call.communicator};
  const auto world = [&](int peer) { return step.communicators.world_rank(communicator, peer); };
  if (call.kind == CallKind::Compute && call.first == kPause) {
    begin("pause picoseconds={}", call.bytes);
    end();
    return;
  }
  begin("{}", call_name(call));
  switch (call.kind) {
    case CallKind::Compute:
      add(" phase={}", phases_[call.first]);
      break;
    case CallKind::Send:
    case CallKind::Recv:
      add(" peer={} bytes={} tag={}", world(call.peer), call.bytes, call.tag);
      break;
    case CallKind::Isend:
    case CallKind::Irecv:
      add(" peer={} bytes={} tag={} request={}", world(call.peer), call.bytes, call.tag, call.first);
      break;
    case CallKind::Sendrecv:
      add(" peer={} bytes={} tag={} source={} receive_bytes={} receive_tag={}", world(call.peer), call.bytes, call.tag,
          world(call.peer2), step.calls.receive_bytes(call), step.calls.receive_tag(call));
      break;
    case CallKind::Wait:
    case CallKind::Waitall:
    case CallKind::Waitany:
    case CallKind::Waitsome:
      add(" requests={}", call.count);
      add_list("ids", step.calls.waited_for(call));
      break;
    default:
      if (is_one_sided(call.kind)) {
        add_one_sided(call, step);
        end();
        return;
      }
      add_collective(call, step);
      break;
  }
  if (call.communicator != 0 && !is_collective(call.kind)) {
    add(" communicator={}", call.communicator);
  }
  end();
}

void Lines::add_collective(const Call& call, const Step& step) {
  const Communicator communicator{call.communicator};
  const auto world = [&](int rank) { return step.communicators.world_rank(communicator, rank); };
  const bool by_pair = call.kind == CallKind::Alltoallv || call.kind == CallKind::Alltoallw;
  if (call.peer != kNoPeer) {
    add(" root={}", world(call.peer));
  }
  if (call.kind != CallKind::Barrier) {
    add(" bytes={}", call.bytes);
  }
  if (by_pair) {
    const auto received = step.calls.received(call);
    add(" receive_bytes={}", std::accumulate(received.begin(), received.end(), std::uint64_t{0}));
  }
  add(" communicator={} size={}", call.communicator, step.communicators.size(communicator));
  if (call.nonblocking()) {
    add(" request={}", call.tag);
  }
  if (is_neighbor_collective(call.kind)) {
    const auto world_ranks = [&](std::span<const std::uint64_t> ranks) {
      std::vector<int> found;
      for (const std::uint64_t rank : ranks) found.push_back(world(static_cast<int>(rank)));
      return found;
    };
    add_list("sources", world_ranks(step.calls.sources(call)));
    add_list("destinations", world_ranks(step.calls.destinations(call)));
    if (call.kind == CallKind::NeighborAllgather || call.kind == CallKind::NeighborAlltoall) {
      return;  // `bytes` is each of them
    }
  }
  add_list("sent", step.calls.sent(call));
  add_list("received", step.calls.received(call));
}

void Lines::add_one_sided(const Call& call, const Step& step) {
  const auto world = [&](int rank) { return step.communicators.world_rank(Communicator{call.communicator}, rank); };
  if (call.peer != kNoPeer) add(" peer={}", world(call.peer));
  if (is_remote_operation(call.kind)) add(" bytes={}", call.bytes);
  add(" window={}", call.peer2);
  if (call.nonblocking()) add(" request={}", call.tag);
  if (call.communicator != 0) add(" communicator={}", call.communicator);
  if (!has_group(call.kind)) return;
  std::vector<int> group;
  for (const std::uint64_t rank : step.calls.group(call)) group.push_back(world(static_cast<int>(rank)));
  add_list("group", group);
}

void Lines::write(const Primitive& primitive) {
  switch (primitive.kind) {
    case PrimitiveKind::Compute:
      if (primitive.phase == kPause) {
        begin("Pause picoseconds={}", primitive.bytes);
      } else {
        begin("Compute phase={}", phases_[primitive.phase]);
      }
      break;
    case PrimitiveKind::ReduceLocal:
      begin("ReduceLocal call={} bytes={}", call_name(primitive.call), primitive.bytes);
      break;
    case PrimitiveKind::CopyLocal:
      begin("CopyLocal call={} bytes={}", call_name(primitive.call), primitive.bytes);
      break;
    case PrimitiveKind::FreshMemory:
      begin("FreshMemory call={} bytes={}", call_name(primitive.call), primitive.bytes);
      break;
    case PrimitiveKind::CollectiveCall:
    case PrimitiveKind::CollectiveStep:
      begin("{} call={}", primitive.kind == PrimitiveKind::CollectiveCall ? "CollectiveCall" : "CollectiveStep",
            call_name(primitive.call));
      break;
    case PrimitiveKind::Wait:
      begin("Wait call={} request={}", call_name(primitive.call), primitive.request);
      break;
    case PrimitiveKind::Remote:
      begin("Remote call={} peer={} bytes={} returned={} request={}", call_name(primitive.call), primitive.peer,
            primitive.bytes, primitive.returned, primitive.request);
      break;
    default:
      begin("{} call={} peer={} bytes={} tag={} context={} request={}",
            primitive.kind == PrimitiveKind::Isend ? "Isend" : "Irecv", call_name(primitive.call), primitive.peer,
            primitive.bytes, primitive.tag, primitive.context, primitive.request);
      break;
  }
  end();
}

}  // namespace

void print_text(const Selection& selection, std::ostream& out) {
  const std::vector<std::string> phases = selection.application->phases();
  Lines lines(out, phases);
  for_each_step(selection, [&](const Step& step) {
    lines.start_rank(step.rank);
    if (selection.lowered) {
      for (const Primitive& primitive : step.primitives) {
        lines.write(primitive);
      }
    } else {
      for (const Call& call : step.calls.calls) {
        lines.write(call, step);
      }
    }
  });
}

}  // namespace manynode::sinks
