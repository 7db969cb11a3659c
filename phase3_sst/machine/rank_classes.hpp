// The rank classes of a job, as a timing profile numbers them, and the job's compute times.
#pragma once

#include <cstdint>
#include <vector>

#include "manynode/timing.hpp"
#include "run_config.hpp"

namespace manynode::network {

// [rank of the job]; throws UserError for a class that the profile lacks.
std::vector<std::uint16_t> rank_class_indices(const JobConfig& job, const TimingProfile& profile);

// The job's timing model from `profile`, which outlives the model. Throws as rank_class_indices().
TimingModel timing_model(const JobConfig& job, const TimingProfile& profile, std::uint64_t seed, std::uint32_t replica);

}  // namespace manynode::network
