// The operations that an engine executes: point-to-point messages, waiting, computing. Calls are lowered to primitives
// when a rank reaches them. A collective becomes the messages of its algorithm (collectives/): every engine simulates
// the same algorithm. Each primitive names the call to which its time is charged.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manynode/call.hpp"
#include "manynode/communicator.hpp"
#include "manynode/mpi.hpp"

namespace manynode {

enum class PrimitiveKind : std::uint8_t {
  Compute,         // a compute phase of the application: `phase`; kPause: `bytes` picoseconds
  ReduceLocal,     // combining `bytes` of two buffers within a reduction
  CopyLocal,       // copying `bytes` between two buffers of the rank within a collective
  FreshMemory,     // writing `bytes` of a collective's temporary buffers that come fresh from the operating system
  CollectiveCall,  // what a collective costs a rank at its entry, whatever it sends
  CollectiveStep,  // what a step of a collective costs beyond its messages: see LocalWork
  Isend,           // to `peer`, `bytes`, `tag`; completes `request` locally
  Irecv,           // from `peer` (or kAnySource), `bytes`, `tag`; completes `request`
  Wait,            // until `request` has completed
  Remote,          // a message of `bytes` to the memory of `peer`, and one of `returned` bytes back, which the target's
                   // processor takes no part in; completes `request` when the second has come
};

// Blocking calls are lowered to Isend or Irecv and Wait. Requests of the application keep their numbers. Requests made
// by lowering have the top bit set, which avoids conflicts. Messages to kProcNull and waits for them are left out:
// every `peer` is a rank of the world or, for an Irecv, kAnySource.
struct Primitive {
  PrimitiveKind kind{PrimitiveKind::Compute};
  CallKind call{CallKind::Compute};  // charged to
  std::uint16_t context{0};          // messages match only within a context: (communicator, collective or not)
  std::int32_t peer{kNoPeer};        // rank in MPI_COMM_WORLD
  std::int32_t tag{0};
  std::uint32_t request{0};
  std::uint32_t phase{0};
  std::uint64_t bytes{0};
  std::uint64_t returned{0};
};

// Contexts keep the messages of a communicator's collectives apart from its point-to-point messages, as MPI asks for.
constexpr std::uint16_t point_to_point_context(std::uint16_t communicator) {
  return static_cast<std::uint16_t>(2 * communicator);
}
constexpr std::uint16_t collective_context(std::uint16_t communicator) {
  return static_cast<std::uint16_t>(2 * communicator + 1);
}

inline constexpr std::uint32_t kLoweredRequest = 0x80000000u;

// The request of an empty Isend that nobody waits for.
inline constexpr std::uint32_t kForgotten = 0xffffffffu;

// Tags from here on, in the context of a communicator's collectives, are those of posts and completes of its windows.
inline constexpr std::int32_t kFirstWindowTag = 1 << 20;

// The algorithms of collectives: "auto" chooses by size and number of ranks, any other name is one algorithm.
// `alltoall` also applies to MPI_Alltoallv and MPI_Alltoallw, if its algorithm can (skeletons/collectives/README.md);
// `allgather` to MPI_Allgatherv, `reduce_scatter` to both forms, `scan` to MPI_Exscan.
struct CollectiveChoice {
  std::string barrier{"auto"};
  std::string bcast{"auto"};
  std::string reduce{"auto"};
  std::string allreduce{"auto"};
  std::string gather{"auto"};
  std::string allgather{"auto"};
  std::string scatter{"auto"};
  std::string alltoall{"auto"};
  std::string reduce_scatter{"auto"};
  std::string scan{"auto"};
  std::string rules{"mpich"};  // whose rules "auto" follows: mpich or openmpi
  // Of algorithms that send in segments and were chosen by name; 0: the library's default. With "auto" the rules
  // decide.
  std::uint64_t segment_bytes{0};
};

// Which work of a rank within its collectives becomes primitives, beside messages and reductions. Work that takes no
// time would only take memory, and could change the order of a processor's operations.
struct LocalWork {
  bool copies{false};  // CopyLocal
  bool calls{false};   // CollectiveCall: one at the entry of a collective that sends anything
  bool steps{false};   // CollectiveStep: one after each set of messages that a collective waits for together
  bool fresh{false};   // FreshMemory

