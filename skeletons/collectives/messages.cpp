// Messages of collective algorithms as primitives.
#include "algorithm.hpp"

#include <array>

#include "manynode/error_report.hpp"

namespace manynode::collectives {

std::uint64_t Task::block_sum(int first, int count) const {
  if (blocks.empty()) {
    return static_cast<std::uint64_t>(count) * bytes;
  }
  std::uint64_t sum = 0;
  for (int i = first; i < first + count; ++i) {
    sum += block(i % size);
  }
  return sum;
}

void Messages::send(int peer, std::uint64_t bytes) {
  const Posted sent = post_send(peer, bytes);
  complete({&sent, 1});
}

void Messages::recv(int peer, std::uint64_t bytes) {
  const Posted received = post_recv(peer, bytes);
  complete({&received, 1});
}

void Messages::exchange(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes) {
  const Posted received = post_recv(source, recv_bytes);
  const std::array both = {received, post_send(destination, send_bytes)};
  complete(both);
}

void Messages::exchange_filled(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes) {
  std::array<Posted, 2> both{};
  std::size_t count = 0;
  if (recv_bytes > 0) {
    both[count++] = post_recv(source, recv_bytes);
  }
  if (send_bytes > 0) {
    both[count++] = post_send(destination, send_bytes);
  }
  complete(std::span(both).first(count));
}

Messages::Posted Messages::post_send(int peer, std::uint64_t bytes) { return post(PrimitiveKind::Isend, peer, bytes); }

Messages::Posted Messages::post_recv(int peer, std::uint64_t bytes) { return post(PrimitiveKind::Irecv, peer, bytes); }

void Messages::complete() {
  if (posted_ == 0) {
    return;
  }
  for (; posted_ > 0; --posted_) {
    const Posted request = kLoweredRequest | ((next_request_ - posted_) & ~kLoweredRequest);
    if (std::find(waited_.begin(), waited_.end(), request) == waited_.end()) {
      wait(request);
    }
  }
  waited_.clear();
  end_step();
}

void Messages::complete(std::span<const Posted> requests) {
  if (requests.empty()) {
    return;
  }
  if (requests.size() == posted_) {  // all that are under way
    complete();
    return;
  }
  for (const Posted request : requests) {
    wait(request);
    waited_.push_back(request);
  }
  for (; posted_ > 0; --posted_) {
    const Posted oldest = kLoweredRequest | ((next_request_ - posted_) & ~kLoweredRequest);
    const auto found = std::find(waited_.begin(), waited_.end(), oldest);
    if (found == waited_.end()) {
      break;
    }
    waited_.erase(found);
  }
  end_step();
}

void Messages::wait(Posted request) {
  out_.push_back({.kind = PrimitiveKind::Wait, .call = envelope_.call, .request = request});
}

void Messages::end_step() {
  if (work_.steps) {
    out_.push_back({.kind = PrimitiveKind::CollectiveStep, .call = envelope_.call});
  }
}

int Messages::node_of(int rank) const {
  if (ranks_per_node_ == 0) {
    throw UserError("an algorithm needs to know which ranks share a node", "collectives", "node_leader",
                    "other algorithms, where ranks are not placed node by node",
                    "choose another algorithm, or place ranks node by node (rank order block)");
  }
  const int in_communicator = members_.empty() ? rank : members_[static_cast<std::size_t>(rank)];
  return communicators_.world_rank(communicator_, in_communicator) / ranks_per_node_;
}

Messages Messages::among(std::span<const int> members) const {
  Messages messages(envelope_, communicator_, communicators_, work_, ranks_per_node_, next_request_, out_);
  messages.members_ = members;
  return messages;
}

void Messages::combine(std::uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  out_.push_back({.kind = PrimitiveKind::ReduceLocal, .call = envelope_.call, .bytes = bytes});
}

void Messages::copy(std::uint64_t bytes) {
  if (bytes == 0 || !work_.copies) {
    return;
  }
  out_.push_back({.kind = PrimitiveKind::CopyLocal, .call = envelope_.call, .bytes = bytes});
}

void Messages::allocate(std::initializer_list<Temporary> buffers) {
  const std::uint64_t bytes = work_.fresh ? fresh_bytes(std::span(buffers.begin(), buffers.size())) : 0;
  if (bytes > 0) {
    out_.push_back({.kind = PrimitiveKind::FreshMemory, .call = envelope_.call, .bytes = bytes});
  }
}

Messages::Posted Messages::post(PrimitiveKind kind, int peer, std::uint64_t bytes) {
  const Posted request = kLoweredRequest | (next_request_++ & ~kLoweredRequest);
  const int in_communicator = members_.empty() ? peer : members_[static_cast<std::size_t>(peer)];
  out_.push_back({.kind = kind,
                  .call = envelope_.call,
                  .context = envelope_.context,
                  .peer = communicators_.world_rank(communicator_, in_communicator),
                  .tag = envelope_.tag,
                  .request = request,
                  .bytes = bytes});
  ++posted_;
  return request;
}

}  // namespace manynode::collectives
