// Checked arithmetic on 64-bit integers, as manynode/derived/arithmetic.py: nothing wraps, and division rounds down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace manynode::derived {

// What is wrong, with the operands; the place is added by whoever knows it.
class Mistake : public std::runtime_error {
 public:
  Mistake(const std::string& what, std::initializer_list<std::int64_t> operands);
};

std::int64_t sum_of(std::int64_t a, std::int64_t b);
std::int64_t subtract(std::int64_t a, std::int64_t b);
std::int64_t multiply(std::int64_t a, std::int64_t b);
std::int64_t floor_divide(std::int64_t a, std::int64_t b);
std::int64_t modulo(std::int64_t a, std::int64_t b);
std::int64_t ceil_div(std::int64_t a, std::int64_t b);
std::int64_t absolute(std::int64_t a);
std::int64_t shift_left(std::int64_t a, std::int64_t by);
std::int64_t shift_right(std::int64_t a, std::int64_t by);
// Of a number of at least 1, rounded down.
std::int64_t floor_log2(std::int64_t n);
// The q-th root of a number of at least 0, rounded down; q is at least 1.
std::int64_t floor_root(std::int64_t n, std::int64_t q);
// The largest number up to `n` with no prime factors but 2, 3 and 5; `n` is at least 1.
std::int64_t smooth(std::int64_t n);
// How many of `n` items part `i` gets when they are dealt to `parts`: the first n % parts get one more.
std::int64_t block(std::int64_t n, std::int64_t parts, std::int64_t i);

}  // namespace manynode::derived
