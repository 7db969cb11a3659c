// Draws compute times: Philox for the random bits, the inverse of a piecewise linear distribution for the times.
#include "manynode/timing.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <stdexcept>

namespace manynode {
namespace {

// 53 random bits, at the middle of their interval: never 0, never 1.
double unit_interval(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

double inverse(const Cluster& cluster, double probability) {
  const auto above = std::lower_bound(cluster.probability.begin(), cluster.probability.end(), probability);
  // Reading sets the last probability to 1, but a profile made in memory may end a rounding error below.
  const auto edge = above == cluster.probability.end() ? cluster.probability.size() - 1
                                                       : static_cast<std::size_t>(above - cluster.probability.begin());
  // What lies below the first edge happens at the first edge; so does all of a cluster with a single value.
  if (edge == 0) {
    return cluster.time_s.front();
  }
  const double low = cluster.probability[edge - 1];
  const double width = cluster.probability[edge] - low;
  const double share = width > 0 ? std::min(1.0, (probability - low) / width) : 1;
  return cluster.time_s[edge - 1] + share * (cluster.time_s[edge] - cluster.time_s[edge - 1]);
}

const Cluster& choose(const PhaseTiming& phase, std::uint32_t draw, double chance) {
  if (!phase.sequence.empty()) {
    return phase.clusters[phase.sequence[draw % phase.sequence.size()]];
  }
  for (const Cluster& cluster : phase.clusters) {
    chance -= cluster.weight;
    if (chance < 0) {
      return cluster;
    }
  }
  return phase.clusters.back();
}

}  // namespace

TimingModel::TimingModel(const TimingProfile& profile, std::vector<std::uint16_t> class_of_rank, std::uint64_t seed,
                         std::uint32_t replica, bool constant)
    : profile_(&profile),
      class_of_rank_(std::move(class_of_rank)),
      seed_(seed),
      replica_(replica),
      constant_(constant) {
  for (const std::uint16_t rank_class : class_of_rank_) {
    if (rank_class >= profile.phases.size()) {
      throw std::invalid_argument("a rank is of class " + std::to_string(rank_class) + ", but the timing profile has " +
                                  std::to_string(profile.phases.size()) + " classes");
    }
  }
}

double TimingModel::draw(std::uint32_t rank, std::uint32_t phase, std::uint32_t draw) const {
  const PhaseTiming& timing = profile_->phases[class_of_rank_[rank]][phase];
  const r123::Philox4x32::ctr_type counter{{draw, phase, rank, replica_}};
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
  const r123::Philox4x32::ctr_type random = r123::Philox4x32{}(counter, key);
  const Cluster& cluster = choose(timing, draw, unit_interval(random[2], random[3]));
  return constant_ ? cluster.mean_s : inverse(cluster, unit_interval(random[0], random[1]));
}

}  // namespace manynode
