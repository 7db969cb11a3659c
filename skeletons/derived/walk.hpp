// One step of one rank: goes through items and emits their calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manynode/named_call.hpp"
#include "program.hpp"
#include "requests.hpp"

namespace manynode::derived {

// Where a rank is between two steps: the last site, and whether a named phase followed it. What happens between two
// sites without one is the phase that they name together.
struct Passed {
  std::int32_t site{kNone};
  bool computed{false};

  bool operator==(const Passed&) const = default;
};

// Returns `count`, the repeats of a loop on a rank; throws UserError if it is negative.
std::int64_t checked_repeats(const Program& program, const Item& loop, std::int64_t count, int rank);

class Walk {
 public:
  // `draws` and `passed` outlive it; `draws` is null if the program draws no sizes.
  Walk(const Program& program, Mpi& mpi, Draws* draws, Passed& passed)
      : program_(program),
        mpi_(mpi),
        draws_(draws),
        passed_(passed),
        frame_(program.expressions, program.grid, mpi.rank()) {}

  void items(const std::vector<Item>& items);
  void item(const Item& item);
  bool happens(const Item& item) { return !item.when.given() || value(item, "when", item.when) != 0; }
  // The number of iterations of a loop, if it happens.
  std::int64_t iterations(const Item& loop);
  void iteration(const Item& loop, std::int64_t number);

  bool nothing_open() const { return open_.none(); }
  // Throws UserError if a request is open.
  void check_nothing_open() const;
  // Completes what was freed in this step: only now, so that a rank never waits where its program does not.
  void complete_freed();

 private:
  [[noreturn]] void refuse(const Item& item, const std::string& what, const char* field, std::int64_t found,
                           const std::string& allowed) const;
  const std::string& place(const Item& item) const { return program_.texts[item.place]; }
  std::int64_t value(const Item& item, const char* field, const Formula& formula) {
    const Expressions& expressions = program_.expressions;
    if (expressions.is_constant(formula.node)) return expressions.constant(formula.node);
    return value_of(program_, formula, item.place, field, frame_);
  }

  void arrive(const Item& item);
  void free(const Item& item);
  void call(const Item& item);
  // Each fills in what its kind of call needs.
  void wait(const Item& item, NamedCall& made);
  void message(const Item& item, NamedCall& made);
  void collective(const Item& item, NamedCall& made);

  Communicator communicator(const Item& item) const;
  // A rank of the call's communicator from one of the world. `special`: `null` is allowed; `any` as well if `wild`.
  int peer(const Item& item, const char* field, const Formula& formula, bool special, bool wild);
  int tag(const Item& item, const char* field, const Formula& formula, bool wild);
  std::uint64_t size(const Item& item, const char* field, const Formula& formula);
  std::uint64_t message_size(const Item& item, const char* field, const Formula& formula, std::int32_t draw, int sender,
                             int receiver);
  // Bytes by block, for so many blocks.
  Bytes blocks(const Item& item, const char* field, const Formula& formula, std::size_t count,
               std::vector<std::uint64_t>& sizes);
  // Sent and received blocks of one collective.
  void draw_blocks(std::int32_t draw, NamedCall& made);
  void neighbors(const Item& item, const char* field, const std::vector<Formula>& formulas, std::vector<int>& ranks);

  const Program& program_;
  Mpi& mpi_;
  Draws* draws_;
  Passed& passed_;
  Frame frame_;
  OpenRequests open_;
  std::vector<Request> freed_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  std::vector<int> sources_;
  std::vector<int> destinations_;
};

}  // namespace manynode::derived
