// Building and evaluating expressions.
#include "expression.hpp"

#include <algorithm>
#include <functional>

#include "manynode/call.hpp"

namespace manynode::derived {

Frame::Frame(const Expressions& expressions, const Grid& grid, std::int64_t rank)
    : grid_(grid), slots_(expressions.slots_), definitions_(expressions.definitions_.size()) {
  slots_[kRankSlot] = rank;
  for (std::size_t axis = 0; axis < grid.axes(); ++axis) {
    slots_[kFirstCoordinateSlot + axis] = grid.coordinate(axis, rank);
  }
}

NodeIndex Expressions::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

NodeIndex Expressions::add_definition(NodeIndex content, bool varies) {
  if (is_constant(content)) return content;
  definitions_.push_back({content, varies});
  return add({.op = Op::Definition, .a = static_cast<NodeIndex>(definitions_.size() - 1)});
}

NodeIndex Expressions::number(std::int64_t value) { return add({.op = Op::Number, .value = value}); }

NodeIndex Expressions::slot(std::int32_t index) { return add({.op = Op::Slot, .a = index}); }

NodeIndex Expressions::place(Op op, const std::vector<NodeIndex>& operands) {
  const auto first = static_cast<NodeIndex>(operands_.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return add({.op = op, .a = first});
}

NodeIndex Expressions::made(Op op, NodeIndex a, NodeIndex b, NodeIndex c) {
  if (is_constant(a)) {
    const bool chosen = constant(a) != 0;
    if (op == Op::Choose) return chosen ? b : c;
    if (op == Op::Both && !chosen) return number(0);
    if (op == Op::Either && chosen) return number(1);
  }
  const NodeIndex index = add({.op = op, .a = a, .b = b, .c = c});
  for (const NodeIndex operand : {a, b, c}) {
    if (operand != kNone && !is_constant(operand)) return index;
  }
  try {
    static const Grid kNoGrid;
    Frame frame(*this, kNoGrid, 0);
    return number(evaluate(index, frame));
  } catch (const Mistake&) {
    return index;
  }
}

std::int64_t Expressions::evaluate(NodeIndex index, Frame& frame) const {
  const Node& node = this->node(index);
  const auto a = [&] { return evaluate(node.a, frame); };
  const auto b = [&] { return evaluate(node.b, frame); };
  const auto c = [&] { return evaluate(node.c, frame); };
  // Operands from left to right: the first mistake is the one that counts.
  const auto both = [&](auto operation) {
    const std::int64_t left = a();
    return static_cast<std::int64_t>(operation(left, b()));
  };
  switch (node.op) {
    case Op::Number:
      return node.value;
    case Op::Slot:
      return frame.slots_[static_cast<std::size_t>(node.a)];
    case Op::Definition:
      return definition(node, frame);
    case Op::Add:
      return both(sum_of);
    case Op::Subtract:
      return both(subtract);
    case Op::Multiply:
      return both(multiply);
    case Op::FloorDivide:
      return both(floor_divide);
    case Op::Modulo:
      return both(modulo);
    case Op::CeilDiv:
      return both(ceil_div);
    case Op::Xor:
      return both(std::bit_xor<>{});
    case Op::And:
      return both(std::bit_and<>{});
    case Op::Or:
      return both(std::bit_or<>{});
    case Op::ShiftLeft:
      return both(shift_left);
    case Op::ShiftRight:
      return both(shift_right);
    case Op::Less:
      return both(std::less<>{});
    case Op::LessEqual:
      return both(std::less_equal<>{});
    case Op::Equal:
      return both(std::equal_to<>{});
    case Op::NotEqual:
      return both(std::not_equal_to<>{});
    case Op::Negate:
      return subtract(0, a());
    case Op::Not:
      return a() == 0 ? 1 : 0;
    case Op::Both:
      return a() != 0 && b() != 0 ? 1 : 0;
    case Op::Either:
      return a() != 0 || b() != 0 ? 1 : 0;
    case Op::Choose:
      return a() != 0 ? b() : c();
    case Op::Minimum:
      return both([](std::int64_t x, std::int64_t y) { return std::min(x, y); });
    case Op::Maximum:
      return both([](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    case Op::Absolute:
      return absolute(a());
    case Op::Log2:
      return floor_log2(a());
    case Op::Root:
      return both(floor_root);
    case Op::Smooth:
      return smooth(a());
    case Op::Block: {
      const std::int64_t items = a();
      const std::int64_t parts = b();
      return block(items, parts, c());
    }
    case Op::At:
      return at(node, frame);
    case Op::On:
      return on(node, frame);
  }
  return 0;
}

std::int64_t Expressions::definition(const Node& node, Frame& frame) const {
  const Definition& definition = definitions_[static_cast<std::size_t>(node.a)];
  Frame::Known& known = frame.definitions_[static_cast<std::size_t>(node.a)];
  const std::uint64_t moment = definition.varies ? frame.moment_ : 1;
  if (known.moment != moment) {
    known.value = evaluate(definition.content, frame);
    known.moment = moment;
  }
  return known.value;
}

// The rank at a displacement: around the edge of periodic axes, kProcNull beyond the edge of others.
std::int64_t Expressions::at(const Node& node, Frame& frame) const {
  const Grid& grid = frame.grid_;
  bool outside = false;
  std::int64_t rank = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const std::int64_t extent = grid.extents[axis];
    const std::int64_t step = evaluate(operands_[static_cast<std::size_t>(node.a) + axis], frame);
    std::int64_t place = sum_of(frame.slots_[kFirstCoordinateSlot + axis], step);
    if (place < 0 || place >= extent) {
      outside = outside || !grid.periodic[axis];
      place = modulo(place, extent);
    }
    rank += place * grid.strides[axis];
  }
  return outside ? kProcNull : rank;
}

std::int64_t Expressions::on(const Node& node, Frame& frame) const {
  const Grid& grid = frame.grid_;
  std::int64_t rank = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const std::int64_t place = evaluate(operands_[static_cast<std::size_t>(node.a) + axis], frame);
    if (place < 0 || place >= grid.extents[axis]) {
      throw Mistake("there is no such place on axis " + std::to_string(axis) + " of the grid", {place});
    }
    rank += place * grid.strides[axis];
  }
  return rank;
}

}  // namespace manynode::derived
