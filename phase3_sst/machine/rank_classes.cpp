#include "rank_classes.hpp"

#include <algorithm>
#include <string>

#include "manynode/error_report.hpp"

namespace manynode::network {

std::vector<std::uint16_t> rank_class_indices(const JobConfig& job, const TimingProfile& profile) {
  std::vector<std::uint16_t> indices(job.ranks(), 0);
  for (std::size_t rank = 0; rank < job.class_of_rank.size(); ++rank) {
    const auto& name = job.class_of_rank[rank];
    const auto found = std::find(profile.classes.begin(), profile.classes.end(), name);
    if (found == profile.classes.end()) {
      std::string allowed;
      for (const auto& known : profile.classes) allowed += (allowed.empty() ? "" : ", ") + known;
      throw UserError("the timing profile has no such rank class",
                      "job " + job.name + ", class_of_rank[" + std::to_string(rank) + "]", name, allowed,
                      "name a class of the profile, or make the profile anew with this class");
    }
    indices[rank] = static_cast<std::uint16_t>(found - profile.classes.begin());
  }
  return indices;
}

TimingModel timing_model(const JobConfig& job, const TimingProfile& profile, std::uint64_t seed,
                         std::uint32_t replica) {
  std::vector<std::uint32_t> nodes;
  if (job.persistent) {
    for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) nodes.push_back(job.own_node_of(rank));
  }
  return {profile, rank_class_indices(job, profile), seed, replica, job.constant, nodes, job.tail};
}

}  // namespace manynode::network
