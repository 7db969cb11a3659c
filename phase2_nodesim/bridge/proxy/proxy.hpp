// A proxy: a rank of the native MPI job that makes the MPI calls of a simulated rank in its place. It makes exactly the
// guest's calls, and the preloaded markers library records them as for any program. Only times and call sites come from
// the guest.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "channel.hpp"

namespace manynode::bridge {

struct Settings {
  std::string directory;  // of FIFOs and state file
  int first{0};           // the simulated ranks of the job
  int ranks{0};
  mb_inject inject{MB_INJECT_NONE};
  std::string report;   // a folder for what was injected, or nothing
  std::string program;  // the guest's, for the names of call sites
};

// Entry points of the markers library, if it is preloaded.
class Markers {
 public:
  Markers();
  void init(const std::string& program, const mb_header& header) const;
  void call(const mb_header& header) const;

 private:
  using Init = void (*)(const char*, std::uint64_t, std::uint64_t, int);
  using Call = void (*)(std::uint64_t, std::uint64_t, std::uint64_t);
  Init init_;
  Call call_;
};

// The data of a guest's request until it is complete.
struct Pending {
  MPI_Request request{MPI_REQUEST_NULL};
  Bytes send;
  Bytes receive;
  std::vector<int> lists[4];  // counts and displacements of a non-blocking collective
  std::int64_t basic{0};      // datatype of a message
  std::int64_t comm{MB_COMM_NULL};
  bool receives{false};     // a message
  bool from_nobody{false};  // from MPI_PROC_NULL
  bool collective{false};   // when complete, all of `receive` is data
  bool persistent{false};
  bool active{true};
  bool external{false};  // a collective with ranks outside the simulated node
};

class Proxy {
 public:
  Proxy(Settings settings, int rank, int size);

  // Serves the guest until its MPI_Finalize.
  void serve();
  // Returns when the guest has ended.
  void watch() const { channel_.watch_for_end(); }
  bool finished() const { return finished_; }

 private:
  struct Communicator {
    MPI_Comm comm{MPI_COMM_NULL};
    std::vector<int> world_ranks;
    bool external{false};
  };

  void dispatch(Request& request, Reply& reply);
  void begin(const Request& request);
  void finish(const Request& request);
  void play_notes(const std::string& notes) const;
  void answer(const Request& request, Reply& reply);

  // messages.cpp
  void send(const Request& request, Reply& reply);
  void receive(const Request& request, Reply& reply);
  void sendrecv(const Request& request, Reply& reply);
  void sendrecv_replace(const Request& request, Reply& reply);
  void probe(const Request& request, Reply& reply);
  void post(Request& request, Reply& reply);
  void start(const Request& request, Reply& reply);
  void put_status(const MPI_Status& status, std::int64_t basic, std::int64_t comm, std::int64_t source, Reply& reply);
  std::size_t received_bytes(const MPI_Status& status, std::int64_t basic, std::int64_t& counted) const;

  // requests.cpp
  void wait(const Request& request, Reply& reply);
  void request_free(const Request& request, Reply& reply);
  void complete(std::size_t index, std::int64_t handle, const MPI_Status& status, bool in_status, Reply& reply);

  // collectives.cpp
  void collective(Request& request, Reply& reply);

  // communicators.cpp
  void communicator(const Request& request, Reply& reply);
  void dims_create(const Request& request, Reply& reply);
  void add_communicator(MPI_Comm comm, Reply& reply);
  Communicator& comm_of(std::int64_t number);

  bool is_external(std::int64_t comm, std::int64_t rank);
  // The node's memory operations: before data leaves, and before received data is delivered.
  void report_injected() const;
  void inject_read(std::int64_t handle, std::size_t bytes, bool external);
  void inject_write(std::int64_t handle, std::size_t bytes, bool external);

  Settings settings_;
  int rank_;
  int size_;
  Markers markers_;
  StateByte state_;
  Channel channel_;
  std::vector<Communicator> communicators_;
  std::unordered_map<std::int64_t, Pending> pending_;
  std::vector<Pending> abandoned_;       // freed while pending: MPI uses their memory to the end
  std::vector<std::int64_t> completed_;  // to be forgotten when the reply is written
  Bytes outgoing_;                       // data of the reply
  std::uint64_t read_lines_{0};          // by the helper
  std::uint64_t written_lines_{0};
  volatile bool finished_{false};
};

// A count for the native MPI; a larger one than it supports is an error with its reason.
int native_count(std::int64_t elements);

}  // namespace manynode::bridge
