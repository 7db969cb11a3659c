// The grammar of expressions: that of Python for these operators, by recursive descent.
#include <algorithm>
#include <charconv>

#include "../source/nearest.hpp"
#include "expression.hpp"
#include "manynode/call.hpp"
#include "manynode/error_report.hpp"

namespace manynode::derived {
namespace {

constexpr int kMostLevels = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Function {
  std::string_view name;
  Op op;
  std::size_t least;
  std::size_t most;
};
// min and max take several: a chain of pairs. at and on take one for each axis.
constexpr Function kFunctions[] = {
    {"min", Op::Minimum, 2, 100}, {"max", Op::Maximum, 2, 100},
    {"abs", Op::Absolute, 1, 1},  {"ceil_div", Op::CeilDiv, 2, 2},
    {"log2", Op::Log2, 1, 1},     {"root", Op::Root, 2, 2},
    {"smooth", Op::Smooth, 1, 1}, {"block", Op::Block, 3, 3},
    {"at", Op::At, 0, 0},         {"on", Op::On, 0, 0},
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& where, const Names& names, Expressions& expressions,
         std::vector<std::int32_t>* used)
      : text_(text), where_(where), names_(names), expressions_(expressions), used_(used) {}

  NodeIndex whole() {
    next();
    const NodeIndex node = conditional();
    if (!word_.empty()) refuse("an expression cannot be read from " + quoted(word_) + " on");
    return node;
  }

 private:
  static std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

  [[noreturn]] void refuse(const std::string& what, const std::string& allowed = {},
                           const std::string& remedy = {}) const {
    throw UserError(what, where_, std::string(text_), allowed, remedy);
  }

