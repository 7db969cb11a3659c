// Shared by the congestors with roots: groups of ranks, each with a root, and the pause between iterations.
// The congestors are those of GPCNeT 1.3 (congestors.c, network_load_test.c of github.com/netbench/GPCNET; Chunduri et
// al., "GPCNeT: Designing a benchmark suite for inducing and measuring contention in HPC networks", SC '19).
#pragma once

#include <string>

#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {

// The load of a congestor.
struct Intensity {
  explicit Intensity(const Parameters& parameters)
      : bytes(bytes_of(parameters)),
        messages(static_cast<int>(parameters.integer("messages", 1))),
        pause_s(parameters.real("pause_us", 0) * 1e-6) {}

  void pause(Mpi& mpi) const {
    if (pause_s > 0) {
      mpi.pause(pause_s);
    }
  }

  std::uint64_t bytes;
  int messages;
  double pause_s;
};

// Rank i is in group i modulo `roots`; the lowest rank of a group is its root.
class Rooted {
 public:
  Rooted(const Parameters& parameters, int size) : size_(size), roots_(1) {
    const std::int64_t roots = parameters.integer("roots", 1);
    if (size < 2 || 2 * roots > size) {
      throw UserError("each root of a congestor needs another rank", "roots", std::to_string(roots),
                      "at most half of the " + std::to_string(size) + " ranks", "take fewer roots or more ranks");
    }
    roots_ = static_cast<int>(roots);
  }

  int root(int rank) const { return rank % roots_; }
  int count(int root) const { return (size_ - root + roots_ - 1) / roots_; }
  Communicator group(Mpi& mpi) const {
    const int first = root(mpi.rank());
    return roots_ == 1 ? kWorld : mpi.strided(first, roots_, count(first));
  }

  // Runs `use(rank)` for the other ranks of a root's group, in rising order.
  template <typename Use>
  void for_others(int root, const Use& use) const {
    for (int rank = root + roots_; rank < size_; rank += roots_) {
      use(rank);
    }
  }

 private:
  int size_;
  int roots_;
};

}  // namespace manynode::patterns
