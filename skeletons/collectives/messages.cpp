// Messages of collective algorithms as primitives.
#include "algorithm.hpp"

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
  post_send(peer, bytes);
  complete();
}

void Messages::recv(int peer, std::uint64_t bytes) {
  post_recv(peer, bytes);
  complete();
}

void Messages::exchange(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes) {
  post_recv(source, recv_bytes);
  post_send(destination, send_bytes);
  complete();
}

void Messages::exchange_filled(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes) {
  if (recv_bytes > 0) {
    post_recv(source, recv_bytes);
  }
  if (send_bytes > 0) {
    post_send(destination, send_bytes);
  }
  complete();
}

void Messages::post_send(int peer, std::uint64_t bytes) { post(PrimitiveKind::Isend, peer, bytes); }

void Messages::post_recv(int peer, std::uint64_t bytes) { post(PrimitiveKind::Irecv, peer, bytes); }

void Messages::complete() {
  if (posted_ == 0) {
    return;
  }
  for (; posted_ > 0; --posted_) {
    const std::uint32_t request = kLoweredRequest | ((next_request_ - posted_) & ~kLoweredRequest);
    out_.push_back({.kind = PrimitiveKind::Wait, .call = envelope_.call, .request = request});
  }
  if (work_.steps) {
    out_.push_back({.kind = PrimitiveKind::CollectiveStep, .call = envelope_.call});
  }
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

void Messages::post(PrimitiveKind kind, int peer, std::uint64_t bytes) {
  const std::uint32_t request = kLoweredRequest | (next_request_++ & ~kLoweredRequest);
  out_.push_back({.kind = kind,
                  .call = envelope_.call,
                  .context = envelope_.context,
                  .peer = communicators_.world_rank(communicator_, peer),
                  .tag = envelope_.tag,
                  .request = request,
                  .bytes = bytes});
  ++posted_;
}

}  // namespace manynode::collectives
