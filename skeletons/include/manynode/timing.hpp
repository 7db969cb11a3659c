// Compute times drawn from a timing profile (schema timing-profile/1; Eyerman et al., section 3.6).
//
// A draw is keyed by (seed, replica, rank, phase, number of the draw) through Philox 4x32-10, a counter-based
// generator: every engine, thread count and order of events sees the same draws. If the phase has a pattern, draw n
// comes from cluster sequence[n mod length]; else the cluster is drawn by weight. `constant` replaces a draw by the
// mean of its cluster, or where clusters would be drawn, by the mean of the phase: nothing is left to chance.
//
// Ranks and nodes may differ persistently. A Gaussian copula then correlates the draws of one rank, without changing
// the distribution of each draw. N(node), N(rank) and N(execution) are normal scores, each with its own key. With
// z = sqrt(r_node) N(node) + sqrt(r_rank) N(rank) + sqrt(1 - r_node - r_rank) N(execution), the draw is the
// Phi(z)-quantile. N(execution) is the score of the independent draw's random number: runs with and without persistent
// differences are paired. Each of N(node) and N(rank) is the sum of sqrt(c) times a score shared by all phases and
// sqrt(1 - c) times the phase's own score (the cluster's own, if clusters follow a pattern). If the cluster is drawn by
// weight, Phi(z) is the quantile among all times of the phase: ranks may then differ in their cluster.
//
// Where the profile has the order of the simulated ranks' times, a rank replays that of one of them, drawn with the key
// (seed, replica, rank) and thus the same in all such phases: draw n is at a random place of the hundredth of the
// cluster's distribution in which that rank's execution n was. Ranks then differ as the simulated ones do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace manynode {

// The distribution beyond the samples: a generalised Pareto distribution above `threshold_s`, which `probability` of
// the times do not exceed. Without a tail, `probability` is 1.
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
  std::vector<Cluster> clusters;        // the longest first; none: the class was not seen to execute the phase
  std::vector<std::uint32_t> sequence;  // empty: clusters are drawn by weight
  bool repeated{true};                  // the sequence was seen more than once: its clusters are kinds of work
  // [simulated rank][place in the sequence] the hundredth of the cluster's distribution; empty: drawn by itself.
  std::vector<std::vector<std::uint8_t>> percentiles{};
  // Correlations of the normal scores of a phase's times on one node, and in addition on one rank; sum at most 1.
  double node_correlation{0};
  double rank_correlation{0};
  double common{0};  // share of a node's and a rank's score that all phases have in common

  bool persistent() const { return percentiles.empty() && (node_correlation > 0 || rank_correlation > 0); }
  // The mean time of execution `draw` [s]: of its cluster, if they follow a repeated pattern, else of all of them.
  double mean_s(std::uint32_t draw) const;
};

// Timings of every rank class, with the phases in the order of the skeleton's phase names.
struct TimingProfile {
  std::vector<std::string> classes;
  std::vector<std::vector<PhaseTiming>> phases;  // [class][phase]
  std::vector<std::string> phase_names{};        // for messages
  std::string path{};
};

// Reads a timing profile and orders its phases as `phase_names`. A phase that all classes lack, a wrong schema or
// version, or a malformed distribution throws std::invalid_argument with place and remedy. A phase that some classes
// lack, or one between two call sites (A -> B) that all lack, is an error only if a rank of them draws it. With
// `missing_is_zero` a missing phase takes no time: a node that ran alone (no-ext) never executed phases that only occur
// with external communication (section 5.1 of the paper, Caffe).
TimingProfile read_timing_profile(const std::string& path, const std::vector<std::string>& phase_names,
                                  bool missing_is_zero);

class TimingModel {
 public:
  // `class_of_rank[r]` is the index of rank r's class. `constant`: means in place of draws. `node_of_rank[r]` is the
  // number of rank r's node in the job; if it is empty, each execution is drawn by itself: differences between ranks do
  // not persist, and no order is replayed. `tail`: times beyond the samples are drawn from the clusters' tails, if they
  // have any.
  TimingModel(const TimingProfile& profile, std::vector<std::uint16_t> class_of_rank, std::uint64_t seed,
              std::uint32_t replica, bool constant, const std::vector<std::uint32_t>& node_of_rank = {},
              bool tail = false);

  // The compute time [s] of draw number `draw` (0, 1, ...) of `phase` on `rank`. Throws UserError for a phase that the
  // profile lacks for the rank's class.
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
  std::vector<std::uint32_t> order_;  // of each rank: which simulated rank's, as a share of 2^32; empty: none
  std::vector<std::size_t> first_unit_;
  std::size_t units_{0};

  [[noreturn]] void refuse(std::uint32_t rank, std::uint32_t phase) const;
  void choose_orders();
  void keep_differences(const std::vector<std::uint32_t>& node_of_rank);
  double normal(std::uint32_t level, std::uint32_t phase, std::uint32_t cluster, std::uint32_t index) const;
};

}  // namespace manynode
