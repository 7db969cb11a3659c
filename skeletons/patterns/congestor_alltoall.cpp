// All ranks to all ranks, pair by pair: GPCNeT's all-to-all congestor (a2a_congestor).
#include "congestor.hpp"

namespace manynode::patterns {
namespace {

class CongestorAlltoall final : public Pattern {
 public:
  CongestorAlltoall(const Parameters& parameters, int size)
      : intensity_(parameters), size_(size), power_of_two_((size & (size - 1)) == 0) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    std::vector<Request> requests;
    for (int step = 1; step < size_; ++step) {
      requests.push_back(mpi.irecv(source(mpi.rank(), step), intensity_.bytes));
      requests.push_back(mpi.isend(destination(mpi.rank(), step), intensity_.bytes));
      if (step % intensity_.messages == 0 || step == size_ - 1) {
        mpi.waitall(requests);
        requests.clear();
      }
    }
    intensity_.pause(mpi);
  }

 private:
  // In step 0, GPCNeT's ranks send to themselves, which uses no link.
  int source(int rank, int step) const { return power_of_two_ ? rank ^ step : (rank - step + size_) % size_; }
  int destination(int rank, int step) const { return power_of_two_ ? rank ^ step : (rank + step) % size_; }

  Intensity intensity_;
  int size_;
  bool power_of_two_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("an all-to-all needs two ranks", "ranks", std::to_string(size), "at least 2", "take more ranks");
  }
  return std::make_unique<CongestorAlltoall>(parameters, size);
}

}  // namespace

extern const PatternEntry congestor_alltoall_pattern;
const PatternEntry congestor_alltoall_pattern{"congestor-alltoall", make, {"bytes", "messages", "pause_us"}};

}  // namespace manynode::patterns
