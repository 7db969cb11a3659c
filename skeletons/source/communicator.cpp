// Communicators of one rank: the world, arithmetic progressions, Cartesian grids and splits.
#include "manynode/communicator.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace manynode {
namespace {

[[noreturn]] void no_such_rank(int rank, int size) {
  throw std::logic_error("rank " + std::to_string(rank) + " is not in a communicator of " + std::to_string(size) +
                         " ranks");
}

// How many ranks of the grid a step in each dimension is: the last dimension runs fastest.
std::vector<int> steps_of(std::span<const int> dims) {
  std::vector<int> steps(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) {
    steps[d - 1] = steps[d] * dims[d];
  }
  return steps;
}

// The one stride between neighbours of a grid, 0 when there is more than one.
int common_stride(const std::vector<int>& dims, const std::vector<int>& strides) {
  int stride = 0;
  int extent = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1) {
      continue;
    }
    if (extent > 1 && strides[d] != stride * extent) {
      return 0;
    }
    stride = extent == 1 ? strides[d] : stride;
    extent *= dims[d];
  }
  return extent == 1 ? 1 : stride;
}

}  // namespace

std::vector<int> balanced_dims(int size, int dimensions) {
  std::vector<int> dims(static_cast<std::size_t>(dimensions), 1);
  std::vector<int> factors;
  for (int factor = 2; size > 1; ++factor) {
    if (factor > size / factor) {
      factor = size;
    }
    for (; size % factor == 0; size /= factor) {
      factors.push_back(factor);
    }
  }
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) {
    *std::min_element(dims.begin(), dims.end()) *= *factor;
  }
  std::sort(dims.rbegin(), dims.rend());
  return dims;
}

Partition::Partition(int size, const std::function<std::pair<int, int>(int rank)>& colour_and_key)
    : places_(static_cast<std::size_t>(size)) {
  std::vector<std::tuple<int, int, int>> keyed;  // colour, key, rank; MPI breaks ties by rank
  for (int rank = 0; rank < size; ++rank) {
    const auto [colour, key] = colour_and_key(rank);
    if (colour >= 0) {
      keyed.emplace_back(colour, key, rank);
    }
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
    auto members = std::make_shared<std::vector<std::int32_t>>();
    for (; end < keyed.size() && std::get<0>(keyed[end]) == std::get<0>(keyed[begin]); ++end) {
      const int rank = std::get<2>(keyed[end]);
      places_[static_cast<std::size_t>(rank)] = {static_cast<std::int32_t>(members_.size()),
                                                 static_cast<std::int32_t>(members->size())};
      members->push_back(rank);
    }
    members_.push_back(std::move(members));
  }
}

Communicators::Communicators(int world_rank, int world_size) : rank_(world_rank), size_(world_size) {
  if (world_size < 1 || world_rank < 0 || world_rank >= world_size) {
    throw std::logic_error("rank " + std::to_string(world_rank) + " is not in a world of " +
                           std::to_string(world_size) + " ranks");
  }
}

int Communicators::world_rank_in_group(Communicator comm, int rank) const {
  if (rank < 0) {
    return rank;
  }
  if (rank >= size(comm)) {
    no_such_rank(rank, size(comm));
  }
  const Group& group = this->group(comm);
  if (group.members) {
    return (*group.members)[static_cast<std::size_t>(rank)];
  }
  if (group.stride != 0) {
    return group.first + rank * group.stride;
  }
  int world = group.first;
  for (std::size_t d = group.grid->dims.size(); d-- > 0; rank /= group.grid->dims[d]) {
    world += rank % group.grid->dims[d] * group.grid->strides[d];
  }
  return world;
}

