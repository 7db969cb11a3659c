// The sinks of manynode-skeleton, which print the whole stream of each rank, as calls or lowered to primitives.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "manynode/timing.hpp"

namespace manynode::sinks {

struct Selection {
  const Application* application{nullptr};
  int size{1};
  std::vector<int> ranks;
  bool lowered{false};
  CollectiveChoice collectives;
  int ranks_per_node{0};               // 0: unknown, for collectives that need no nodes
  const TimingModel* timing{nullptr};  // of compute phases; null: they take no time
  LocalWork work{.copies = true};      // of collectives, in lowered streams
  double reduce_bandwidth_Bps{0};      // at which reductions combine; 0: they take no time
  double copy_bandwidth_Bps{0};        // at which collectives copy; 0: they take no time
  double collective_call_s{0};         // at the entry of a collective
  double collective_step_s{0};         // after each of its steps
};

// One step of one rank. `primitives` is filled if the selection includes lowering.
struct Step {
  int rank{0};
  const Calls& calls;
  const std::vector<Primitive>& primitives;
  const Communicators& communicators;
};

// Runs the skeleton of each rank, one after the other, and passes each step to `use`; memory does not grow with
// iterations.
void for_each_step(const Selection& selection, const std::function<void(const Step&)>& use);

void print_text(const Selection& selection, std::ostream& out);
void print_count(const Selection& selection, std::ostream& out);
void print_phases(const Selection& selection, std::ostream& out);
void print_goal(const Selection& selection, std::ostream& out);

// The application's parameters with type, default and bounds, as JSON.
void print_description(const std::string& application, std::ostream& out);

}  // namespace manynode::sinks
