// Where the steps of a replay end. Ranks make different numbers of calls in the same time: a step is not the same
// number of calls on each rank, but the same part of the run.
#pragma once

#include <cstdint>
#include <vector>

#include "stream.hpp"

namespace manynode::recorded {

// [step][rank]: how many calls the rank has made at the end of the step. Nothing reaches from one step into another:
// both ends of a message, all calls of a collective, a request and its wait are in the same step. A run of the first
// steps therefore ends as the whole run does.
std::vector<std::vector<std::uint32_t>> step_ends(const Stream& stream);

}  // namespace manynode::recorded
