// Draws compute times: Philox for the random bits, the inverse of a piecewise linear distribution for the times.
#include "manynode/timing.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "manynode/error_report.hpp"
#include "normal.hpp"

namespace manynode {
namespace {

// 53 random bits, at the middle of their interval: never 0, never 1.
double unit_interval(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

constexpr double kBelowOne = 1 - 0x1.0p-53;
constexpr double kHundredths = 100;

// Limits, where the arithmetic of scores would reach 0 or 1.
double inside(double probability) { return std::clamp(probability, 0x1.0p-54, kBelowOne); }

r123::Philox4x32::ctr_type bits(const r123::Philox4x32::ctr_type& counter, std::uint64_t seed) {
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  return r123::Philox4x32{}(counter, key);
}

// Counter words that no draw of an execution uses, since there are few phases.
constexpr std::uint32_t kOfRank = 0x80000000;
constexpr std::uint32_t kOfNode = 0xc0000000;
constexpr std::uint32_t kAllPhases = 0x3fffffff;
constexpr std::uint32_t kOfOrder = 1;  // in place of a cluster's number, which is 0 for all phases

// Time above the threshold that a share of 1 - probability of all times exceeds (Hosking and Wallis 1987, equation 2).
double beyond(const Tail& tail, double probability) {
  const double exceeding = (1 - probability) / (1 - tail.probability);
  constexpr double kExponential = 1e-9;
  const double steps =
      std::abs(tail.shape) < kExponential ? -std::log(exceeding) : (std::pow(exceeding, -tail.shape) - 1) / tail.shape;
  return tail.threshold_s + tail.scale_s * steps;
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

double quantile(const Cluster& cluster, double probability, bool tail) {
  return tail && probability > cluster.tail.probability ? beyond(cluster.tail, probability)
                                                        : inverse(cluster, probability);
}

// The quantile among the times of all clusters, of which the last has the shortest.
double quantile(const PhaseTiming& phase, double probability, bool tail) {
  double below = 0;
  for (std::size_t i = phase.clusters.size(); i-- > 0;) {
    const Cluster& cluster = phase.clusters[i];
    if (cluster.weight > 0 && (i == 0 || probability < below + cluster.weight)) {
      return quantile(cluster, std::min((probability - below) / cluster.weight, kBelowOne), tail);
    }
    below += cluster.weight;
  }
  return quantile(phase.clusters.back(), probability, tail);
}

}  // namespace

double PhaseTiming::mean_s(std::uint32_t draw) const {
  if (!sequence.empty() && repeated) return clusters[sequence[draw % sequence.size()]].mean_s;
  double sum = 0;
  double weights = 0;
  for (const Cluster& cluster : clusters) {
    sum += cluster.weight * cluster.mean_s;
    weights += cluster.weight;
  }
  return sum / weights;
}

TimingModel::TimingModel(const TimingProfile& profile, std::vector<std::uint16_t> class_of_rank, std::uint64_t seed,
                         std::uint32_t replica, bool constant, const std::vector<std::uint32_t>& node_of_rank,
                         bool tail)
    : profile_(&profile),
      class_of_rank_(std::move(class_of_rank)),
      seed_(seed),
      replica_(replica),
      constant_(constant),
      tail_(tail) {
  for (const std::uint16_t rank_class : class_of_rank_) {
    if (rank_class >= profile.phases.size()) {
      throw std::invalid_argument("a rank is of class " + std::to_string(rank_class) + ", but the timing profile has " +
                                  std::to_string(profile.phases.size()) + " classes");
    }
  }
  if (!node_of_rank.empty() && !constant) {
    choose_orders();
    keep_differences(node_of_rank);
  }
}

void TimingModel::choose_orders() {
  const bool any = std::ranges::any_of(profile_->phases, [](const auto& of_class) {
    return std::ranges::any_of(of_class, [](const PhaseTiming& phase) { return !phase.percentiles.empty(); });
  });
  if (!any) return;
  order_.resize(class_of_rank_.size());
  for (std::uint32_t rank = 0; rank < order_.size(); ++rank) {
    order_[rank] = bits({{kOfOrder, kOfRank | kAllPhases, rank, replica_}}, seed_)[0];
  }
}

void TimingModel::keep_differences(const std::vector<std::uint32_t>& node_of_rank) {
  if (node_of_rank.size() != class_of_rank_.size()) {
    throw std::invalid_argument("there are " + std::to_string(class_of_rank_.size()) + " ranks, but nodes of " +
                                std::to_string(node_of_rank.size()));
  }
  bool any = false;
  const std::size_t phases = profile_->phases.front().size();
  for (std::size_t phase = 0; phase < phases; ++phase) {
    first_unit_.push_back(units_);
    std::size_t most = 1;
    for (const auto& of_class : profile_->phases) {
      any |= of_class[phase].persistent();
      most = std::max(most, of_class[phase].sequence.empty() ? 1 : of_class[phase].clusters.size());
    }
    units_ += most;
  }
  if (!any) {
    return;
  }
  kept_.resize(class_of_rank_.size() * units_, 0);
  for (std::uint32_t rank = 0; rank < class_of_rank_.size(); ++rank) {
    const std::uint32_t node = node_of_rank[rank];
    const double rank_everywhere = normal(kOfRank, kAllPhases, 0, rank);
    const double node_everywhere = normal(kOfNode, kAllPhases, 0, node);
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      const PhaseTiming& timing = profile_->phases[class_of_rank_[rank]][phase];
      if (!timing.persistent()) {
        continue;
      }
      const std::size_t clusters = timing.sequence.empty() ? 1 : timing.clusters.size();
      for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
        const double common = std::sqrt(timing.common);
        const double own = std::sqrt(1 - timing.common);
        const double of_rank = common * rank_everywhere + own * normal(kOfRank, phase, cluster, rank);
        const double of_node = common * node_everywhere + own * normal(kOfNode, phase, cluster, node);
        kept_[rank * units_ + first_unit_[phase] + cluster] = static_cast<float>(
            std::sqrt(timing.rank_correlation) * of_rank + std::sqrt(timing.node_correlation) * of_node);
      }
    }
  }
}

double TimingModel::normal(std::uint32_t level, std::uint32_t phase, std::uint32_t cluster, std::uint32_t index) const {
  const r123::Philox4x32::ctr_type random = bits({{cluster, level | phase, index, replica_}}, seed_);
  return normal_quantile(unit_interval(random[0], random[1]));
}

void TimingModel::refuse(std::uint32_t rank, std::uint32_t phase) const {
  const std::uint16_t rank_class = class_of_rank_[rank];
  const bool named = phase < profile_->phase_names.size() && rank_class < profile_->classes.size();
  throw UserError(
      "the timing profile lacks a compute phase of a rank's class", profile_->path,
      "rank " + std::to_string(rank) + " of class " + (named ? profile_->classes[rank_class] : "?") + " executes " +
          (named ? profile_->phase_names[phase] : "phase " + std::to_string(phase)),
      "",
      "let phases 1 and 2 measure jobs in which ranks of this class execute the phase: more ranks (profile: "
      "nodes, nodesim: nodes)");
}

double TimingModel::draw(std::uint32_t rank, std::uint32_t phase, std::uint32_t draw) const {
  const PhaseTiming& timing = profile_->phases[class_of_rank_[rank]][phase];
  if (timing.clusters.empty()) refuse(rank, phase);
  if (constant_) return timing.mean_s(draw);
  const r123::Philox4x32::ctr_type random = bits({{draw, phase, rank, replica_}}, seed_);
  const double chance = unit_interval(random[0], random[1]);
  if (!order_.empty() && !timing.percentiles.empty()) {
    const auto row = static_cast<std::size_t>((std::uint64_t{order_[rank]} * timing.percentiles.size()) >> 32);
    const std::size_t place = draw % timing.sequence.size();
    const double probability = std::min((timing.percentiles[row][place] + chance) / kHundredths, kBelowOne);
    return quantile(timing.clusters[timing.sequence[place]], probability, tail_);
  }
  if (kept_.empty() || !timing.persistent()) {
    const Cluster& cluster = choose(timing, draw, unit_interval(random[2], random[3]));
    return quantile(cluster, chance, tail_);
  }
  const float* const kept = &kept_[rank * units_ + first_unit_[phase]];
  const double changing = std::sqrt(std::max(0.0, 1 - timing.node_correlation - timing.rank_correlation));
  const double own = changing * normal_quantile(chance);
  if (timing.sequence.empty()) {
    return quantile(timing, inside(normal_cdf(static_cast<double>(kept[0]) + own)), tail_);
  }
  const std::uint32_t cluster = timing.sequence[draw % timing.sequence.size()];
  return quantile(timing.clusters[cluster], inside(normal_cdf(static_cast<double>(kept[cluster]) + own)), tail_);
}

}  // namespace manynode
