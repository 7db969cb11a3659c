// Compute times drawn from a timing profile (schema timing-profile/1; Eyerman et al., section 3.6).
//
// A draw is keyed by (seed, replica, rank, phase, number of the draw) through Philox 4x32-10, a counter-based
// generator: every engine, thread count and order of events sees the same draws. Where the phase has a pattern, draw n
// comes from cluster sequence[n mod length]; else the cluster is drawn by weight. `constant` replaces a draw by its
// cluster's mean.
//
// Ranks and nodes may differ persistently: draws of one rank are then correlated by a Gaussian copula, which leaves the
// distribution of each draw as it is. With the normal scores N of node, rank and execution, each keyed by what it
// belongs to, z = sqrt(r_node) N(node) + sqrt(r_rank) N(rank) + sqrt(1 - r_node - r_rank) N(execution), and the draw
// is the Phi(z)-quantile. N(execution) is the score of the random number of the independent draw, so that runs with and
// without persistent differences are paired. Each of N(node) and N(rank) is sqrt(c) of a score that all phases share
// and sqrt(1 - c) of one of its own (of each cluster, where clusters follow a pattern). Where the cluster is drawn by
// weight, Phi(z) is the quantile among all times of the phase: a rank may differ by the cluster that it is in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace manynode {

// Beyond the samples: above `threshold_s`, which `probability` of the times do not exceed, a generalised Pareto
// distribution. Without one, `probability` is 1.
struct Tail {
  double probability{1};
  double threshold_s{0};
  double scale_s{0};
  double shape{0};
};

// One cluster's cumulative distribution: `probability[i]` of the times are at most `time_s[i]`; linear between edges.
// At most 101 edges (100 bins); probability runs from 0 to 1.
struct Cluster {
  double mean_s{0};
  double weight{0};
  std::vector<double> time_s;
  std::vector<double> probability;
  Tail tail{};
};

struct PhaseTiming {
  std::vector<Cluster> clusters;        // the longest first
  std::vector<std::uint32_t> sequence;  // empty: clusters are drawn by weight
  // Of the normal scores of a phase's times: on one node, and beyond that on one rank; together at most 1.
  double node_correlation{0};
  double rank_correlation{0};
  double common{0};  // share of a node's and a rank's score that all phases have in common

  bool persistent() const { return node_correlation > 0 || rank_correlation > 0; }
};

// Timings of every rank class, with the phases in the order of the skeleton's phase names.
struct TimingProfile {
  std::vector<std::string> classes;
  std::vector<std::vector<PhaseTiming>> phases;  // [class][phase]
};

// Reads a timing profile and orders its phases as `phase_names`; a phase that the profile lacks, a wrong schema or
// version, or a malformed distribution throws std::invalid_argument with place and remedy. With `missing_is_zero` a
// phase that the profile lacks takes no time: a node that ran alone (no-ext) never executed the phases that only
// external communication brings about (section 5.1 of the paper, Caffe).
TimingProfile read_timing_profile(const std::string& path, const std::vector<std::string>& phase_names,
                                  bool missing_is_zero);

class TimingModel {
 public:
  // `class_of_rank[r]` is the index of rank r's class. `constant`: cluster means in place of draws. `node_of_rank[r]`
  // numbers the nodes of the job; where it is empty, no difference between ranks persists. `tail`: times beyond the
  // samples are drawn from the clusters' tails, where they have some.
  TimingModel(const TimingProfile& profile, std::vector<std::uint16_t> class_of_rank, std::uint64_t seed,
              std::uint32_t replica, bool constant, const std::vector<std::uint32_t>& node_of_rank = {},
              bool tail = false);

  // The compute time [s] of draw number `draw` (0, 1, ...) of `phase` on `rank`.
  double draw(std::uint32_t rank, std::uint32_t phase, std::uint32_t draw) const;

 private:
  const TimingProfile* profile_;
  std::vector<std::uint16_t> class_of_rank_;
  std::uint64_t seed_;
  std::uint32_t replica_;
  bool constant_;
  bool tail_;
  // [rank * units_ + first_unit_[phase] + cluster] the part of the score that a rank keeps; empty: none.
  std::vector<float> kept_;
  std::vector<std::size_t> first_unit_;
  std::size_t units_{0};

  void keep_differences(const std::vector<std::uint32_t>& node_of_rank);
  double normal(std::uint32_t level, std::uint32_t phase, std::uint32_t cluster, std::uint32_t index) const;
};

}  // namespace manynode
