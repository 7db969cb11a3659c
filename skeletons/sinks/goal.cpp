// The goal sink: the schedule language of LogGOPSim (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly
// Language", 2009), from primitives. A wait is no operation there: what follows it requires the operations waited for.
// Compute phases are `calc 0`, because their times come from a profile and not from the skeleton.
#include <fmt/format.h>

#include <unordered_map>

#include "manynode/error_report.hpp"
#include "streams.hpp"

namespace manynode::sinks {
namespace {

class Schedule {
 public:
  explicit Schedule(std::ostream& out) : out_(out) {}

  void begin(int rank) { out_ << fmt::format("rank {} {{\n", rank); }
  void end() { out_ << "}\n"; }

  void add(const Primitive& primitive) {
    switch (primitive.kind) {
      case PrimitiveKind::Wait: {
        const auto pending = label_of_request_.find(primitive.request);
        frontier_.push_back(pending->second);
        label_of_request_.erase(pending);
        if (frontier_.size() >= kLongFrontier) {
          frontier_.assign(1, operation("calc 0"));
        }
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
      default:
        frontier_.assign(1, operation("calc 0"));
        return;
    }
  }

 private:
  // Without a compute phase now and then, the list of what an operation requires would grow with the program.
  static constexpr std::size_t kLongFrontier = 32;

  // LogGOPSim knows only tags, so the context goes into the tag's upper bits.
  static std::uint32_t tag(const Primitive& primitive) {
    constexpr unsigned kTagBits = 20;
    return (static_cast<std::uint32_t>(primitive.context) << kTagBits) |
           (static_cast<std::uint32_t>(primitive.tag) & ((1u << kTagBits) - 1));
  }

  std::uint64_t operation(const std::string& text) {
    const std::uint64_t label = next_label_++;
    out_ << fmt::format("l{}: {}\n", label, text);
    for (const std::uint64_t before : frontier_) {
      out_ << fmt::format("l{} requires l{}\n", label, before);
    }
    return label;
  }

  std::ostream& out_;
  std::uint64_t next_label_{1};
  std::vector<std::uint64_t> frontier_;  // what every later operation requires
  std::unordered_map<std::uint32_t, std::uint64_t> label_of_request_;
};

}  // namespace

void print_goal(const Selection& selection, std::ostream& out) {
  Selection lowered = selection;
  lowered.lowered = true;
  out << fmt::format("num_ranks {}\n", selection.size);
  for (const int rank : selection.ranks) {
    lowered.ranks = {rank};
    Schedule schedule(out);
    schedule.begin(rank);
    for_each_step(lowered, [&](const Step& step) {
      for (const Primitive& primitive : step.primitives) {
        schedule.add(primitive);
      }
    });
    schedule.end();
  }
}

}  // namespace manynode::sinks
