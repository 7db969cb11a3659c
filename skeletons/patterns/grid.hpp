// A grid of ranks; the last dimension runs fastest, as in MPI's Cartesian communicators.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "manynode/call.hpp"
#include "manynode/communicator.hpp"
#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode::patterns {

// The parameter `grid` ("4x2x2"); if it is empty, extents as equal as possible.
template <std::size_t dimensions>
std::array<int, dimensions> grid_of(const Parameters& parameters, int size) {
  std::array<int, dimensions> dims{};
  const std::string text = parameters.text("grid");
  if (text.empty()) {
    const std::vector<int> balanced = balanced_dims(size, static_cast<int>(dimensions));
    std::copy(balanced.begin(), balanced.end(), dims.begin());
    return dims;
  }
  const char* at = text.data();
  const char* const end = at + text.size();
  std::int64_t ranks = 1;
  bool good = true;
  for (std::size_t d = 0; d < dimensions && good; ++d) {
    const auto [rest, error] = std::from_chars(at, end, dims[d]);
    const bool last = d + 1 == dimensions;
    good = error == std::errc{} && dims[d] > 0 && (last ? rest == end : rest != end && *rest == 'x');
    at = last ? rest : rest + 1;
    ranks = std::min(ranks * std::max(dims[d], 1), std::int64_t{1} << 32);
  }
  if (!good || ranks != size) {
    throw UserError("the grid does not hold the ranks", "grid", text,
                    std::to_string(dimensions) + " extents whose product is " + std::to_string(size),
                    "separate them by x, or leave the grid out");
  }
  return dims;
}

template <std::size_t dimensions>
std::array<int, dimensions> place_of(const std::array<int, dimensions>& dims, int rank) {
  std::array<int, dimensions> place{};
  for (std::size_t d = dimensions; d-- > 0; rank /= dims[d]) {
    place[d] = rank % dims[d];
  }
  return place;
}

// The rank one step from a place; kProcNull outside a grid that is not periodic.
template <std::size_t dimensions>
int rank_at(const std::array<int, dimensions>& dims, const std::array<int, dimensions>& place,
            const std::array<int, dimensions>& step, bool periodic) {
  int rank = 0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    int there = place[d] + step[d];
    if (there < 0 || there >= dims[d]) {
      if (!periodic) {
        return kProcNull;
      }
      there = (there + dims[d]) % dims[d];
    }
    rank = rank * dims[d] + there;
  }
  return rank;
}

}  // namespace manynode::patterns
