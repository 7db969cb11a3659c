// Many ranks get the data of one: GPCNeT's one-sided broadcast (rma_bcast_congestor: MPI_Get, MPI_Win_flush).
#include "one_sided.hpp"

namespace manynode::patterns {
namespace {

class CongestorBcastRma final : public Pattern {
 public:
  CongestorBcastRma(const Parameters& parameters, int size) : intensity_(parameters), rooted_(parameters, size) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    const int root = rooted_.root(mpi.rank());
    if (mpi.rank() == root) {
      give(mpi);
    } else {
      get(mpi, root);
    }
    intensity_.pause(mpi);
  }

 private:
  void get(Mpi& mpi, int root) const {
    std::vector<Request> requests;
    for (int message = 0; message < intensity_.messages; ++message) {
      requests.push_back(mpi.irecv(root, intensity_.bytes, kDataTag));
    }
    requests.push_back(mpi.isend(root, 0, kControlTag));
    mpi.waitall(requests);
  }

  void give(Mpi& mpi) const {
    std::vector<Request> asked;
    rooted_.for_others(mpi.rank(), [&](int rank) { asked.push_back(mpi.irecv(rank, 0, kControlTag)); });
    std::vector<Request> given;
    std::size_t next = 0;
    rooted_.for_others(mpi.rank(), [&](int rank) {
      wait_for(mpi, asked, next++, 1);
      for (int message = 0; message < intensity_.messages; ++message) {
        given.push_back(mpi.isend(rank, intensity_.bytes, kDataTag));
      }
    });
    mpi.waitall(given);
  }

  Intensity intensity_;
  Rooted rooted_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<CongestorBcastRma>(parameters, size);
}

}  // namespace

extern const PatternEntry congestor_bcast_rma_pattern;
const PatternEntry congestor_bcast_rma_pattern{"congestor-bcast-rma", make, {"bytes", "messages", "pause_us", "roots"}};

}  // namespace manynode::patterns
