// One-sided communication in SST. firefly's MPI has none, and its NICs answer nobody by themselves: the target's motif
// does, while its rank waits in an MPI call.
//
// A remote operation is a request to the target (with the bytes, if they are eager), longer bytes as a message of their
// own, and a reply. Firefly's messages have no content: what a request asks for is in RemoteOperations, which needs all
// ranks in one process. A rank that answers always has a receive for the next request, from any rank, and waits by
// waitany for this one and for what it needs itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "event_sink.hpp"
#include "sim_time.hpp"
#include "whole_nanoseconds.hpp"

namespace manynode::sst_element {

struct RemoteOperation {
  std::uint64_t bytes{0};     // to the target
  std::uint64_t returned{0};  // back
  std::uint32_t number{0};    // of the origin's operations; in the tags of data and reply
  // What the target's rank pays for the request itself, because it comes from its own node.
  network::Picoseconds owed{0};
};

// What the requests under way ask for, between each pair of ranks in order. Ranks are ember's, and may run in several
// threads.
class RemoteOperations {
 public:
  void asked(std::size_t job, std::uint32_t origin, std::uint32_t target, const RemoteOperation& operation);
  // The oldest request between the two that has not come yet.
  RemoteOperation came(std::size_t job, std::uint32_t origin, std::uint32_t target);

 private:
  std::mutex mutex_;
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::deque<RemoteOperation>> under_way_;
};

// The operations and answers of one rank.
class OneSided {
 public:
  OneSided(RemoteOperations& operations, std::size_t job, std::uint32_t rank, std::uint64_t eager_bytes)
      : operations_(operations), job_(job), rank_(rank), eager_bytes_(eager_bytes) {}

  // From now on the rank answers; called once.
  void open(EventSink& sink);
  // Starts an operation; `done` is complete when the reply has come.
  // `owed`: what the target pays for the request.
  void start(std::uint32_t target, std::uint64_t bytes, std::uint64_t returned, CallKind call, RequestHandle* done,
             network::Picoseconds owed, EventSink& sink);
  // The handle of an operation by the number of its request; take() forgets it.
  RequestHandle* place(std::uint32_t request) { return &started_[request]; }
  bool has(std::uint32_t request) const { return started_.contains(request); }
  RequestHandle take(std::uint32_t request);

  // For the handle of a message that nobody waits for.
  RequestHandle* forgotten() { return &sent_.emplace_back(); }

  // The rank goes on when this has completed, too. The events that started it have happened.
  void await(RequestHandle handle) { awaited_.push_back(handle); }
  // Requests events; false if nothing is awaited. Called when all events have happened, and after await().
  bool go_on(EventSink& sink);

 private:
  struct Arriving {
    RemoteOperation operation;
    std::uint32_t origin{0};
    RequestHandle handle{nullptr};
  };

  // What waitany has found complete; true if this requested events.
  bool completed(EventSink& sink);
  bool wait(EventSink& sink);
  void reply(const RemoteOperation& operation, std::uint32_t origin, EventSink& sink);

  RemoteOperations& operations_;
  std::size_t job_;
  std::uint32_t rank_;
  std::uint64_t eager_bytes_;
  std::uint32_t next_number_{0};
  RequestHandle request_{nullptr};  // the receive of the next request
  std::deque<Arriving> arriving_;   // long data
  // Requests, data and replies that nobody waits for; the oldest is given back when it is complete.
  std::deque<RequestHandle> sent_;
  std::unordered_map<std::uint32_t, RequestHandle> started_;
  std::deque<RequestHandle> awaited_;
  std::vector<RequestHandle> handles_;  // of waitany: the request, arriving data, the oldest of sent_, of awaited_
  int index_{0};
  bool asked_{false};
  WholeNanoseconds paid_time_;
};

}  // namespace manynode::sst_element
