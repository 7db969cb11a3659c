// The phases sink prints the compute phases that each rank executes: rank, number of times, name.
#include <map>

#include "streams.hpp"

namespace manynode::sinks {

void print_phases(const Selection& selection, std::ostream& out) {
  const std::vector<std::string> phases = selection.application->phases();
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> times;
  for_each_step(selection, [&](const Step& step) {
    for (const Call& call : step.calls.calls) {
      if (call.kind == CallKind::Compute && call.first != kPause) ++times[{step.rank, call.first}];
    }
  });
  for (const auto& [what, count] : times) {
    out << what.first << ' ' << count << ' ' << phases[what.second] << '\n';
  }
}

}  // namespace manynode::sinks
