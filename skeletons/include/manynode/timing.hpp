// Compute times drawn from a timing profile (schema timing-profile/1; Eyerman et al., section 3.6).
//
// A draw is keyed by (seed, replica, rank, phase, number of the draw) through Philox 4x32-10, a counter-based
// generator: every engine, thread count and order of events sees the same draws. Where the phase has a pattern, draw n
// comes from cluster sequence[n mod length]; else the cluster is drawn by weight. `constant` replaces a draw by its
// cluster's mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace manynode {

// One cluster's cumulative distribution: `probability[i]` of the times are at most `time_s[i]`; linear between edges.
// At most 101 edges (100 bins); probability runs from 0 to 1.
struct Cluster {
  double mean_s{0};
  double weight{0};
  std::vector<double> time_s;
  std::vector<double> probability;
};

struct PhaseTiming {
  std::vector<Cluster> clusters;
  std::vector<std::uint32_t> sequence;  // empty: clusters are drawn by weight
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
  // `class_of_rank[r]` is the index of rank r's class. `constant`: cluster means in place of draws.
  TimingModel(const TimingProfile& profile, std::vector<std::uint16_t> class_of_rank, std::uint64_t seed,
              std::uint32_t replica, bool constant);

  // The compute time [s] of draw number `draw` (0, 1, ...) of `phase` on `rank`.
  double draw(std::uint32_t rank, std::uint32_t phase, std::uint32_t draw) const;

 private:
  const TimingProfile* profile_;
  std::vector<std::uint16_t> class_of_rank_;
  std::uint64_t seed_;
  std::uint32_t replica_;
  bool constant_;
};

}  // namespace manynode