  // Reads the next word: a number, a name, an operator; empty at the end.
  void next() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    const std::size_t begin = position_;
    if (begin == text_.size()) {
      word_ = {};
      return;
    }
    const char first = text_[begin];
    if (is_letter(first) || is_digit(first)) {
      while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_]))) ++position_;
    } else {
      constexpr std::string_view kPairs[] = {"//", "<<", ">>", "<=", ">=", "==", "!="};
      const std::string_view pair = text_.substr(begin, 2);
      position_ += std::find(std::begin(kPairs), std::end(kPairs), pair) != std::end(kPairs) ? 2 : 1;
    }
    word_ = text_.substr(begin, position_ - begin);
  }

  bool take(std::string_view word) {
    if (word_ != word) return false;
    next();
    return true;
  }

  void expect(std::string_view word) {
    if (!take(word)) {
      refuse("an expression lacks " + quoted(word) + (word_.empty() ? " at its end" : " before " + quoted(word_)));
    }
  }

  // One level deeper while it exists.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > kMostLevels) {
        parser_.refuse("an expression has more than " + std::to_string(kMostLevels) + " levels");
      }
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  NodeIndex conditional() {
    const Level level(*this);
    const NodeIndex chosen = disjunction();
    if (!take("if")) return chosen;
    const NodeIndex test = disjunction();
    expect("else");
    return expressions_.made(Op::Choose, test, chosen, conditional());
  }

  NodeIndex disjunction() {
    NodeIndex left = conjunction();
    while (take("or")) left = expressions_.made(Op::Either, left, conjunction());
    return left;
  }

  NodeIndex conjunction() {
    NodeIndex left = negation();
    while (take("and")) left = expressions_.made(Op::Both, left, negation());
    return left;
  }

  NodeIndex negation() {
    if (word_ != "not") return comparison();
    const Level level(*this);
    next();
    return expressions_.made(Op::Not, negation());
  }

  // a < b < c is (a < b) and (b < c); the shared operand has no side effects.
  NodeIndex comparison() {
    NodeIndex left = bits_or();
    NodeIndex all = kNone;
    for (;;) {
      const std::string_view word = word_;
      const bool greater = word == ">" || word == ">=";
      Op op = Op::Less;
      if (word == "<=" || word == ">=") {
        op = Op::LessEqual;
      } else if (word == "==") {
        op = Op::Equal;
      } else if (word == "!=") {
        op = Op::NotEqual;
      } else if (word != "<" && word != ">") {
        return all == kNone ? left : all;
      }
      next();
      const NodeIndex right = bits_or();
      const NodeIndex one = greater ? expressions_.made(op, right, left) : expressions_.made(op, left, right);
      all = all == kNone ? one : expressions_.made(Op::Both, all, one);
      left = right;
    }
  }

  struct Binary {
    std::string_view word;
    Op op;
  };

  template <typename Operand, std::size_t kCount>
  NodeIndex chain(Operand operand, const Binary (&operators)[kCount]) {
    NodeIndex left = operand();
    for (;;) {
      const auto found = std::find_if(std::begin(operators), std::end(operators),
                                      [&](const Binary& binary) { return binary.word == word_; });
      if (found == std::end(operators)) return left;
      next();
      left = expressions_.made(found->op, left, operand());
    }
  }

  NodeIndex bits_or() {
    constexpr Binary kOperators[] = {{"|", Op::Or}};
    return chain([&] { return bits_xor(); }, kOperators);
  }

  NodeIndex bits_xor() {
    constexpr Binary kOperators[] = {{"^", Op::Xor}};
    return chain([&] { return bits_and(); }, kOperators);
  }

  NodeIndex bits_and() {
    constexpr Binary kOperators[] = {{"&", Op::And}};
    return chain([&] { return shift(); }, kOperators);
  }

  NodeIndex shift() {
    constexpr Binary kOperators[] = {{"<<", Op::ShiftLeft}, {">>", Op::ShiftRight}};
    return chain([&] { return sum(); }, kOperators);
  }

  NodeIndex sum() {
    constexpr Binary kOperators[] = {{"+", Op::Add}, {"-", Op::Subtract}};
    return chain([&] { return product(); }, kOperators);
  }

  NodeIndex product() {
    constexpr Binary kOperators[] = {{"*", Op::Multiply}, {"//", Op::FloorDivide}, {"%", Op::Modulo}};
    return chain([&] { return unary(); }, kOperators);
  }

  NodeIndex unary() {
    if (word_ != "-" && word_ != "+") return primary();
    const Level level(*this);
    const bool negative = word_ == "-";
    next();
    const NodeIndex operand = unary();
    return negative ? expressions_.made(Op::Negate, operand) : operand;
  }

  NodeIndex primary() {
    if (take("(")) {
      const NodeIndex node = conditional();
      expect(")");
      return node;
    }
    if (word_.empty()) refuse("an expression ends where a value is missing");
    const std::string_view word = word_;
    if (!is_letter(word[0]) && !is_digit(word[0])) refuse("an expression has " + quoted(word) + " in place of a value");
    next();
    if (is_digit(word[0])) return number(word);
    return word_ == "(" ? call(word) : name(word);
  }

  NodeIndex number(std::string_view word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool padded = word.size() > 1 && word[0] == '0';
    if (error != std::errc{} || end != word.data() + word.size() || padded) {
      refuse(std::string(word) + " is no decimal number of 63 bits");
    }
    return expressions_.number(value);
  }

  NodeIndex name(std::string_view word) {
    if (word == "any") return expressions_.number(kAnySource);
    if (word == "null") return expressions_.number(kProcNull);
    if (const auto found = names_.constants.find(word); found != names_.constants.end()) {
      return expressions_.number(found->second);
    }
    if (const auto found = names_.definitions.find(word); found != names_.definitions.end()) return found->second;
    if (const auto found = names_.slots.find(word); found != names_.slots.end()) {
      if (used_ != nullptr) used_->push_back(found->second);
      return expressions_.slot(found->second);
    }
    std::vector<std::string> known;
    for (const auto& [name, value] : names_.constants) known.push_back(name);
    for (const auto& [name, value] : names_.definitions) known.push_back(name);
    for (const auto& [name, value] : names_.slots) known.push_back(name);
    refuse("an expression uses a name that is not known here: " + std::string(word), joined(known),
           did_you_mean(std::string(word), known));
  }

  NodeIndex call(std::string_view word) {
    const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                    [&](const Function& function) { return function.name == word; });
    if (found == std::end(kFunctions)) {
      std::vector<std::string> known;
      for (const Function& function : kFunctions) known.emplace_back(function.name);
      refuse("unknown function " + std::string(word), joined(known), did_you_mean(std::string(word), known));
    }
    std::vector<NodeIndex> operands;
    expect("(");
    if (word_ != ")") {
      do {
        operands.push_back(conditional());
      } while (take(","));
    }
    expect(")");
    const bool of_grid = found->op == Op::At || found->op == Op::On;
    if (of_grid && expressions_.axes() == 0) refuse(std::string(word) + "() needs a grid, which the file lacks");
    const std::size_t least = of_grid ? expressions_.axes() : found->least;
    if (operands.size() < least || operands.size() > (of_grid ? least : found->most)) {
      refuse(std::string(word) + "() does not take " + std::to_string(operands.size()) + " arguments",
             (found->least < found->most ? "at least " : "") + std::to_string(least));
    }
    if (of_grid) return expressions_.place(found->op, operands);
    operands.resize(std::max<std::size_t>(operands.size(), 3), kNone);
    if (found->op != Op::Minimum && found->op != Op::Maximum) {
      return expressions_.made(found->op, operands[0], operands[1], operands[2]);
    }
    NodeIndex chosen = operands[0];
    for (std::size_t i = 1; i < operands.size() && operands[i] != kNone; ++i) {
      chosen = expressions_.made(found->op, chosen, operands[i]);
    }
    return chosen;
  }

  std::string_view text_;
  const std::string& where_;
  const Names& names_;
  Expressions& expressions_;
  std::vector<std::int32_t>* used_;
  std::size_t position_{0};
  std::string_view word_;
  int level_{0};
};

}  // namespace

NodeIndex parsed(std::string_view text, const std::string& where, const Names& names, Expressions& expressions,
                 std::vector<std::int32_t>* used) {
  constexpr std::size_t kMostCharacters = 4000;
  if (text.size() > kMostCharacters) {
    throw UserError("an expression is longer than " + std::to_string(kMostCharacters) + " characters", where);
  }
  return Parser(text, where, names, expressions, used).whole();
}

}  // namespace manynode::derived
