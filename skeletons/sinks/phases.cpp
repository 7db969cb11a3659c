// The phases sink prints the compute phases that each rank executes, each once: rank, name.
#include <set>

#include "streams.hpp"

namespace manynode::sinks {

void print_phases(const Selection& selection, std::ostream& out) {
  const std::vector<std::string> phases = selection.application->phases();
  std::set<std::pair<int, std::uint32_t>> seen;
  for_each_step(selection, [&](const Step& step) {
    for (const Call& call : step.calls.calls) {
      if (call.kind == CallKind::Compute && call.first != kPause && seen.emplace(step.rank, call.first).second) {
        out << step.rank << ' ' << phases[call.first] << '\n';
      }
    }
  });
}

}  // namespace manynode::sinks
