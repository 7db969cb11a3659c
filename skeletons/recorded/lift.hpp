// Larger jobs than the recorded one, for programs whose communication follows the data. README.md says how a run is
// lifted: copies of it side by side, whose messages cross between the copies.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "manynode/call.hpp"
#include "stream.hpp"

namespace manynode::recorded {

// How a mean over the ranks follows the number of ranks: constant + scale * family.
struct Growth {
  std::string family{"constant"};  // phase2_nodesim/approximate/growth.py has the list
  int dimensions{1};               // of the grid with the least surface, where the family has a grid
  double constant{1};
  double scale{0};
  double width{0};  // of the halo of a part, as a share of a divided problem's extent; 0: the faces alone

  double at(int ranks) const;
  // How many times as large it is at `to` ranks as at `from`.
  double between(int from, int to) const;
};

// What an approximate skeleton says of a recorded run.
struct LiftRules {
  std::vector<int> hubs;                   // ranks that exchange messages with all, in a job of any size
  int reach{0};                            // messages between ranks farther apart go farther in larger jobs
  Growth messages;                         // of a rank, in the mean
  Growth peak;                             // of the rank that has most
  Growth bytes;                            // of the messages that a rank sends
  std::map<CallKind, Growth> collectives;  // bytes of a call
  std::vector<double> exponents;           // by communicator: its members grow with this power of the number of ranks
};

class Lift {
 public:
  // `ranks` is a multiple of the stream's. The stream stays where it is.
  Lift(const Stream& stream, const LiftRules& rules, int ranks);

  // The recorded rank whose calls a rank makes.
  int recorded(int rank) const { return rank % run_; }
  // The calls that a rank makes in place of a recorded one that is no wait, without their phases.
  std::vector<RecordedCall> calls(int rank, const RecordedCall& call) const;
  // The rank's group of each communicator but the world; empty where it is in none.
  std::vector<std::vector<int>> groups_of(int rank) const;

 private:
  using Ends = std::pair<int, int>;  // recorded ranks, the lower first
  struct Pair {
    std::uint64_t messages{0};
    std::uint64_t bytes{0};
    int times{1};  // each of its messages is as many
    int shift{0};  // to the copy in which the other end of the first is, from the lower rank on
  };
  // Copies of the run whose ranks are together in a communicator: `number` from `first` on.
  struct Together {
    int first{0};
    int number{1};
  };

  void count_messages();
  void set_pairs(const LiftRules& rules);
  void multiply(const std::vector<Ends>& spread, double growth, double peak);
  Together together(std::size_t communicator, int rank) const;
  // The copies in which the other ends of a message are.
  std::vector<int> copies(int rank, int other, const Together& here) const;
  // The same as ranks of the communicator of `call`. Special peers stay as they are.
  std::vector<int> peers(int rank, int peer, const RecordedCall& call) const;
  void expand_blocks(int rank, RecordedCall& call, const Together& here) const;
  void expand_neighbors(int rank, RecordedCall& call) const;

  const Stream& stream_;
  int run_;
  int copies_;
  std::vector<bool> hub_;
  std::vector<int> joined_;                                   // by communicator: how many copies are together
  std::vector<std::vector<const std::vector<int>*>> groups_;  // by recorded rank
  std::map<Ends, Pair> pairs_;                                // the lower rank first
  double message_factor_{1};
  std::map<CallKind, double> factors_;
};

}  // namespace manynode::recorded
