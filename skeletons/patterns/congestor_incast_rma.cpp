// Many ranks put into the memory of one: GPCNeT's one-sided incast (rma_incast_congestor: MPI_Put, MPI_Win_flush).
#include "one_sided.hpp"

namespace manynode::patterns {
namespace {

class CongestorIncastRma final : public Pattern {
 public:
  CongestorIncastRma(const Parameters& parameters, int size) : intensity_(parameters), rooted_(parameters, size) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    const int root = rooted_.root(mpi.rank());
    if (mpi.rank() == root) {
      take(mpi);
    } else {
      put(mpi, root);
    }
    intensity_.pause(mpi);
  }

 private:
  void put(Mpi& mpi, int root) const {
    std::vector<Request> requests{mpi.irecv(root, 0, kControlTag)};
    for (int message = 0; message < intensity_.messages; ++message) {
      requests.push_back(mpi.isend(root, intensity_.bytes, kDataTag));
    }
    mpi.waitall(requests);
  }

  void take(Mpi& mpi) const {
    std::vector<Request> puts;
    rooted_.for_others(mpi.rank(), [&](int rank) {
      for (int message = 0; message < intensity_.messages; ++message) {
        puts.push_back(mpi.irecv(rank, intensity_.bytes, kDataTag));
      }
    });
    std::vector<Request> answers;
    std::size_t first = 0;
    rooted_.for_others(mpi.rank(), [&](int rank) {
      wait_for(mpi, puts, first, intensity_.messages);
      first += static_cast<std::size_t>(intensity_.messages);
      answers.push_back(mpi.isend(rank, 0, kControlTag));
    });
    mpi.waitall(answers);
  }

  Intensity intensity_;
  Rooted rooted_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<CongestorIncastRma>(parameters, size);
}

}  // namespace

extern const PatternEntry congestor_incast_rma_pattern;
const PatternEntry congestor_incast_rma_pattern{
    "congestor-incast-rma", make, {"bytes", "messages", "pause_us", "roots"}};

}  // namespace manynode::patterns
