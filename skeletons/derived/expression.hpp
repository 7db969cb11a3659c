// The expressions of derived skeletons, as manynode/derived/expression.py: parsed once for all ranks, with the number
// of ranks, the grid's extents and the parameters as constants; evaluated for each rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arithmetic.hpp"
#include "grid.hpp"

namespace manynode::derived {

enum class Op : std::uint8_t {
  Number,      // value
  Slot,        // values[a] of the frame
  Definition,  // a: its number
  Add,         // a, b and, of some, c: operands
  Subtract,
  Multiply,
  FloorDivide,
  Modulo,
  CeilDiv,
  Xor,
  And,  // of bits
  Or,
  ShiftLeft,
  ShiftRight,
  Less,
  LessEqual,
  Equal,
  NotEqual,
  Negate,
  Not,
  Both,    // a and b
  Either,  // a or b
  Choose,  // b if a else c
  Minimum,
  Maximum,
  Absolute,
  Log2,
  Root,
  Smooth,
  Block,
  At,  // a: first of the axes' operands
  On,
};

// Number of a node in the expressions. Nodes may share operands.
using NodeIndex = std::int32_t;
inline constexpr NodeIndex kNone = -1;

struct Node {
  Op op{Op::Number};
  NodeIndex a{kNone};
  NodeIndex b{kNone};
  NodeIndex c{kNone};
  std::int64_t value{0};
};

// Places of values that differ between ranks or change while a rank runs.
inline constexpr std::int32_t kRankSlot = 0;
inline constexpr std::int32_t kBlockSlot = 1;  // k
inline constexpr std::int32_t kFirstCoordinateSlot = 2;

class Expressions;

// The values of one rank at one moment.
class Frame {
 public:
  Frame(const Expressions& expressions, const Grid& grid, std::int64_t rank);

  std::int64_t slot(std::int32_t index) const { return slots_[static_cast<std::size_t>(index)]; }
  void set(std::int32_t index, std::int64_t value) {
    slots_[static_cast<std::size_t>(index)] = value;
    ++moment_;
  }

 private:
  friend class Expressions;

  struct Known {
    std::int64_t value{0};
    std::uint64_t moment{0};  // at which it was evaluated; 0: never
  };

  const Grid& grid_;
  std::vector<std::int64_t> slots_;
  std::uint64_t moment_{1};  // changes with each slot
  std::vector<Known> definitions_;
};

// Names that an expression may use, besides functions, `any` and `null`.
struct Names {
  std::map<std::string, std::int64_t, std::less<>> constants;
  std::map<std::string, std::int32_t, std::less<>> slots;
  std::map<std::string, NodeIndex, std::less<>> definitions;
};

class Expressions {
 public:
  explicit Expressions(std::size_t axes) : axes_(axes), slots_(kFirstCoordinateSlot + axes) {}

  // A place for a value that changes while a rank runs.
  std::int32_t add_slot() { return static_cast<std::int32_t>(slots_++); }
  // The node that stands for this content, which a frame evaluates once; again when a slot has changed, if it `varies`
  // while a rank runs. A constant stands for itself.
  NodeIndex add_definition(NodeIndex content, bool varies = false);

  // Operators evaluate at once what is constant; what has no value then is an error only if a rank evaluates it.
  NodeIndex number(std::int64_t value);
  NodeIndex slot(std::int32_t index);
  NodeIndex made(Op op, NodeIndex a, NodeIndex b = kNone, NodeIndex c = kNone);
  NodeIndex place(Op op, const std::vector<NodeIndex>& operands);

  // Throws Mistake where there is no value.
  std::int64_t evaluate(NodeIndex index, Frame& frame) const;

  bool is_constant(NodeIndex index) const { return node(index).op == Op::Number; }
  std::int64_t constant(NodeIndex index) const { return node(index).value; }
  std::size_t axes() const { return axes_; }

 private:
  friend class Frame;

  const Node& node(NodeIndex index) const { return nodes_[static_cast<std::size_t>(index)]; }
  NodeIndex add(const Node& node);
  std::int64_t definition(const Node& node, Frame& frame) const;
  std::int64_t at(const Node& node, Frame& frame) const;
  std::int64_t on(const Node& node, Frame& frame) const;

  std::size_t axes_;
  std::size_t slots_;
  std::vector<Node> nodes_;
  std::vector<NodeIndex> operands_;  // of At and On
  struct Definition {
    NodeIndex content{kNone};
    bool varies{false};
  };
  std::vector<Definition> definitions_;
};

// Parses `text` into `expressions`. `used`, if given, receives the slots that it names. What is outside the language
// throws UserError at `where`.
NodeIndex parsed(std::string_view text, const std::string& where, const Names& names, Expressions& expressions,
                 std::vector<std::int32_t>* used = nullptr);

}  // namespace manynode::derived
