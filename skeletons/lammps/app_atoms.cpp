// The initial crystal, and the messages that update every rank's atoms and ghosts.
#include "app_atoms.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "manynode/splitmix.hpp"

namespace manynode::lammps {
namespace {

// A random number in (-1, 1) for each key.
double random_number(std::uint64_t key) {
  return (static_cast<double>(random_bits(key) >> 11) + 0.5) / static_cast<double>(std::uint64_t{1} << 52) - 1;
}

// Messages have room for the fluctuations of a liquid of this density, not for an unstable simulation.
void check_room(std::size_t atoms, std::size_t room, const char* what) {
  if (atoms <= room) {
    return;
  }
  print_error(std::cerr, UserError("more atoms are to be sent than fit into a message of lammps", what,
                                   std::to_string(atoms), "at most " + std::to_string(room),
                                   "build the neighbour lists more often, or start at a lower temperature"));
  MPI_Abort(MPI_COMM_WORLD, kExitFailed);
}

// Both neighbouring ranks compute the same boundary.
double boundary(int part, int parts, double length) { return length * part / parts; }

}  // namespace

Atoms::Atoms(const Settings& settings, int rank, int size) : grid_(process_grid(size)) {
  const Triple place = coordinates(grid_, rank);
  Triple extent{};
  const double side = cell_side();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extent[axis] = grid_[axis] * settings.cells[axis];
    box_[axis] = extent[axis] * side;
    low_[axis] = boundary(place[axis], grid_[axis], box_[axis]);
    high_[axis] = boundary(place[axis] + 1, grid_[axis], box_[axis]);
    const bool remote = grid_[axis] > 1;
    if (remote) {
      leaving_doubles_[axis] = kAtomDoubles * static_cast<int>(leaving_capacity(settings.cells, axis));
    }
    for (std::size_t sideways = 0; sideways < 2; ++sideways) {
      Swap& swap = swaps_[2 * axis + sideways];
      const int step = sideways == 0 ? -1 : 1;
      swap.axis = axis;
      swap.room = static_cast<std::size_t>(ghost_capacity(settings.cells, axis));
      swap.buffer.resize(kPositionDoubles * swap.room);
      if (remote) {
        swap.to = neighbour(grid_, rank, axis, step);
        swap.from = neighbour(grid_, rank, axis, -step);
        swap.doubles = kPositionDoubles * static_cast<int>(swap.room);
      }
      if (place[axis] == (step < 0 ? 0 : grid_[axis] - 1)) {
        swap.shift = -step * box_[axis];
      }
    }
  }
  total_ = std::int64_t{kAtomsInCell} * extent[0] * extent[1] * extent[2];

  // Planes of atoms lie a quarter and three quarters into a cell, away from the ranks' boundaries.
  constexpr std::array<Vector, kAtomsInCell> kBasis = {
      {{0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}}};
  const Triple& cells = settings.cells;
  for (int z = place[2] * cells[2]; z < (place[2] + 1) * cells[2]; ++z) {
    for (int y = place[1] * cells[1]; y < (place[1] + 1) * cells[1]; ++y) {
      for (int x = place[0] * cells[0]; x < (place[0] + 1) * cells[0]; ++x) {
        const std::int64_t cell = x + extent[0] * (y + std::int64_t{extent[1]} * z);
        for (int i = 0; i < kAtomsInCell; ++i) {
          const Vector& at = kBasis[static_cast<std::size_t>(i)];
          positions_.push_back({(x + at[0]) * side, (y + at[1]) * side, (z + at[2]) * side});
          const std::int64_t number = kAtomsInCell * cell + i;
          const auto key = 3 * static_cast<std::uint64_t>(number);
          velocities_.push_back({random_number(key), random_number(key + 1), random_number(key + 2)});
          numbers_.push_back(number);
        }
      }
    }
  }
  all_ = positions_.size();
  const int most = *std::max_element(leaving_doubles_.begin(), leaving_doubles_.end());
  for (Entered& entered : entered_) {
    entered.doubles.resize(static_cast<std::size_t>(most));
  }
}

void Atoms::prepare_exchange() {
  positions_.resize(count());
  for (Vector& position : positions_) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (position[axis] < 0) {
        position[axis] += box_[axis];
      }
      if (position[axis] >= box_[axis]) {
        position[axis] = std::max(position[axis] - box_[axis], 0.0);
      }
    }
  }
  take_out(0);
}

void Atoms::take_out(std::size_t axis) {
  left_.clear();
  for (std::size_t i = 0; i < count();) {
    const double at = positions_[i][axis];
    if (at >= low_[axis] && at < high_[axis]) {
      ++i;
      continue;
    }
    left_.insert(left_.end(), positions_[i].begin(), positions_[i].end());
    left_.insert(left_.end(), velocities_[i].begin(), velocities_[i].end());
    left_.push_back(static_cast<double>(numbers_[i]));
    positions_[i] = positions_.back();
    velocities_[i] = velocities_.back();
    numbers_[i] = numbers_.back();
    positions_.pop_back();
    velocities_.pop_back();
    numbers_.pop_back();
  }
  const std::size_t leaving = left_.size() / kAtomDoubles;
  check_room(leaving, static_cast<std::size_t>(leaving_doubles_[axis] / kAtomDoubles), "atoms that leave a rank");
  leaving_ = static_cast<int>(leaving);
  left_.resize(static_cast<std::size_t>(leaving_doubles_[axis]));
}

