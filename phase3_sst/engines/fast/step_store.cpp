#include "step_store.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace manynode::network {

namespace {

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::has_unique_object_representations_v<T>);
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <typename T>
std::uint64_t mixed_with(std::uint64_t digest, const std::vector<T>& records) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(records.data());
  const std::size_t size = records.size() * sizeof(T);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof(word), size - at));
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  }
  return digest ^ records.size();
}

bool has_peers(CallKind kind) {
  switch (kind) {
    case CallKind::Send:
    case CallKind::Isend:
    case CallKind::Recv:
    case CallKind::Irecv:
    case CallKind::Sendrecv:
      return true;
    default:
      return false;
  }
}

}  // namespace

void StepStore::leave_out_complete() {
  complete_.clear();
  const auto note = [&](std::uint32_t request) {
    if (request >= complete_.size()) complete_.resize(2 * request + 64);
    complete_[request] = true;
  };
  // Only once: a second wait on a request is an error.
  const auto was_complete = [&](std::uint32_t request) {
    if (request >= complete_.size() || !complete_[request]) return false;
    complete_[request] = false;
    return true;
  };
  std::uint32_t kept = 0;
  for (Call& call : fresh_.calls) {
    switch (call.kind) {
      case CallKind::Isend:
        if (call.peer == kProcNull || call.bytes <= eager_limit_bytes_) note(call.first);
        break;
      case CallKind::Irecv:
        if (call.peer == kProcNull) note(call.first);
        break;
      case CallKind::Wait:
      case CallKind::Waitall:
      case CallKind::Waitany:
      case CallKind::Waitsome: {
        const std::uint32_t end = call.first + call.count;
        std::uint32_t from = std::exchange(call.first, kept);
        for (; from < end; ++from) {
          if (!was_complete(fresh_.requests[from])) fresh_.requests[kept++] = fresh_.requests[from];
        }
        call.count = kept - call.first;
        break;
      }
      default:
        if ((is_collective(call.kind) && call.nonblocking()) || call.starts_nothing()) {
          note(static_cast<std::uint32_t>(call.tag));
        }
        break;
    }
  }
  fresh_.requests.resize(kept);
}

void StepStore::make_relative(std::int32_t rank) {
  const auto distance = [&](std::int32_t& peer) {
    if (peer >= 0 && peer - rank <= kFarthest && rank - peer <= kFarthest) peer += kHere - rank;
  };
  for (Call& call : fresh_.calls) {
    if (call.communicator != 0 || !has_peers(call.kind)) continue;
    distance(call.peer);
    distance(call.peer2);
  }
}

bool StepStore::is_fresh(const Step& step) const {
  return same(step.calls.calls, fresh_.calls) && same(step.calls.requests, fresh_.requests) &&
         same(step.calls.counts, fresh_.counts);
}

std::uint64_t StepStore::digest_of_fresh() const {
  return mixed_with(mixed_with(mixed_with(0, fresh_.calls), fresh_.requests), fresh_.counts);
}

Step* StepStore::find(std::uint64_t digest) {
  const auto [first, last] = steps_.equal_range(digest);
  for (auto entry = first; entry != last; ++entry) {
    if (is_fresh(*entry->second)) return entry->second.get();
  }
  return nullptr;
}

void StepStore::release(Step* step) {
  if (--step->users > 0) return;
  const auto [first, last] = steps_.equal_range(step->digest);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second.get() != step) continue;
    unused_.push_back(std::move(entry->second));
    steps_.erase(entry);
    return;
  }
}

Step* StepStore::keep(std::int32_t rank, Step* before) {
  leave_out_complete();
  make_relative(rank);
  if (before == nullptr || !is_fresh(*before)) {
    const std::uint64_t digest = digest_of_fresh();
    Step* step = find(digest);
    if (step == nullptr) {
      if (unused_.empty()) unused_.push_back(std::make_unique<Step>());
      auto made = std::move(unused_.back());
      unused_.pop_back();
      step = made.get();
      step->calls = fresh_;
      step->digest = digest;
      steps_.emplace(digest, std::move(made));
    }
    ++step->users;
    if (before != nullptr) release(before);
    before = step;
  }
  fresh_.clear();
  return before;
}

}  // namespace manynode::network
