// What a derived skeleton's file says, for one number of ranks and one set of parameters: shared by all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "call_forms.hpp"
#include "draw.hpp"
#include "expression.hpp"
#include "manynode/communicator.hpp"

namespace manynode::derived {

// An expression of the file, with what an error says of it.
struct Formula {
  NodeIndex node{kNone};  // kNone: not given
  std::uint32_t text{0};  // in Program::texts

  bool given() const { return node != kNone; }
};

inline constexpr std::int32_t kNotDrawn = -1;

enum class WaitOrder : std::uint8_t { Made, Names, Newest };

// The fields of a call. A field that its form lacks is not given.
struct CallFields {
  CallForm form;
  WaitOrder order{WaitOrder::Made};
  bool each{false};               // a wait for each open request, one after the other
  std::uint16_t communicator{0};  // 0: the world, else 1 + the number in Program::communicators
  std::uint32_t request{0};       // number of the name
  std::int32_t draw{kNotDrawn};   // number of the distribution that `bytes` is drawn from
  std::int32_t receive_draw{kNotDrawn};
  std::int32_t blocks_draw{kNotDrawn};  // of `sent` and `received`
  Formula peer;
  Formula source;
  Formula bytes;
  Formula receive_bytes;
  Formula tag;
  Formula receive_tag;
  Formula sent;
  Formula received;
  Formula take;
  std::vector<Formula> sources;
  std::vector<Formula> destinations;
  std::vector<std::uint32_t> requests;
};

struct Item {
  enum class Kind : std::uint8_t { Compute, Call, Group, Loop, Pass, Free };

  Kind kind{Kind::Group};
  // Of a loop: all of its iterations have the same calls. They use neither its index nor drawn sizes.
  bool alike{false};
  std::int32_t slot{kNone};  // of a loop's index
  std::uint32_t phase{0};
  std::int32_t site{kNone};  // of a call, or of a call of the program that emits nothing (Pass)
  std::uint32_t place{0};    // in Program::texts
  Formula when;
  Formula count;  // of a loop
  std::vector<Item> body;
  std::unique_ptr<CallFields> call;
  std::vector<std::uint32_t> freed;  // names of requests
};

struct Program {
  explicit Program(Grid made, int ranks) : grid(std::move(made)), expressions(grid.axes()), size(ranks) {}

  Grid grid;
  Expressions expressions;
  int size;
  std::vector<std::string> phases;
  std::vector<std::string> sites;
  std::vector<std::int32_t> phase_between;  // [site before * number of sites + site after]; kNone: not recorded
  std::vector<std::string> communicator_names;
  std::vector<Partition> communicators;
  std::vector<std::string> request_names;
  std::vector<Distribution> distributions;
  std::vector<Item> body;
  // Of expressions and places of items; an error names "<file>: body/5/do/0" and the field.
  std::vector<std::string> texts;
  std::string file;
};

// The value of a formula. Where there is none, throws UserError, which names the place (in Program::texts), the field
// and the rank.
std::int64_t value_of(const Program& program, const Formula& formula, std::uint32_t place, const char* field,
                      Frame& frame);

class Document;

// Makes the program of a compiled file; `values` (JSON) are the problem's parameters.
std::unique_ptr<Program> made_program(const Document& document, const std::string& file, const std::string& values,
                                      int ranks);

}  // namespace manynode::derived