// Both neighbours get the atoms that left to either side, and keep those in their own part.
void Atoms::take_in(std::size_t axis) {
  for (Entered& entered : entered_) {
    for (int i = 0; i < entered.atoms; ++i) {
      const double* atom = &entered.doubles[static_cast<std::size_t>(kAtomDoubles * i)];
      if (atom[axis] < low_[axis] || atom[axis] >= high_[axis]) {
        continue;
      }
      positions_.push_back({atom[0], atom[1], atom[2]});
      velocities_.push_back({atom[3], atom[4], atom[5]});
      numbers_.push_back(static_cast<std::int64_t>(atom[6]));
    }
    entered.atoms = 0;
  }
}

void Atoms::exchange() {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis > 0) {
      const PhaseLabel label(Work::Exchange);
      take_in(axis - 1);
      take_out(axis);
    }
    // Every rank makes all calls, so that all ranks have the same compute phases; along an axis with one rank, the peer
    // is MPI_PROC_NULL. With two ranks along the axis, both sides are the same neighbour.
    const int doubles = leaving_doubles_[axis];
    const int ints = doubles > 0 ? 1 : 0;
    const std::size_t sides = grid_[axis] > 2 ? 2 : 1;
    for (std::size_t side = 0; side < sides; ++side) {
      const Swap& swap = swaps_[2 * axis + side];
      const int tag = kLeavingCountTag + static_cast<int>(2 * axis + side);
      MPI_Sendrecv(&leaving_, ints, MPI_INT, swap.to, tag, &entered_[side].atoms, ints, MPI_INT, swap.from, tag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (std::size_t side = 0; side < sides; ++side) {
      const Swap& swap = swaps_[2 * axis + side];
      const int tag = kLeavingTag + static_cast<int>(2 * axis + side);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(entered_[side].doubles.data(), doubles, MPI_DOUBLE, swap.from, tag, MPI_COMM_WORLD, &request);
      MPI_Send(left_.data(), doubles, MPI_DOUBLE, swap.to, tag, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

// Finds the atoms near one side, among the rank's own and the ghosts of earlier axes: ghosts at edges and corners
// travel in two and three hops.
void Atoms::select(Swap& swap, std::size_t candidates, bool low_side) const {
  swap.sent.clear();
  const double bound = low_side ? low_[swap.axis] + kReach : high_[swap.axis] - kReach;
  for (std::size_t i = 0; i < candidates; ++i) {
    const double at = positions_[i][swap.axis];
    if (low_side ? at < bound : at >= bound) {
      swap.sent.push_back(static_cast<std::int32_t>(i));
    }
  }
  check_room(swap.sent.size(), swap.room, "ghosts on one side of a rank");
}

// Copies them into the message or, along an axis with one rank, directly to the ghosts.
void Atoms::pack(Swap& swap) {
  double* target = swap.doubles > 0 ? swap.buffer.data() : positions_[swap.first].data();
  for (const std::int32_t i : swap.sent) {
    Vector position = positions_[static_cast<std::size_t>(i)];
    position[swap.axis] += swap.shift;
    target = std::copy(position.begin(), position.end(), target);
  }
}

void Atoms::send(Swap& swap, int number, MPI_Request& request) const {
  MPI_Send(swap.buffer.data(), swap.doubles, MPI_DOUBLE, swap.to, kGhostTag + number, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Atoms::borders() {
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < swaps_.size(); ++i) {
    Swap& swap = swaps_[i];
    const int number = static_cast<int>(i);
    {
      const PhaseLabel label(Work::Borders);
      if (i == 0) {
        take_in(2);
        all_ = count();
        // A message is received in its full length; the next one overwrites the unused part.
        std::size_t room = all_;
        for (const Swap& each : swaps_) {
          room += each.room;
        }
        positions_.resize(room);
      }
      if (i % 2 == 0) {
        candidates = all_;
      }
      swap.first = all_;
      select(swap, candidates, i % 2 == 0);
      pack(swap);
    }
    const int sent = static_cast<int>(swap.sent.size());
    const int ints = swap.doubles > 0 ? 1 : 0;
    int received = sent;
    MPI_Sendrecv(&sent, ints, MPI_INT, swap.to, kGhostCountTag + number, &received, ints, MPI_INT, swap.from,
                 kGhostCountTag + number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(positions_[swap.first].data(), swap.doubles, MPI_DOUBLE, swap.from, kGhostTag + number, MPI_COMM_WORLD,
              &request);
    send(swap, number, request);
    all_ += static_cast<std::size_t>(received);
  }
}

void Atoms::forward() {
  for (std::size_t i = 0; i < swaps_.size(); ++i) {
    Swap& swap = swaps_[i];
    const int number = static_cast<int>(i);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(positions_[swap.first].data(), swap.doubles, MPI_DOUBLE, swap.from, kGhostTag + number, MPI_COMM_WORLD,
              &request);
    {
      const PhaseLabel label(Work::Pack);
      pack(swap);
    }
    send(swap, number, request);
  }
}

}  // namespace manynode::lammps
