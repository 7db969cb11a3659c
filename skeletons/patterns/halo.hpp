// The exchange with the neighbours in a grid: all receives are posted, all sends started, then waited for.
#pragma once

#include <array>
#include <vector>

#include "grid.hpp"
#include "pattern.hpp"

namespace manynode::patterns {

// A message goes in direction `step`; its number is its tag, because two directions may lead to the same rank.
template <std::size_t dimensions>
struct Direction {
  std::array<int, dimensions> step{};
  std::uint64_t bytes{0};
};

template <std::size_t dimensions>
class Halo final : public Pattern {
 public:
  using Place = std::array<int, dimensions>;

  Halo(const Parameters& parameters, const Place& dims, std::vector<Direction<dimensions>> directions)
      : dims_(dims),
        periodic_(parameters.flag("periodic")),
        allreduce_bytes_(static_cast<std::uint64_t>(parameters.integer("allreduce_bytes", 0))),
        directions_(std::move(directions)) {
    // Along a dimension of one rank, the only neighbour is the rank itself.
    std::erase_if(directions_, [&](const Direction<dimensions>& direction) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        if (direction.step[d] != 0 && dims_[d] == 1) {
          return true;
        }
      }
      return false;
    });
  }

  void iteration(Mpi& mpi, const Groups&) const override {
    const Place place = place_of(dims_, mpi.rank());
    std::array<Request, 2 * kMostDirections> requests;
    std::size_t started = 0;
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      Place back = directions_[i].step;
      for (int& step : back) {
        step = -step;
      }
      if (const int source = rank_at(dims_, place, back, periodic_); source != kProcNull) {
        requests[started++] = mpi.irecv(source, directions_[i].bytes, static_cast<int>(i));
      }
    }
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      const int destination = rank_at(dims_, place, directions_[i].step, periodic_);
      if (destination != kProcNull) {
        requests[started++] = mpi.isend(destination, directions_[i].bytes, static_cast<int>(i));
      }
    }
    mpi.waitall(std::span(requests).first(started));
    if (allreduce_bytes_ > 0) {
      mpi.allreduce(allreduce_bytes_);
    }
  }

 private:
  static constexpr std::size_t kMostDirections = 26;

  Place dims_;
  bool periodic_;
  std::uint64_t allreduce_bytes_;
  std::vector<Direction<dimensions>> directions_;
};

// Both ways along each dimension.
template <std::size_t dimensions>
std::vector<Direction<dimensions>> face_directions(std::uint64_t bytes) {
  std::vector<Direction<dimensions>> directions;
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (const int step : {-1, 1}) {
      directions.emplace_back().step[d] = step;
      directions.back().bytes = bytes;
    }
  }
  return directions;
}

}  // namespace manynode::patterns
