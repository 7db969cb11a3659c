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

// Prime factors, the largest first, each to the smallest extent.
Extents dealt(std::int64_t ranks, const GridRule& rule) {
  std::vector<std::int64_t> factors;
  for (std::int64_t factor = 2; factor <= ranks / factor; ++factor) {
    for (; ranks % factor == 0 && ranks > 1; ranks /= factor) factors.push_back(factor);
  }
  if (ranks > 1) factors.push_back(ranks);
  Extents found(static_cast<std::size_t>(rule.dimensions), 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    if (rule.ties_last) {
      *std::min_element(found.rbegin(), found.rend()) *= *factor;
    } else {
      *std::min_element(found.begin(), found.end()) *= *factor;
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

using RuleFunction = Extents (*)(std::int64_t ranks, const GridRule& rule);
const std::map<std::string, RuleFunction>& rules() {
  static const std::map<std::string, RuleFunction> known = {
      {"least-surface", least_surface}, {"dealt", dealt}, {"line", line}, {"dims-create-mpich", dims_create_mpich},
      {"dims-create-openmpi", dealt},  // of Open MPI 4.1
      {"squarest", squarest},
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
