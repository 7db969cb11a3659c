// The rank classes of a job, as a timing profile numbers them.
#pragma once

#include <cstdint>
#include <vector>

#include "manynode/timing.hpp"
#include "run_config.hpp"

namespace manynode::fast {

// [rank of the job]; throws UserError for a class that the profile lacks.
std::vector<std::uint16_t> rank_class_indices(const JobConfig& job, const TimingProfile& profile);

}  // namespace manynode::fast
