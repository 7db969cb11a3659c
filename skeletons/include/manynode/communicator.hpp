// Communicators of one rank. The world is implicit: a rank that makes no other communicator needs no memory. A group is
// stored as a formula if it has one (rows, columns and planes of Cartesian grids), else as a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace manynode {

struct Communicator {
  std::uint16_t id{0};
};

inline constexpr Communicator kWorld{0};

// Extents of a grid of `size` ranks, the largest first, as close to each other as the prime factors allow (as
// MPI_Dims_create).
std::vector<int> balanced_dims(int size, int dimensions);

// The result of MPI_Comm_split on the world, computed once by the application and shared by its ranks. It takes time
// O(n log n) and memory O(n) in total; Communicators::split(parent, function) takes O(n) for each rank.
class Partition {
 public:
  // Colour and key of each rank of a world of `size` ranks; ranks with a negative colour are in no group.
  Partition(int size, const std::function<std::pair<int, int>(int rank)>& colour_and_key);

  // Number of the group of a rank of the world, -1 without one, and its rank in it.
  int group_of(int rank) const { return places_[static_cast<std::size_t>(rank)].group; }
  int rank_in_group(int rank) const { return places_[static_cast<std::size_t>(rank)].rank; }

 private:
  friend class Communicators;

  struct Place {
    std::int32_t group{-1};
    std::int32_t rank{0};
  };

  std::vector<Place> places_;
  std::vector<std::shared_ptr<const std::vector<std::int32_t>>> members_;
};

class Communicators {
 public:
  Communicators(int world_rank, int world_size);

  int rank(Communicator comm) const { return comm.id == 0 ? rank_ : group(comm).rank; }
  int size(Communicator comm) const { return comm.id == 0 ? size_ : group(comm).size; }
  // Number of communicators, including the world; their ids start at 0.
  std::size_t count() const { return groups_.size() + 1; }
  // The rank in the world of `rank` in `comm`; kProcNull and kAnySource stay unchanged.
  int world_rank(Communicator comm, int rank) const {
    return comm.id == 0 && rank < size_ ? rank : world_rank_in_group(comm, rank);
  }

  // A group of ranks first, first + stride, ... (count of them) that includes this rank.
  Communicator strided(int first, int stride, int count);

  // As MPI_Comm_create_group: ranks of the world in the order of the new communicator, this rank among them. Kept as a
  // formula if they are first, first + stride, ..., else as a list.
  Communicator group(std::span<const int> members);

  // As MPI_Cart_create without reordering: the ranks of `parent` in a grid, the last dimension running fastest.
  Communicator cart(Communicator parent, std::span<const int> dims);
  // As MPI_Cart_sub: this rank's sub-grid over the kept dimensions. The time does not depend on the number of ranks.
  Communicator cart_sub(Communicator cart, const std::vector<bool>& keep);
  // Coordinates in a communicator made by cart or cart_sub.
  std::vector<int> coordinates(Communicator cart, int rank) const;
  int cart_rank(Communicator cart, std::span<const int> coordinates) const;

  // This rank's group of the partition. A rank must be in the communicator it makes.
  Communicator split(const Partition& partition);
  // As MPI_Comm_split. A function gives the colour and key of every rank of `parent`, because a skeleton cannot ask the
  // other ranks. A negative colour for this rank is an error (a rank must be in the communicator it makes). This calls
  // the function for every rank of the parent and keeps a list of the group: for thousands of ranks, use a grid or a
  // Partition.
  Communicator split(Communicator parent, const std::function<std::pair<int, int>(int rank)>& colour_and_key);

 private:
  using Members = std::shared_ptr<const std::vector<std::int32_t>>;

  // A Cartesian communicator; a step in dimension d is strides[d] ranks of the world (or of the list of members).
  struct Grid {
    std::vector<int> dims;
    std::vector<int> strides;
  };

  // Rank i is at the first of these that is set: first + i * stride, members[i], or its place in the grid.
  struct Group {
    int rank{0};
    int size{0};
    int first{0};
    int stride{1};  // 0: neighbours differ by more than one stride
    Members members;
    std::shared_ptr<const Grid> grid;
  };

  const Group& group(Communicator comm) const { return groups_.at(comm.id - 1u); }
  Group copy_of(Communicator comm) const;
  const Grid& grid(Communicator cart) const;
  int world_rank_in_group(Communicator comm, int rank) const;
  Communicator add(Group group);
  Communicator add(int rank, std::vector<std::int32_t> members);

  int rank_;
  int size_;
  std::vector<Group> groups_;  // without the world
};

}  // namespace manynode
