// One rank: an actor of SimGrid that plays its skeleton with calls of SMPI.
//
// Messages have a length but no payload: SMPI's replay mode neither copies nor keeps buffers. The processor's share of
// a message is time that the rank sleeps before a send and after the wait for a receive, because SMPI's own options
// charge the receiver for eager messages only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <smpi/smpi.h>

#include "manynode/communicator.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "world.hpp"

namespace manynode::smpi_engine {

class Rank {
 public:
  Rank(World& world, std::size_t job, int rank, int size);
  // The lowering points into this object.
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  // The actor's body.
  void run();

  bool in_background() const { return world_.job(job_).config->background; }
  bool waits() const { return awaited_ != nullptr; }
  // "rank 3 waits in MPI_Recv (step 1) for a message from rank 0, tag 5, 8 bytes, context 0"
  std::string describe_wait() const;
  // One line for each receive that was started and not waited for.
  void describe_left(std::vector<std::string>& lines, std::size_t most) const;

 private:
  struct Pending {
    MPI_Request request;
    Primitive primitive;
  };

  // Becomes a rank of SMPI, with the others.
  void join();
  void play_skeleton();
  void play_step();
  void execute(const Primitive& primitive);
  void start_send(const Primitive& primitive);
  void start_receive(const Primitive& primitive);
  // Waits that follow each other.
  void wait(std::span<const Primitive> waits);
  // The requests of waits, which are pending no more.
  std::vector<Pending> take(std::span<const Primitive> waits);
  // When a request that SMPI completed `now_s` is complete, and what it costs the processor [s]. `waited`: it was not
  // complete when the wait began.
  std::pair<double, double> completion(const Primitive& primitive, MPI_Status& status, double now_s, bool waited) const;
  std::string peer_name(std::int32_t peer) const;

  World& world_;
  std::size_t job_;
  int rank_;
  int size_;
  MPI_Comm communicator_{MPI_COMM_NULL};
  std::unique_ptr<Skeleton> skeleton_;
  Communicators communicators_;
  Lowering lowering_;
  Calls calls_;
  std::vector<Primitive> primitives_;
  std::vector<std::uint32_t> draws_;  // [phase] made so far
  std::uint32_t steps_{0};            // begun
  bool last_step_{false};
  std::unordered_map<std::uint32_t, Pending> pending_;  // by number of the request
  const Pending* awaited_{nullptr};
};

}  // namespace manynode::smpi_engine
