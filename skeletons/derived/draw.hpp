// Sizes that are drawn, once for each message: both ends compute the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace manynode::derived {

struct Distribution {
  Distribution(std::string its_name, double its_persistence);

  std::string name;
  std::uint64_t number;               // of its name: it keeps its sizes where others are added to the file
  std::vector<std::uint64_t> values;  // equally likely
  double persistence;                 // probability that a size is that of the message before
};

// The messages of one rank so far.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  // The size of the next message from `sender` to `receiver` of distribution number `index`. It depends on the seed,
  // the distribution's name, the two ranks, and how many of its messages went from one to the other before.
  std::uint64_t next(const Distribution& distribution, std::int32_t index, int sender, int receiver);

  // Counts the collectives whose blocks are of distribution number `index`; returns how many there were before.
  std::uint64_t next_collective(std::int32_t index) { return collectives_[index]++; }
  // The size of a block of one of these collectives. Blocks are as many as pairs of ranks: none is kept.
  std::uint64_t block(const Distribution& distribution, std::uint64_t collective, int sender, int receiver) const;

 private:
  // Of all messages from `sender` to `receiver`.
  std::uint64_t key_of(const Distribution& distribution, int sender, int receiver) const;

  struct Last {
    std::uint64_t messages{0};
    std::uint64_t bytes{0};
  };

  std::uint64_t seed_;
  std::map<std::tuple<std::int32_t, int, int>, Last> last_;
  std::map<std::int32_t, std::uint64_t> collectives_;
};

}  // namespace manynode::derived
