// Restores the order of messages if the network lets them overtake each other. MPI matches the messages of a pair of
// ranks in sending order: the receiving NIC holds a message that came too early.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace manynode::network {

class MessageOrder {
 public:
  // The number of the next message from `source` to `destination`.
  std::uint32_t next(std::uint32_t source, std::uint32_t destination) {
    return pairs_[key(source, destination)].sent++;
  }

  // A message has arrived. If it is next in order, calls `deliver` with it and then with those that waited for it.
  template <typename Deliver>
  void come(std::uint32_t source, std::uint32_t destination, std::uint32_t number, std::uint32_t message,
            const Deliver& deliver) {
    const std::uint64_t pair_key = key(source, destination);
    {
      Pair& pair = pairs_[pair_key];
      if (number != pair.come) {
        pair.early.emplace_back(number, message);
        return;
      }
    }
    for (std::uint32_t present = message; present != kNobody;) {
      ++pairs_[pair_key].come;
      deliver(present);  // may send, which may move the pairs
      present = take(pairs_[pair_key]);
    }
  }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffffu;

  struct Pair {
    std::uint32_t sent{0};
    std::uint32_t come{0};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> early;  // number, message; few, so in no order
  };

  static std::uint64_t key(std::uint32_t source, std::uint32_t destination) {
    return (std::uint64_t{source} << 32) | destination;
  }

  static std::uint32_t take(Pair& pair) {
    for (auto& early : pair.early) {
      if (early.first != pair.come) continue;
      const std::uint32_t message = early.second;
      early = pair.early.back();
      pair.early.pop_back();
      return message;
    }
    return kNobody;
  }

  std::unordered_map<std::uint64_t, Pair> pairs_;
};

}  // namespace manynode::network
