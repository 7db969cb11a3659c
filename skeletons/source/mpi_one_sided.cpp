// The facade's one-sided calls.
#include "manynode/mpi.hpp"

namespace manynode {

void Mpi::put(int target, std::uint64_t bytes, Window window) { one_sided(CallKind::Put, target, bytes, window); }

void Mpi::get(int target, std::uint64_t bytes, Window window) { one_sided(CallKind::Get, target, bytes, window); }

void Mpi::accumulate(int target, std::uint64_t bytes, Window window) {
  one_sided(CallKind::Accumulate, target, bytes, window);
}

void Mpi::get_accumulate(int target, std::uint64_t bytes, Window window) {
  one_sided(CallKind::GetAccumulate, target, bytes, window);
}

Request Mpi::rput(int target, std::uint64_t bytes, Window window) {
  return with_request(CallKind::Put, target, bytes, window);
}

Request Mpi::rget(int target, std::uint64_t bytes, Window window) {
  return with_request(CallKind::Get, target, bytes, window);
}

Request Mpi::raccumulate(int target, std::uint64_t bytes, Window window) {
  return with_request(CallKind::Accumulate, target, bytes, window);
}

Request Mpi::rget_accumulate(int target, std::uint64_t bytes, Window window) {
  return with_request(CallKind::GetAccumulate, target, bytes, window);
}

void Mpi::win_fence(Window window) { one_sided(CallKind::WinFence, kNoPeer, 0, window); }

void Mpi::win_post(std::span<const int> group, Window window) { with_group(CallKind::WinPost, group, window); }

void Mpi::win_start(std::span<const int> group, Window window) { with_group(CallKind::WinStart, group, window); }

void Mpi::win_complete(std::span<const int> group, Window window) { with_group(CallKind::WinComplete, group, window); }

void Mpi::win_wait(std::span<const int> group, Window window) { with_group(CallKind::WinWait, group, window); }

void Mpi::win_lock(int target, Window window) { one_sided(CallKind::WinLock, target, 0, window); }

void Mpi::win_unlock(int target, Window window) { one_sided(CallKind::WinUnlock, target, 0, window); }

void Mpi::win_flush(int target, Window window) { one_sided(CallKind::WinFlush, target, 0, window); }

Call& Mpi::one_sided(CallKind kind, int target, std::uint64_t bytes, Window window) {
  if (target != kNoPeer || is_remote_operation(kind)) check_peer(target, window.communicator);
  check_bytes(kind, bytes, window.communicator);
  Call& call = append(kind, window.communicator);
  call.peer = target;
  call.peer2 = window.number;
  call.bytes = bytes;
  return call;
}

// An operation on the rank itself moves no message, as one on nobody: engines know the latter.
Request Mpi::with_request(CallKind kind, int target, std::uint64_t bytes, Window window) {
  one_sided(kind, target == rank(window.communicator) ? kProcNull : target, bytes, window);
  return made_nonblocking();
}

void Mpi::with_group(CallKind kind, std::span<const int> group, Window window) {
  for (const int member : group) check_peer(member, window.communicator);
  Call& call = one_sided(kind, kNoPeer, 0, window);
  call.first = static_cast<std::uint32_t>(out_.counts.size());
  call.count = static_cast<std::uint32_t>(group.size());
  for (const int member : group) out_.counts.push_back(static_cast<std::uint64_t>(member));
}

}  // namespace manynode
