// The normal distribution: its cumulative distribution function and its inverse.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace manynode {

inline double normal_cdf(double score) { return 0.5 * std::erfc(-score * 0.70710678118654752440); }

namespace normal_detail {

inline double polynomial(const std::array<double, 8>& coefficients, double x) {
  double value = 0;
  for (std::size_t i = coefficients.size(); i-- > 0;) value = value * x + coefficients[i];
  return value;
}

}  // namespace normal_detail

// To 1 part in 10^16: algorithm AS 241, PPND16 (Wichura, Applied Statistics 37, 1988). `probability` is above 0 and
// below 1.
inline double normal_quantile(double probability) {
  using Coefficients = std::array<double, 8>;
  using normal_detail::polynomial;
  const double from_middle = probability - 0.5;
  if (std::abs(from_middle) <= 0.425) {
    constexpr Coefficients kAbove = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                     3.3430575583588128105e+4, 2.5090809287301226727e+3};
    constexpr Coefficients kBelow = {1.0,
                                     4.2313330701600911252e+1,
                                     6.8718700749205790830e+2,
                                     5.3941960214247511077e+3,
                                     2.1213794301586595867e+4,
                                     3.9307895800092710610e+4,
                                     2.8729085735721942674e+4,
                                     5.2264952788528545610e+3};
    const double r = 0.180625 - from_middle * from_middle;
    return from_middle * polynomial(kAbove, r) / polynomial(kBelow, r);
  }
  const double r = std::sqrt(-std::log(from_middle < 0 ? probability : 1 - probability));
  double score = 0;
  if (r <= 5) {
    constexpr Coefficients kAbove = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                     3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr Coefficients kBelow = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
    score = polynomial(kAbove, r - 1.6) / polynomial(kBelow, r - 1.6);
  } else {
    constexpr Coefficients kAbove = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr Coefficients kBelow = {1.0,
                                     5.99832206555887937690e-1,
                                     1.36929880922735805310e-1,
                                     1.48753612908506148525e-2,
                                     7.86869131145613259100e-4,
                                     1.84631831751005468180e-5,
                                     1.42151175831644588870e-7,
                                     2.04426310338993978564e-15};
    score = polynomial(kAbove, r - 5) / polynomial(kBelow, r - 5);
  }
  return from_middle < 0 ? -score : score;
}

}  // namespace manynode