  bool any() const { return copies || calls || steps || fresh; }
};

// The collectives by name, each with the place of its choice.
struct CollectiveField {
  const char* collective;
  std::string CollectiveChoice::* algorithm;
};
std::span<const CollectiveField> collective_fields();

// Throws UserError with the known algorithms or rules if `choice` names an unknown one.
void check_collective_choice(const CollectiveChoice& choice);

// Names of the algorithms of one collective ("allreduce", ...), sorted, without "auto".
std::vector<std::string> collective_algorithms(const std::string& collective);

namespace collectives {
class Plan;
}

// Lowers the calls of one rank. It keeps requests that need no wait, pending non-blocking collectives, and one counter
// per communicator. The counter gives successive collectives different tags, which agree between the ranks whatever
// else each rank does. `communicators` outlives it.
//
// Non-blocking collectives are an approximation: MPI libraries without a progress thread move them while the rank is
// inside MPI. Here they move, whole and in the order in which they were started, at the beginning of the rank's next
// call that blocks (Send, Recv, Sendrecv, a wait, a blocking collective), and their time is charged to that call. A
// wait finds them complete. Limit: ranks then meet in that call. A program deadlocks here, though not with MPI, if one
// rank starts the collective only after it has received what another one sends by a blocking call after its own start.
//
// One-sided communication. A remote operation is a Remote: a put and an accumulate carry their bytes to the target and
// are acknowledged by an empty message, a get is an empty request that is answered by its bytes, the others have bytes
// both ways. Operations on the rank itself and on kProcNull are left out. What ends an epoch waits for the operations
// of its window:
//
//   fence              all of them, then a barrier
//   post, complete     an empty message to each rank of the group (complete: after all operations), not waited for
//   start, wait        those messages, in turn
//   lock               an empty request and its answer, for lock_all with every other rank; nobody waits for a lock
//   unlock             the operations on the target (unlock_all: on all), then the same as lock
//   flush              the operations on the target, or on all
class Lowering {
 public:
  // Throws as check_collective_choice. Algorithms are looked up once for all ranks with the same choice.
  // `ranks_per_node`: rank r of the world is on node r / ranks_per_node; 0: not known, and algorithms that need to know
  // throw UserError.
  Lowering(int rank, const CollectiveChoice& choice, const Communicators& communicators, LocalWork work = {},
           int ranks_per_node = 0);
  Lowering(Lowering&&) noexcept;
  ~Lowering();

  // Appends the primitives of `call` to `out`; `calls` holds the side tables that `call` points into.
  void lower(const Call& call, const Calls& calls, std::vector<Primitive>& out);

  // For engines that execute messages and waits without lower(): what it does for a non-blocking collective, and before
  // a call that blocks. Such an engine treats the requests of these collectives as complete from their start.
  void start(const Call& collective, const Calls& calls);
  bool has_pending() const { return seldom_ && !seldom_->pending.empty(); }
  void move_pending(CallKind charged_to, std::vector<Primitive>& out);

 private:
  struct RemoteOperation {
    std::uint16_t communicator{0};
    std::int32_t window{0};
    std::int32_t target{0};  // in the communicator
    std::uint32_t request{0};
  };

  // State that most ranks never need.
  struct Seldom {
    std::vector<std::uint32_t> next_collective;    // [communicator - 1]
    std::vector<std::uint32_t> complete_requests;  // to kProcNull and of non-blocking collectives
    std::vector<Primitive> pending;                // of non-blocking collectives
    std::vector<RemoteOperation> remote;           // that nobody has waited for, the oldest first
  };

  void lower_collective(const Call& call, const Calls& calls, std::vector<Primitive>& out);
  void lower_one_sided(const Call& call, const Calls& calls, std::vector<Primitive>& out);
  // Waits for the operations of the call's window on its peer; without a peer, on all.
  void finish_remote(const Call& call, std::vector<Primitive>& out);
  // An empty request to the call's peer, or to all others, and the answer.
  void round_trips(const Call& call, std::vector<Primitive>& out);
  void window_messages(const Call& call, const Calls& calls, std::vector<Primitive>& out);
  std::uint32_t fresh_request() { return kLoweredRequest | (next_request_++ & ~kLoweredRequest); }
  void wait(const Call& call, std::uint32_t request, std::vector<Primitive>& out);
  std::uint32_t count_collective(Communicator communicator);
  Seldom& seldom();

  const collectives::Plan* plan_;
  const Communicators* communicators_;
  LocalWork work_;
  int ranks_per_node_;
  std::unique_ptr<Seldom> seldom_;
  std::uint32_t next_request_{0};
  std::uint32_t next_world_collective_{0};
};

}  // namespace manynode
