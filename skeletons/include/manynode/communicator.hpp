// Communicators of one rank. The world is implicit; a group is kept as an arithmetic progression where it is one
// (rows, columns and planes of Cartesian grids), else as a list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace manynode {

struct Communicator {
  std::uint16_t id{0};
};

inline constexpr Communicator kWorld{0};

class Communicators {
 public:
  Communicators(int world_rank, int world_size);

  int rank(Communicator comm) const;
  int size(Communicator comm) const;
  // The rank in the world of `rank` in `comm`; kProcNull and kAnySource stay what they are.
  int world_rank(Communicator comm, int rank) const;

  // A group of ranks first, first + stride, ... (count of them) that includes this rank.
  Communicator strided(int first, int stride, int count);
  // As MPI_Comm_split; the colour and key of every rank of `parent` come from a function, because a skeleton cannot ask
  // the others. A negative colour for this rank is an error (a rank must be in the communicator it makes).
  Communicator split(Communicator parent, const std::function<std::pair<int, int>(int rank)>& colour_and_key);

 private:
  struct Group {
    int rank{0};
    int size{0};
    int first{0};
    int stride{1};
    std::shared_ptr<const std::vector<std::int32_t>> members;  // null where the progression says it all
  };

  Communicator add(Group group);

  std::vector<Group> groups_;
};

}  // namespace manynode
