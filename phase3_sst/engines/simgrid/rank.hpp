// One rank: a SimGrid actor that replays its skeleton with SMPI calls.
//
// Messages have a length but no payload: SMPI's replay mode neither copies nor keeps buffers. For the processor time of
// a message, the rank sleeps before a send and after the wait for a receive, because SMPI's own options charge the
// receiver only for eager messages.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>

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
  // One line for each receive that was started but not waited for.
  void describe_left(std::vector<std::string>& lines, std::size_t most) const;

 private:
  // An operation whose two messages an actor carries. Nobody holds the actor, whose stack ends with it.
  struct Remote {
    ::simgrid::s4u::SemaphorePtr ended{::simgrid::s4u::Semaphore::create(0)};
    double end_s{0};

    void join() {
      ended->acquire();
      ended->release();
    }
  };

  struct Pending {
    MPI_Request request;
    Primitive primitive;
    std::shared_ptr<Remote> remote;  // of a remote operation
  };

  // Joins SMPI as a rank, with the others.
  void join();
  void play_skeleton();
  void play_step();
  void execute(const Primitive& primitive);
  void start_send(const Primitive& primitive);
  void start_receive(const Primitive& primitive);
  void start_remote(const Primitive& primitive);
  // Executes consecutive waits.
  void wait(std::span<const Primitive> waits);
  // Removes and returns the requests of waits.
  std::vector<Pending> take(std::span<const Primitive> waits);
  // The completion time of a request that SMPI completed at `now_s`, and its processor time [s]. `waited`: it was not
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
  std::deque<std::shared_ptr<Remote>> remote_;  // the oldest first; some have ended
};

}  // namespace manynode::smpi_engine
