// Communicators of one rank: the world, arithmetic progressions and splits.
#include "manynode/communicator.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace manynode {

Communicators::Communicators(int world_rank, int world_size) {
  if (world_size < 1 || world_rank < 0 || world_rank >= world_size) {
    throw std::logic_error("rank " + std::to_string(world_rank) + " is not in a world of " +
                           std::to_string(world_size) + " ranks");
  }
  add({.rank = world_rank, .size = world_size, .first = 0, .stride = 1, .members = nullptr});
}

int Communicators::rank(Communicator comm) const { return groups_.at(comm.id).rank; }

int Communicators::size(Communicator comm) const { return groups_.at(comm.id).size; }

int Communicators::world_rank(Communicator comm, int rank) const {
  if (rank < 0) {
    return rank;
  }
  const Group& group = groups_.at(comm.id);
  if (rank >= group.size) {
    throw std::logic_error("rank " + std::to_string(rank) + " is not in a communicator of " +
                           std::to_string(group.size) + " ranks");
  }
  return group.members ? (*group.members)[static_cast<std::size_t>(rank)] : group.first + rank * group.stride;
}

Communicator Communicators::strided(int first, int stride, int count) {
  const Group& world = groups_.front();
  const int last = first + stride * (count - 1);
  const int distance = world.rank - first;
  // A group of one has no use for its stride, but a stride of 0 would divide by zero below.
  const int step = stride == 0 ? 1 : stride;
  if (count < 1 || (stride == 0 && count > 1) || std::min(first, last) < 0 || std::max(first, last) >= world.size ||
      distance % step != 0 || distance / step < 0 || distance / step >= count) {
    throw std::logic_error("rank " + std::to_string(world.rank) + " of " + std::to_string(world.size) +
                           " is not in the group of " + std::to_string(count) + " ranks from " + std::to_string(first) +
                           " by " + std::to_string(stride));
  }
  return add({.rank = distance / step, .size = count, .first = first, .stride = step, .members = nullptr});
}

Communicator Communicators::split(Communicator parent,
                                  const std::function<std::pair<int, int>(int rank)>& colour_and_key) {
  const Group old = groups_.at(parent.id);
  const int colour = colour_and_key(old.rank).first;
  if (colour < 0) {
    throw std::logic_error("split: rank " + std::to_string(old.rank) + " makes a communicator without being in it");
  }
  std::vector<std::pair<int, int>> keyed;  // key, rank in the parent; MPI breaks ties by rank
  for (int rank = 0; rank < old.size; ++rank) {
    const auto [other, key] = colour_and_key(rank);
    if (other == colour) {
      keyed.emplace_back(key, rank);
    }
  }
  std::sort(keyed.begin(), keyed.end());

  auto members = std::make_shared<std::vector<std::int32_t>>();
  members->reserve(keyed.size());
  Group group;
  group.size = static_cast<int>(keyed.size());
  for (const auto& [key, rank] : keyed) {
    if (rank == old.rank) {
      group.rank = static_cast<int>(members->size());
    }
    members->push_back(world_rank(parent, rank));
  }
  group.first = members->front();
  group.stride = members->size() > 1 ? (*members)[1] - (*members)[0] : 1;
  for (std::size_t i = 1; i < members->size() && !group.members; ++i) {
    if ((*members)[i] - (*members)[i - 1] != group.stride) {
      group.members = members;
    }
  }
  return add(std::move(group));
}

Communicator Communicators::add(Group group) {
  // A message context is twice the communicator's number, in 16 bits.
  if (groups_.size() > std::numeric_limits<std::uint16_t>::max() / 2) {
    throw std::logic_error("more communicators than message contexts");
  }
  groups_.push_back(std::move(group));
  return Communicator{static_cast<std::uint16_t>(groups_.size() - 1)};
}

}  // namespace manynode
