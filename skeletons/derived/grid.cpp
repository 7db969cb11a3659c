// The rules, by name; each is one function here and one in manynode/derived/grids.py.
#include "grid.hpp"

#include <algorithm>
#include <functional>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::derived {
namespace {

// All ascending factorisations, in ascending order.
void for_each_ascending(std::int64_t ranks, std::size_t dimensions, Extents& found,
                        const std::function<void(const Extents&)>& use) {
  const std::size_t left = dimensions - found.size();
  if (left == 1) {
    found.push_back(ranks);
    use(found);
    found.pop_back();
    return;
  }
  const auto fits = [&](std::int64_t extent) {
    std::int64_t rest = ranks;
    for (std::size_t axis = 0; axis < left; ++axis) rest /= extent;
    return rest > 0;
  };
  for (std::int64_t extent = found.empty() ? 1 : found.back(); fits(extent); ++extent) {
    if (ranks % extent != 0) continue;
    found.push_back(extent);
    for_each_ascending(ranks / extent, dimensions, found, use);
    found.pop_back();
  }
}

// The first factorisation with the least `cost`; `start` if none costs less.
Extents best_of_all(std::int64_t ranks, Extents start, const std::function<std::int64_t(const Extents&)>& cost) {
  Extents place;
  std::int64_t least = cost(start);
  const std::size_t dimensions = start.size();
  for_each_ascending(ranks, dimensions, place, [&](const Extents& found) {
    const std::int64_t this_one = cost(found);
    if (this_one < least) {
      least = this_one;
      start = found;
    }
  });
  return start;
}

Extents line(std::int64_t ranks, const GridRule& rule) {
  Extents found(static_cast<std::size_t>(rule.dimensions), 1);
  found[0] = ranks;
  return found;
}

// The least sum of ranks / extent.
Extents least_surface(std::int64_t ranks, const GridRule& rule) {
  Extents first = line(ranks, rule);
  std::reverse(first.begin(), first.end());  // the first of the ascending ones
  return best_of_all(ranks, first, [&](const Extents& found) {
    std::int64_t surface = 0;
    for (const std::int64_t extent : found) surface += ranks / extent;
    return surface;
  });
}

// How often each prime divides a number.
std::map<std::int64_t, int> prime_factors(std::int64_t number) {
  std::map<std::int64_t, int> found;
  for (std::int64_t factor = 2; factor <= number / factor; ++factor) {
    for (; number % factor == 0 && number > 1; number /= factor) ++found[factor];
  }
  if (number > 1) ++found[number];
  return found;
}

std::int64_t power(std::int64_t base, int exponent) {
  std::int64_t found = 1;
  for (int i = 0; i < exponent; ++i) found *= base;
  return found;
}

// Prime factors, the largest first, each to the smallest extent.
Extents dealt(std::int64_t ranks, const GridRule& rule) {
  const std::map<std::int64_t, int> factors = prime_factors(ranks);
  Extents found(static_cast<std::size_t>(rule.dimensions), 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    for (int i = 0; i < factor->second; ++i) {
      if (rule.ties_last) {
        *std::min_element(found.rbegin(), found.rend()) *= factor->first;
      } else {
        *std::min_element(found.begin(), found.end()) *= factor->first;
      }
    }
  }
  return found;
}

// MPI_Dims_create of MPICH 4.0: the least difference between the largest and the smallest extent. The factors dealt out
// keep their place unless another factorisation is better.
Extents dims_create_mpich(std::int64_t ranks, const GridRule& rule) {
  Extents start = dealt(ranks, GridRule{.name = {}, .dimensions = rule.dimensions});
  std::sort(start.begin(), start.end());
  return best_of_all(ranks, start, [](const Extents& found) { return found.back() - found.front(); });
}

Extents squarest(std::int64_t ranks, const GridRule&) {
  std::int64_t rows = 1;
  for (std::int64_t divisor = 1; divisor <= ranks / divisor; ++divisor) {
    if (ranks % divisor == 0) rows = divisor;
  }
  return {rows, ranks / rows};
}

// The products of primes but 1, as a counter goes through their numbers, that of the first one fastest.
std::vector<std::int64_t> products(const std::map<std::int64_t, int>& most) {
  std::vector<std::int64_t> found = {1};
  for (const auto& [prime, number] : most) {
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < before * static_cast<std::size_t>(number); ++i) found.push_back(found[i] * prime);
  }
  found.erase(found.begin());
  return found;
}

// In three dimensions: as HPCG 3.1, x first. Of a power of a prime, x has the most factors; of three other factors each
// is an extent; else the first shape with the least surface.
Extents hpcg(std::int64_t ranks, const GridRule&) {
  const std::map<std::int64_t, int> most = prime_factors(ranks);
  int total = 0;
  for (const auto& [prime, number] : most) total += number;
  if (most.size() < 2) {
    const std::int64_t prime = most.empty() ? 1 : most.begin()->first;
    const int number = most.empty() ? 0 : most.begin()->second;
    return {power(prime, number / 3 + (number % 3 >= 1 ? 1 : 0)), power(prime, number / 3 + (number % 3 == 2 ? 1 : 0)),
            power(prime, number / 3)};
  }
  if (total <= 3) {
    const std::int64_t x = most.begin()->first;
    const std::int64_t y = std::next(most.begin())->first;
    return {x, y, ranks / x / y};
  }
  Extents best = {ranks, 1, 1};
  std::int64_t least = 2 * ranks + 1;
  for (const std::int64_t x : products(most)) {
    for (const std::int64_t y : products(prime_factors(ranks / x))) {
      const std::int64_t z = ranks / x / y;
      const std::int64_t surface = x * y + y * z + x * z;
      if (surface < least) {
        best = {x, y, z};
        least = surface;
      }
    }
  }
  return best;
}

using RuleFunction = Extents (*)(std::int64_t ranks, const GridRule& rule);
const std::map<std::string, RuleFunction>& rules() {
  static const std::map<std::string, RuleFunction> known = {
      {"least-surface", least_surface}, {"dealt", dealt}, {"line", line}, {"dims-create-mpich", dims_create_mpich},
      {"dims-create-openmpi", dealt},  // of Open MPI 4.1
      {"squarest", squarest},           {"hpcg", hpcg},
  };
  return known;
}

}  // namespace

Extents extents_of(const GridRule& rule, std::int64_t ranks) {
  const auto found = rules().find(rule.name);
  if (found == rules().end()) {
    std::vector<std::string> names;
    for (const auto& [name, function] : rules()) names.push_back(name);
    throw UserError("there is no such rule of grids", "grid/rule", rule.name, joined(names),
                    did_you_mean(rule.name, names));
  }
  Extents extents = found->second(ranks, rule);
  if (rule.order != Order::Unsorted) std::sort(extents.begin(), extents.end());
  if (rule.order == Order::Descending) std::reverse(extents.begin(), extents.end());
  return extents;
}

Grid made_grid(Extents extents, std::vector<bool> periodic, bool first_fastest) {
  Extents strides(extents.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t axis = first_fastest ? i : extents.size() - 1 - i;
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return Grid{std::move(extents), std::move(strides), std::move(periodic)};
}

}  // namespace manynode::derived
