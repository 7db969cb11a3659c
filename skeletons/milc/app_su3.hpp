// Vectors and matrices of three colours. They are plain structures, because std::complex tests every product for
// infinities.
#pragma once

#include <array>

namespace manynode::milc {

struct Complex {
  double re{0};
  double im{0};

  Complex& operator+=(const Complex& other) {
    re += other.re;
    im += other.im;
    return *this;
  }
  Complex& operator-=(const Complex& other) {
    re -= other.re;
    im -= other.im;
    return *this;
  }
};

inline Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Complex operator*(double a, const Complex& b) { return {a * b.re, a * b.im}; }
inline Complex conjugate(const Complex& a) { return {a.re, -a.im}; }

using Su3Vector = std::array<Complex, 3>;
using Su3Matrix = std::array<Su3Vector, 3>;  // rows

// sum += m v
inline void add_product(Su3Vector& sum, const Su3Matrix& m, const Su3Vector& v) {
  for (std::size_t i = 0; i < 3; ++i) {
    Complex row = m[i][0] * v[0];
    row += m[i][1] * v[1];
    row += m[i][2] * v[2];
    sum[i] += row;
  }
}

// (adjoint of m) v
inline Su3Vector adjoint_product(const Su3Matrix& m, const Su3Vector& v) {
  Su3Vector product;
  for (std::size_t i = 0; i < 3; ++i) {
    product[i] = conjugate(m[0][i]) * v[0];
    product[i] += conjugate(m[1][i]) * v[1];
    product[i] += conjugate(m[2][i]) * v[2];
  }
  return product;
}

inline Su3Matrix operator*(const Su3Matrix& a, const Su3Matrix& b) {
  Su3Matrix product{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        product[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return product;
}

// a . b, with a conjugated.
inline Complex inner_product(const Su3Vector& a, const Su3Vector& b) {
  Complex sum;
  for (std::size_t i = 0; i < 3; ++i) {
    sum += conjugate(a[i]) * b[i];
  }
  return sum;
}

}  // namespace manynode::milc
