// Maps contexts and tags of primitives to SMPI tags, and records messages that were sent but not yet received.
//
// All messages of a job use its MPI_COMM_WORLD. Each pair of context and tag gets its own tag: a receive matches only
// messages of its context, from any source. A receive of any tag would have no such number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace manynode::smpi_engine {

class Envelopes {
 public:
  int tag_of(std::uint16_t context, std::int32_t tag);

  // `source` and `destination` are ranks of the job; `mpi_tag` comes from tag_of().
  void sent(std::size_t job, int source, int destination, int mpi_tag, std::uint64_t bytes);
  void received(std::size_t job, int source, int destination, int mpi_tag);

  // One line for each kind of unreceived message of the job, at most `most` lines.
  std::vector<std::string> left(std::size_t job, std::size_t most) const;

 private:
  struct UnderWay {
    std::uint64_t messages{0};
    std::uint64_t bytes{0};  // of the latest
  };

  std::unordered_map<std::uint64_t, int> tags_;
  std::vector<std::pair<std::uint16_t, std::int32_t>> meanings_;  // [tag of SMPI] context and tag
  std::map<std::tuple<std::size_t, int, int, int>, UnderWay> under_way_;
};

// "tag 3, 8 bytes, context 0": how errors name a message.
std::string envelope_text(std::int32_t tag, std::uint64_t bytes, std::uint16_t context);

}  // namespace manynode::smpi_engine
