// One step of one rank: goes through items and emits their calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manynode/mpi.hpp"
#include "program.hpp"
#include "requests.hpp"

namespace manynode::derived {

class Walk {
 public:
  // `draws` outlives it; null if the program draws no sizes.
  Walk(const Program& program, Mpi& mpi, Draws* draws)
      : program_(program), mpi_(mpi), draws_(draws), frame_(program.expressions, program.grid, mpi.rank()) {}

  void items(const std::vector<Item>& items);
  void item(const Item& item);
  bool happens(const Item& item) { return !item.when.given() || value(item, "when", item.when) != 0; }
  // The number of iterations of a loop, if it happens.
  std::int64_t iterations(const Item& loop);
  void iteration(const Item& loop, std::int64_t number);

  bool nothing_open() const { return open_.none(); }
  // Throws UserError if a request is open.
  void check_nothing_open() const;

 private:
  [[noreturn]] void refuse(const Item& item, const std::string& what, const char* field, std::int64_t found,
                           const std::string& allowed) const;
  const std::string& place(const Item& item) const { return program_.texts[item.place]; }
  std::int64_t value(const Item& item, const char* field, const Formula& formula) {
    const Expressions& expressions = program_.expressions;
    if (expressions.is_constant(formula.node)) return expressions.constant(formula.node);
    return value_of(program_, formula, item.place, field, frame_);
  }

  void call(const Item& item);
  void wait(const Item& item);
  bool message(const Item& item);
  void collective(const Item& item);
  void by_block(const Item& item);
  void over_neighbors(const Item& item);

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
  std::vector<int> neighbors(const Item& item, const char* field, const std::vector<Formula>& ranks);

  // The blocking or the non-blocking form, whose request is then open.
  template <typename... Parameters, typename... Arguments>
  void either(const CallFields& call, void (Mpi::*blocking)(Parameters...), Request (Mpi::*nonblocking)(Parameters...),
              const Arguments&... arguments) {
    if (call.nonblocking) {
      open_.open(call.request, (mpi_.*nonblocking)(arguments...));
    } else {
      (mpi_.*blocking)(arguments...);
    }
  }

  const Program& program_;
  Mpi& mpi_;
  Draws* draws_;
  Frame frame_;
  OpenRequests open_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace manynode::derived
