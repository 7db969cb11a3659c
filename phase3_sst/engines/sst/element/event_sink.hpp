// The events that a rank's program requests from ember; each function queues one. SkeletonMotif makes ember's events.
#pragma once

#include <cstdint>
#include <vector>

#include "manynode/call.hpp"

// hermes' handle to a pending message; only its pointer is needed here.
namespace SST::Hermes::MP {
class MessageRequestBase;
}

namespace manynode::sst_element {

using RequestHandle = SST::Hermes::MP::MessageRequestBase*;

// Ranks are ember's, tags firefly's (message_tags.hpp). Pointers must stay valid until the events have happened.
class EventSink {
 public:
  virtual ~EventSink() = default;

  // Asks the program for the duration when the event happens (RankProgram::draw).
  virtual void compute(std::uint32_t phase) = 0;
  virtual void delay(std::uint64_t nanoseconds) = 0;
  virtual void send(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes) = 0;
  virtual void recv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes) = 0;
  virtual void isend(std::uint32_t destination, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) = 0;
  virtual void irecv(std::uint32_t source, std::uint32_t tag, std::uint32_t bytes, RequestHandle* request) = 0;
  virtual void wait(RequestHandle* request) = 0;
  // Sets `flag` to 1 if the message is complete, whose handle is then given back.
  virtual void test(RequestHandle* request, int* flag) = 0;
  virtual void waitall(RequestHandle* requests, std::uint32_t count) = 0;
  // Waits for one of them, whose place goes to `index`. If it is a receive, received_from() is then the sender.
  virtual void waitany(RequestHandle* requests, std::uint32_t count, int* index) = 0;
  virtual std::uint32_t received_from() const = 0;

  // SST's own collectives. `group` is the number from make_group(), 0 for all ranks of the job. The root and the counts
  // of alltoallv (one per rank) use ranks of the group.
  virtual void make_group(std::vector<int> ember_ranks, std::uint32_t* group) = 0;
  virtual void collective(CallKind kind, std::uint32_t group, int root, std::uint32_t bytes) = 0;
  virtual void alltoallv(std::uint32_t group, int* sent, int* received) = 0;
};

// The source of a receive from any rank.
inline constexpr std::uint32_t kAnyEmberRank = 0xffffffffu;

}  // namespace manynode::sst_element