Communicator Communicators::strided(int first, int stride, int count) {
  const int last = first + stride * (count - 1);
  const int distance = rank_ - first;
  // A group of one has no use for its stride, but a stride of 0 would divide by zero below.
  const int step = stride == 0 ? 1 : stride;
  if (count < 1 || (stride == 0 && count > 1) || std::min(first, last) < 0 || std::max(first, last) >= size_ ||
      distance % step != 0 || distance / step < 0 || distance / step >= count) {
    throw std::logic_error("rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                           " is not in the group of " + std::to_string(count) + " ranks from " + std::to_string(first) +
                           " by " + std::to_string(stride));
  }
  return add({.rank = distance / step, .size = count, .first = first, .stride = step, .members = {}, .grid = {}});
}

Communicator Communicators::cart(Communicator parent, std::span<const int> dims) {
  const bool positive = std::all_of(dims.begin(), dims.end(), [](int extent) { return extent > 0; });
  const auto ranks = std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  if (!positive || ranks != size(parent)) {
    throw std::logic_error("a grid of " + std::to_string(ranks) + " ranks does not hold the " +
                           std::to_string(size(parent)) + " of the communicator");
  }
  Group group = copy_of(parent);
  if (!group.members && group.stride == 0) {  // a grid of a grid with gaps
    std::vector<std::int32_t> members(static_cast<std::size_t>(group.size));
    for (int rank = 0; rank < group.size; ++rank) {
      members[static_cast<std::size_t>(rank)] = world_rank(parent, rank);
    }
    group.members = std::make_shared<const std::vector<std::int32_t>>(std::move(members));
  }
  auto grid = std::make_shared<Grid>(Grid{{dims.begin(), dims.end()}, steps_of(dims)});
  if (!group.members) {
    for (int& stride : grid->strides) {
      stride *= group.stride;
    }
  }
  group.grid = std::move(grid);
  return add(std::move(group));
}

Communicator Communicators::cart_sub(Communicator cart, const std::vector<bool>& keep) {
  const Group whole = copy_of(cart);
  const Grid& shape = grid(cart);
  if (keep.size() != shape.dims.size()) {
    throw std::logic_error("cart_sub: " + std::to_string(keep.size()) + " flags for a grid of " +
                           std::to_string(shape.dims.size()) + " dimensions");
  }
  const std::vector<int> here = coordinates(cart, whole.rank);
  Grid kept;
  int first = whole.members ? 0 : whole.first;  // in the world or, of a list, in the list
  Group group{.rank = 0, .size = 1, .first = 0, .stride = 1, .members = {}, .grid = {}};
  for (std::size_t d = 0; d < keep.size(); ++d) {
    if (!keep[d]) {
      first += here[d] * shape.strides[d];
      continue;
    }
    group.rank = group.rank * shape.dims[d] + here[d];
    group.size *= shape.dims[d];
    kept.dims.push_back(shape.dims[d]);
    kept.strides.push_back(shape.strides[d]);
  }
  group.first = first;
  group.stride = common_stride(kept.dims, kept.strides);
  if (whole.members) {
    std::vector<std::int32_t> members(static_cast<std::size_t>(group.size));
    for (int rank = 0; rank < group.size; ++rank) {
      int place = first;
      int rest = rank;
      for (std::size_t d = kept.dims.size(); d-- > 0; rest /= kept.dims[d]) {
        place += rest % kept.dims[d] * kept.strides[d];
      }
      members[static_cast<std::size_t>(rank)] = (*whole.members)[static_cast<std::size_t>(place)];
    }
    group.members = std::make_shared<const std::vector<std::int32_t>>(std::move(members));
    kept.strides = steps_of(kept.dims);
  }
  group.grid = std::make_shared<const Grid>(std::move(kept));
  return add(std::move(group));
}

std::vector<int> Communicators::coordinates(Communicator cart, int rank) const {
  const Grid& shape = grid(cart);
  if (rank < 0 || rank >= size(cart)) {
    no_such_rank(rank, size(cart));
  }
  std::vector<int> found(shape.dims.size());
  for (std::size_t d = shape.dims.size(); d-- > 0; rank /= shape.dims[d]) {
    found[d] = rank % shape.dims[d];
  }
  return found;
}

