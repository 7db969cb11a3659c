// The traffic of the pattern halo3d as a motif written by hand, the way ember's own are: an iteration at a time, no
// accounts. What benchmarks/sst_motif.py holds the motif of the engine sst against.
#include <sst_config.h>
//
#include <mpi/embermpigen.h>

#include <array>
#include <vector>

namespace manynode::benchmark {

namespace MP = SST::Hermes::MP;

class PlainHaloMotif : public SST::Ember::EmberMessagePassingGenerator {
 public:
  SST_ELI_REGISTER_SUBCOMPONENT(PlainHaloMotif, "plain", "HaloMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                                "halo in three dimensions with an allreduce, for measurements",
                                SST::Ember::EmberGenerator)
  SST_ELI_DOCUMENT_PARAMS({"arg.extent", "ranks along each edge of the cube", "4"},
                          {"arg.bytes", "length of a message", "2048"}, {"arg.iterations", "iterations", "1"})

  PlainHaloMotif(SST::ComponentId_t id, SST::Params& parameters)
      : EmberMessagePassingGenerator(id, parameters, "PlainHalo"),
        extent_(parameters.find<int>("arg.extent", 4)),
        bytes_(parameters.find<std::uint32_t>("arg.bytes", 2048)),
        left_(parameters.find<int>("arg.iterations", 1)) {
    int stride = 1;
    for (int d = 0; d < 3; ++d, stride *= extent_) {
      const int at = rank() / stride % extent_;
      if (at > 0) neighbours_.push_back(rank() - stride);
      if (at + 1 < extent_) neighbours_.push_back(rank() + stride);
    }
    requests_.resize(2 * neighbours_.size());
  }

  bool generate(std::queue<SST::Ember::EmberEvent*>& queue) override {
    std::size_t next = 0;
    for (const int neighbour : neighbours_) {
      mpi().irecv(queue, SST::Hermes::MemAddr(), bytes_, MP::CHAR, neighbour, 0, MP::GroupWorld, &requests_[next++]);
    }
    for (const int neighbour : neighbours_) {
      mpi().isend(queue, SST::Hermes::MemAddr(), bytes_, MP::CHAR, neighbour, 0, MP::GroupWorld, &requests_[next++]);
    }
    mpi().waitall(queue, static_cast<int>(next), requests_.data());
    mpi().allreduce(queue, SST::Hermes::MemAddr(), SST::Hermes::MemAddr(), 8, MP::CHAR, MP::NOP, MP::GroupWorld);
    return --left_ == 0;
  }

 private:
  int extent_;
  std::uint32_t bytes_;
  int left_;
  std::vector<int> neighbours_;
  std::vector<MP::MessageRequest> requests_;
};

}  // namespace manynode::benchmark
