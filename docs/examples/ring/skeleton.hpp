// The tutorial's skeleton: what app.cpp communicates, without data.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "declared/ring.hpp"
#include "manynode/skeleton.hpp"

namespace manynode::ring {

class Ring : public Application {
 public:
  explicit Ring(const Parameters& parameters)
      : iterations_(parameters.integer("iterations", 1)), doubles_(parameters.integer("doubles", 1)) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return {kWorkNames.begin(), kWorkNames.end()}; }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  std::int64_t iterations() const { return iterations_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(doubles_) * sizeof(double); }

 private:
  std::int64_t iterations_;
  std::int64_t doubles_;
};

class RingRank : public Skeleton {
 public:
  RingRank(const Ring& ring, int rank, int size) : ring_(ring), rank_(rank), size_(size) {}

  bool step(Mpi& mpi) override {  // one iteration of one rank
    const std::array requests = {mpi.irecv((rank_ + size_ - 1) % size_, ring_.bytes()),
                                 mpi.isend((rank_ + 1) % size_, ring_.bytes())};
    mpi.waitall(requests);
    mpi.compute(Phase{0});  // the first phase: "stencil", the label in the program
    mpi.allreduce(sizeof(double));
    return ++iteration_ < ring_.iterations();
  }

  bool repeat() override { return repeats(iteration_, ring_.iterations()); }

 private:
  const Ring& ring_;
  int rank_;
  int size_;
  std::int64_t iteration_{0};
};

}  // namespace manynode::ring