int Communicators::cart_rank(Communicator cart, std::span<const int> coordinates) const {
  const Grid& shape = grid(cart);
  int rank = 0;
  for (std::size_t d = 0; d < shape.dims.size(); ++d) {
    if (d >= coordinates.size() || coordinates[d] < 0 || coordinates[d] >= shape.dims[d]) {
      throw std::logic_error("cart_rank: there is no such place in the grid");
    }
    rank = rank * shape.dims[d] + coordinates[d];
  }
  return rank;
}

Communicator Communicators::split(const Partition& partition) {
  const auto index = static_cast<std::size_t>(rank_);
  if (partition.places_.size() != static_cast<std::size_t>(size_) || partition.places_[index].group < 0) {
    throw std::logic_error("split: rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                           " is in no group of the partition");
  }
  const Partition::Place place = partition.places_[index];
  const auto& members = partition.members_[static_cast<std::size_t>(place.group)];
  return add({.rank = place.rank,
              .size = static_cast<int>(members->size()),
              .first = members->front(),
              .stride = 1,
              .members = members,
              .grid = {}});
}

Communicator Communicators::split(Communicator parent,
                                  const std::function<std::pair<int, int>(int rank)>& colour_and_key) {
  const int self = rank(parent);
  const int colour = colour_and_key(self).first;
  if (colour < 0) {
    throw std::logic_error("split: rank " + std::to_string(self) + " makes a communicator without being in it");
  }
  std::vector<std::pair<int, int>> keyed;  // key, rank in the parent; MPI breaks ties by rank
  for (int rank = 0; rank < size(parent); ++rank) {
    const auto [other, key] = colour_and_key(rank);
    if (other == colour) {
      keyed.emplace_back(key, rank);
    }
  }
  std::sort(keyed.begin(), keyed.end());
  const auto place = std::find_if(keyed.begin(), keyed.end(), [&](const auto& one) { return one.second == self; });

  std::vector<std::int32_t> members;
  members.reserve(keyed.size());
  for (const auto& [key, rank] : keyed) {
    members.push_back(world_rank(parent, rank));
  }
  return add(static_cast<int>(place - keyed.begin()), std::move(members));
}

Communicator Communicators::group(std::span<const int> members) {
  const auto place = std::find(members.begin(), members.end(), rank_);
  std::vector<std::int32_t> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  if (place == members.end() || sorted.front() < 0 || sorted.back() >= size_ ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw std::logic_error("rank " + std::to_string(rank_) + " of " + std::to_string(size_) + " makes a group of " +
                           std::to_string(members.size()) +
                           " ranks without being in it, or a rank of the group is in it twice or not in the world");
  }
  return add(static_cast<int>(place - members.begin()), {members.begin(), members.end()});
}

Communicators::Group Communicators::copy_of(Communicator comm) const {
  return comm.id == 0 ? Group{.rank = rank_, .size = size_, .first = 0, .stride = 1, .members = {}, .grid = {}}
                      : group(comm);
}

const Communicators::Grid& Communicators::grid(Communicator cart) const {
  if (cart.id == 0 || !group(cart).grid) {
    throw std::logic_error("communicator " + std::to_string(cart.id) + " is no Cartesian grid");
  }
  return *group(cart).grid;
}

Communicator Communicators::add(int rank, std::vector<std::int32_t> members) {
  Group group;
  group.rank = rank;
  group.size = static_cast<int>(members.size());
  group.first = members.front();
  group.stride = members.size() > 1 ? members[1] - members[0] : 1;
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i] - members[i - 1] != group.stride) {
      group.members = std::make_shared<const std::vector<std::int32_t>>(std::move(members));
      break;
    }
  }
  return add(std::move(group));
}

Communicator Communicators::add(Group group) {
  // A message context is twice the communicator's number, in 16 bits.
  if (groups_.size() + 1 > std::numeric_limits<std::uint16_t>::max() / 2) {
    throw std::logic_error("more communicators than message contexts");
  }
  groups_.push_back(std::move(group));
  return Communicator{static_cast<std::uint16_t>(groups_.size())};
}

}  // namespace manynode
