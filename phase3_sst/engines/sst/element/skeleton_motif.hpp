// The motif manynode.SkeletonMotif: runs any skeleton of this project on SST. One object is one rank. It only turns the
// requests of the rank's program into ember's events; see rank_program.hpp for the rest.
#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include <mpi/embermpigen.h>

#include "event_sink.hpp"
#include "rank_program.hpp"
#include "world.hpp"

namespace manynode::sst_element {

class SkeletonMotif : public SST::Ember::EmberMessagePassingGenerator, private EventSink {
 public:
  SST_ELI_REGISTER_SUBCOMPONENT(SkeletonMotif, "manynode", "SkeletonMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                                "runs an application skeleton of manynode, named in a run file",
                                SST::Ember::EmberGenerator)

  SST_ELI_DOCUMENT_PARAMS({"arg.run", "path of the run file, schema network-run/2", ""},
                          {"arg.job", "index of the job in the run file", "0"},
                          {"arg.output", "folder of the result", ""},
                          {"arg.collectives", "expanded: messages of the project's algorithms; sst: SST's own",
                           "expanded"})

  SkeletonMotif(SST::ComponentId_t id, SST::Params& parameters);
  ~SkeletonMotif() override;

  bool generate(std::queue<SST::Ember::EmberEvent*>& queue) override;
  // A job in the background does not hold up the end of the simulation.
  bool primary() override { return !background_; }

 private:
  using Queue = std::queue<SST::Ember::EmberEvent*>;

  // The rank is known: makes its program. True if it has to wait for the start of its job.
  bool begin();
  network::Picoseconds now() const;

  void compute(std::uint32_t phase) override;
  void delay(std::uint64_t nanoseconds) override;
  void send(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes) override;
  void recv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes) override;
  void isend(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) override;
  void irecv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) override;
  void wait(RequestHandle* request) override;
  void test(RequestHandle* request, int* flag) override;
  void waitall(RequestHandle* requests, std::uint32_t count) override;
  void waitany(RequestHandle* requests, std::uint32_t count, int* index) override;
  std::uint32_t received_from() const override { return response_.src; }
  void make_group(std::vector<int> ember_ranks, std::uint32_t* group) override;
  void collective(CallKind kind, std::uint32_t group, int root, std::uint32_t bytes) override;
  void alltoallv(std::uint32_t group, int* sent, int* received) override;

  enum class State : std::uint8_t { Created, Initialised, Running, Finished };

  std::shared_ptr<World> world_;
  std::size_t job_{0};
  RankProgram* program_{nullptr};
  Queue* queue_{nullptr};  // while generate() runs
  State state_{State::Created};
  bool background_{false};
  network::Picoseconds cycle_{1};                // [ps] one cycle of SST's clock
  std::uint32_t ember_rank_{0};                  // filled by an event
  int ember_size_{0};                            // as well
  SST::Hermes::MP::MessageResponse response_{};  // of the latest waitany
  RequestHandle received_{nullptr};              // of the receive that the rank is in
  std::deque<std::vector<int>> groups_;          // lists that events refer to
};

}  // namespace manynode::sst_element
