// The count sink prints: calls and bytes of each operation; how often each phase is computed (pauses are a phase of
// that name); messages and bytes between each pair of ranks. Collectives and one-sided calls count as messages only
// with
// --lowered; a remote operation is then a message to the target and one back.
#include <fmt/format.h>

#include <map>

#include "streams.hpp"

namespace manynode::sinks {
namespace {

struct Total {
  std::uint64_t number{0};
  std::uint64_t bytes{0};

  void add(std::uint64_t more_bytes) {
    ++number;
    bytes += more_bytes;
  }
};

struct Totals {
  std::map<std::string, Total> operations;
  std::map<std::string, Total> phases;
  std::map<std::pair<int, int>, Total> pairs;  // sender, receiver
};

std::string name_of(std::uint32_t phase, const std::vector<std::string>& phases) {
  return phase == kPause ? "pause" : phases[phase];
}

void count_call(const Call& call, const Step& step, const std::vector<std::string>& phases, Totals& totals) {
  if (call.kind == CallKind::Compute) {
    totals.phases[name_of(call.first, phases)].add(0);
    return;
  }
  totals.operations[call_name(call)].add(call.bytes);
  const bool sends = call.kind == CallKind::Send || call.kind == CallKind::Isend || call.kind == CallKind::Sendrecv;
  if (sends && call.peer != kProcNull) {
    totals.pairs[{step.rank, step.communicators.world_rank(Communicator{call.communicator}, call.peer)}].add(
        call.bytes);
  }
}

void count_primitive(const Primitive& primitive, const Step& step, const std::vector<std::string>& phases,
                     Totals& totals) {
  switch (primitive.kind) {
    case PrimitiveKind::Compute:
      totals.phases[name_of(primitive.phase, phases)].add(0);
      break;
    case PrimitiveKind::ReduceLocal:
      totals.operations["ReduceLocal"].add(primitive.bytes);
      break;
    case PrimitiveKind::CopyLocal:
      totals.operations["CopyLocal"].add(primitive.bytes);
      break;
    case PrimitiveKind::FreshMemory:
      totals.operations["FreshMemory"].add(primitive.bytes);
      break;
    case PrimitiveKind::CollectiveCall:
      totals.operations["CollectiveCall"].add(0);
      break;
    case PrimitiveKind::CollectiveStep:
      totals.operations["CollectiveStep"].add(0);
      break;
    case PrimitiveKind::Wait:
      totals.operations["Wait"].add(0);
      break;
    case PrimitiveKind::Irecv:
      totals.operations["Irecv"].add(primitive.bytes);
      break;
    case PrimitiveKind::Isend:
      totals.operations["Isend"].add(primitive.bytes);
      totals.pairs[{step.rank, primitive.peer}].add(primitive.bytes);
      break;
    case PrimitiveKind::Remote:
      totals.operations["Remote"].add(primitive.bytes + primitive.returned);
      totals.pairs[{step.rank, primitive.peer}].add(primitive.bytes);
      totals.pairs[{primitive.peer, step.rank}].add(primitive.returned);
      break;
  }
}

}  // namespace

void print_count(const Selection& selection, std::ostream& out) {
  const std::vector<std::string> phases = selection.application->phases();
  Totals totals;
  for_each_step(selection, [&](const Step& step) {
    for (const Primitive& primitive : step.primitives) {
      count_primitive(primitive, step, phases, totals);
    }
    if (!selection.lowered) {
      for (const Call& call : step.calls.calls) {
        count_call(call, step, phases, totals);
      }
    }
  });

  out << fmt::format("{:<16} {:>14} {:>18}\n", "operation", "number", "bytes");
  for (const auto& [name, total] : totals.operations) {
    out << fmt::format("{:<16} {:>14} {:>18}\n", name, total.number, total.bytes);
  }
  out << fmt::format("\n{:<16} {:>14}\n", "phase", "number");
  for (const auto& [name, total] : totals.phases) {
    out << fmt::format("{:<16} {:>14}\n", name, total.number);
  }
  out << fmt::format("\n{:<7} {:<8} {:>14} {:>18}\n", "sender", "receiver", "messages", "bytes");
  for (const auto& [pair, total] : totals.pairs) {
    out << fmt::format("{:<7} {:<8} {:>14} {:>18}\n", pair.first, pair.second, total.number, total.bytes);
  }
}

}  // namespace manynode::sinks
