// The goal sink: the schedule language of LogGOPSim (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly
// Language", 2009), from primitives. GOAL has no wait: the next operation requires the operations that were waited for.
// Compute phases, pauses, reductions and other work of collectives are `calc` with whole nanoseconds (0 if the
// selection has no times; copies, entries and steps of collectives without a time are left out). The rounding error of
// one is added to the next.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "manynode/error_report.hpp"
#include "streams.hpp"

namespace manynode::sinks {
namespace {

class Schedule {
 public:
  Schedule(const Selection& selection, int rank, std::ostream& out)
      : selection_(selection), rank_(static_cast<std::uint32_t>(rank)), out_(out) {}

  void begin() { out_ << fmt::format("rank {} {{\n", rank_); }
  void end() { out_ << "}\n"; }

  void add(const Primitive& primitive) {
    switch (primitive.kind) {
      case PrimitiveKind::Wait: {
        const auto pending = label_of_request_.find(primitive.request);
        waited_for_.push_back(pending->second);
        label_of_request_.erase(pending);
        return;
      }
      case PrimitiveKind::Isend:
        label_of_request_[primitive.request] =
            operation(fmt::format("send {}b to {} tag {}", primitive.bytes, primitive.peer, tag(primitive)));
        return;
      case PrimitiveKind::Irecv:
        if (primitive.peer == kAnySource || primitive.tag == kAnyTag) {
          throw UserError("the goal sink cannot express a receive from any source or with any tag", "--sink", "goal",
                          "text, count", "choose another sink for this application");
        }
        label_of_request_[primitive.request] =
            operation(fmt::format("recv {}b from {} tag {}", primitive.bytes, primitive.peer, tag(primitive)));
        return;
      case PrimitiveKind::Remote:
        throw UserError("the goal sink cannot express one-sided communication", "--sink", "goal", "text, count",
                        "choose another sink for this application");
      default:
        waited_for_.push_back(operation(fmt::format("calc {}", nanoseconds(primitive))));
        return;
    }
  }

 private:
  // LogGOPSim knows only tags, so the context goes into the tag's upper bits.
  static std::uint32_t tag(const Primitive& primitive) {
    constexpr unsigned kTagBits = 20;
    return (static_cast<std::uint32_t>(primitive.context) << kTagBits) |
           (static_cast<std::uint32_t>(primitive.tag) & ((1u << kTagBits) - 1));
  }

  std::uint64_t nanoseconds(const Primitive& primitive) {
    if (primitive.kind == PrimitiveKind::Compute && primitive.phase == kPause) {
      owed_s_ += static_cast<double>(primitive.bytes) * 1e-12;
    } else if (primitive.kind == PrimitiveKind::Compute && selection_.timing != nullptr) {
      owed_s_ += selection_.timing->draw(rank_, primitive.phase, draws_[primitive.phase]++);
    } else if (primitive.kind == PrimitiveKind::ReduceLocal && selection_.reduce_bandwidth_Bps > 0) {
      owed_s_ += static_cast<double>(primitive.bytes) / selection_.reduce_bandwidth_Bps;
    } else if (primitive.kind == PrimitiveKind::CopyLocal) {
      owed_s_ += static_cast<double>(primitive.bytes) / selection_.copy_bandwidth_Bps;
    } else if (primitive.kind == PrimitiveKind::CollectiveCall) {
      owed_s_ += selection_.collective_call_s;
    } else if (primitive.kind == PrimitiveKind::CollectiveStep) {
      owed_s_ += selection_.collective_step_s;
    }
    const double whole = std::max(0.0, std::round(owed_s_ * 1e9));
    owed_s_ -= whole * 1e-9;
    return static_cast<std::uint64_t>(whole);
  }

  // A rank works sequentially: an operation starts when the previous one has started and all operations waited for
  // since then have ended.
  std::uint64_t operation(const std::string& text) {
    const std::uint64_t label = next_label_++;
    out_ << fmt::format("l{}: {}\n", label, text);
    if (label > 1 && std::find(waited_for_.begin(), waited_for_.end(), label - 1) == waited_for_.end()) {
      out_ << fmt::format("l{} irequires l{}\n", label, label - 1);
    }
    for (const std::uint64_t before : waited_for_) {
      out_ << fmt::format("l{} requires l{}\n", label, before);
    }
    waited_for_.clear();
    return label;
  }

  const Selection& selection_;
  std::uint32_t rank_;
  std::ostream& out_;
  std::unordered_map<std::uint32_t, std::uint32_t> draws_;  // [phase]
  double owed_s_{0};
  std::uint64_t next_label_{1};
  std::vector<std::uint64_t> waited_for_;  // since the last operation
  std::unordered_map<std::uint32_t, std::uint64_t> label_of_request_;
};

}  // namespace

void print_goal(const Selection& selection, std::ostream& out) {
  Selection lowered = selection;
  lowered.lowered = true;
  lowered.work = {.copies = selection.copy_bandwidth_Bps > 0,
                  .calls = selection.collective_call_s > 0,
                  .steps = selection.collective_step_s > 0};
  out << fmt::format("num_ranks {}\n", selection.size);
  for (const int rank : selection.ranks) {
    lowered.ranks = {rank};
    Schedule schedule(selection, rank, out);
    schedule.begin();
    for_each_step(lowered, [&](const Step& step) {
      for (const Primitive& primitive : step.primitives) {
        schedule.add(primitive);
      }
    });
    schedule.end();
  }
}

}  // namespace manynode::sinks
