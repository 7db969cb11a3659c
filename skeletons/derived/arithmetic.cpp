#include "arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace manynode::derived {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr const char* kOverflow = "the result is beyond 64 bits";
constexpr const char* kByZero = "division by zero";

std::string with_operands(const std::string& what, std::initializer_list<std::int64_t> operands) {
  std::string text = what + " (with ";
  const char* separator = "";
  for (const std::int64_t operand : operands) {
    text += separator + std::to_string(operand);
    separator = ", ";
  }
  return text + ")";
}

void refuse(bool wrong, const char* what, std::initializer_list<std::int64_t> operands) {
  if (wrong) [[unlikely]]
    throw Mistake(what, operands);
}

// Whether root^q is at most n.
bool at_most(std::int64_t root, std::int64_t q, std::int64_t n) {
  std::int64_t power = 1;
  for (; q > 0; --q) {
    if (__builtin_mul_overflow(power, root, &power) || power > n) return false;
  }
  return true;
}

}  // namespace

Mistake::Mistake(const std::string& what, std::initializer_list<std::int64_t> operands)
    : std::runtime_error(with_operands(what, operands)) {}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  refuse(__builtin_add_overflow(a, b, &result), kOverflow, {a, b});
  return result;
}

std::int64_t subtract(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  refuse(__builtin_sub_overflow(a, b, &result), kOverflow, {a, b});
  return result;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  refuse(__builtin_mul_overflow(a, b, &result), kOverflow, {a, b});
  return result;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  refuse(b == 0, kByZero, {a, b});
  refuse(a == kLeast && b == -1, kOverflow, {a, b});
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  refuse(b == 0, kByZero, {a, b});
  // The processor's instruction overflows for the least number.
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return floor_divide(a, b) + (modulo(a, b) != 0 ? 1 : 0); }

std::int64_t absolute(std::int64_t a) {
  refuse(a == kLeast, kOverflow, {a});
  return a < 0 ? -a : a;
}

std::int64_t shift_left(std::int64_t a, std::int64_t by) {
  refuse(by < 0 || by > 63, "a shift takes 0 to 63 bits", {a, by});
  const auto result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by);
  refuse(result >> by != a, kOverflow, {a, by});
  return result;
}

std::int64_t shift_right(std::int64_t a, std::int64_t by) {
  refuse(by < 0 || by > 63, "a shift takes 0 to 63 bits", {a, by});
  return a >> by;
}

std::int64_t floor_log2(std::int64_t n) {
  refuse(n < 1, "log2 takes a number of at least 1", {n});
  return std::bit_width(static_cast<std::uint64_t>(n)) - 1;
}

std::int64_t floor_root(std::int64_t n, std::int64_t q) {
  refuse(n < 0 || q < 1, "root takes a number of at least 0 and a power of at least 1", {n, q});
  if (n < 2 || q == 1) return n;
  if (q >= 63) return 1;
  std::int64_t low = 1;
  std::int64_t high = std::int64_t{1} << (63 / q + 1);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (at_most(middle, q, n) ? low : high) = middle;
  }
  return low;
}

std::int64_t smooth(std::int64_t n) {
  refuse(n < 1, "smooth takes a number of at least 1", {n});
  std::int64_t best = 1;
  for (std::int64_t fives = 1; fives <= n; fives *= 5) {
    for (std::int64_t threes = fives; threes <= n; threes *= 3) {
      best = std::max(best, threes << floor_log2(n / threes));
      if (threes > n / 3) break;
    }
    if (fives > n / 5) break;
  }
  return best;
}

std::int64_t block(std::int64_t n, std::int64_t parts, std::int64_t i) {
  refuse(n < 0 || parts < 1, "block takes at least 0 items and at least 1 part", {n, parts, i});
  refuse(i < 0 || i >= parts, "block has no part of this number", {n, parts, i});
  return n / parts + (i < n % parts ? 1 : 0);
}

}  // namespace manynode::derived
