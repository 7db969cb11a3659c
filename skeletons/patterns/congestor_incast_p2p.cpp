// Many ranks send to one, which posts a receive for each: GPCNeT's two-sided incast (p2p_incast_congestor), with the
// allreduce of GPCNeT's time limit check. It also limits how far senders run ahead.
#include "congestor.hpp"

namespace manynode::patterns {
namespace {

class CongestorIncastP2p final : public Pattern {
 public:
  CongestorIncastP2p(const Parameters& parameters, int size) : intensity_(parameters), rooted_(parameters, size) {}

  void prepare(Mpi& mpi, Groups& groups) const override { groups[0] = rooted_.group(mpi); }

  void iteration(Mpi& mpi, const Groups& groups) const override {
    const int root = rooted_.root(mpi.rank());
    for (int message = 0; message < intensity_.messages; ++message) {
      if (mpi.rank() != root) {
        mpi.send(root, intensity_.bytes);
        continue;
      }
      std::vector<Request> requests;
      rooted_.for_others(root, [&](int rank) { requests.push_back(mpi.irecv(rank, intensity_.bytes)); });
      mpi.waitall(requests);
    }
    mpi.allreduce(sizeof(double), groups[0]);
    intensity_.pause(mpi);
  }

 private:
  Intensity intensity_;
  Rooted rooted_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<CongestorIncastP2p>(parameters, size);
}

}  // namespace

extern const PatternEntry congestor_incast_p2p_pattern;
const PatternEntry congestor_incast_p2p_pattern{
    "congestor-incast-p2p", make, {"bytes", "messages", "pause_us", "roots"}};

}  // namespace manynode::patterns
