// The calls of the molecular dynamics, in the order of app.cpp and app_atoms.cpp.
#include "skeleton.hpp"

#include <span>

namespace manynode::lammps {
namespace {

constexpr std::uint64_t kCountBytes = sizeof(std::int32_t);

std::uint64_t bytes(std::int64_t doubles) { return static_cast<std::uint64_t>(doubles) * sizeof(double); }

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Lammps>(settings(parameters), ranks);
}

Lammps::Lammps(const Settings& settings, int size) : settings_(settings), grid_(process_grid(size)) {
  const bool always_built = settings_.every == 1;
  const auto happens = [&](Work work) {
    switch (work) {
      case Work::Exchange:
        return settings_.iterations >= settings_.every;
      case Work::Pack:
      case Work::Force:
        return !always_built;
      default:
        return true;
    }
  };
  for (std::size_t i = 0; i < kWorkNames.size(); ++i) {
    if (happens(static_cast<Work>(i))) {
      phase_of_work_[i] = Phase{static_cast<std::uint32_t>(phases_.size())};
      phases_.emplace_back(kWorkNames[i]);
    }
  }
}

std::unique_ptr<Skeleton> Lammps::make(int rank, int) const { return std::make_unique<LammpsRank>(*this, rank); }

LammpsRank::LammpsRank(const Lammps& application, int rank) : application_(application) {
  const Triple& grid = application.grid();
  const Triple& cells = application.settings().cells;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 1) {
      continue;
    }
    for (const std::size_t side : {0u, 1u}) {
      const int step = side == 0 ? -1 : 1;
      const int to = neighbour(grid, rank, axis, step);
      const int from = neighbour(grid, rank, axis, -step);
      ghosts_[2 * axis + side] = {to, from, bytes(kPositionDoubles * ghost_capacity(cells, axis))};
      leaving_[2 * axis + side] = {to, from, bytes(kAtomDoubles * leaving_capacity(cells, axis))};
    }
  }
}

void LammpsRank::exchange(Mpi& mpi) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis > 0) {
      work(mpi, Work::Exchange);
    }
    // With two ranks along the axis, both sides are the same neighbour.
    const std::size_t sides = application_.grid()[axis] > 2 ? 2 : 1;
    for (std::size_t side = 0; side < sides; ++side) {
      const Swap& swap = leaving_[2 * axis + side];
      const std::uint64_t count = swap.to == kProcNull ? 0 : kCountBytes;
      const int tag = kLeavingCountTag + static_cast<int>(2 * axis + side);
      mpi.sendrecv(swap.to, count, tag, swap.from, count, tag);
    }
    for (std::size_t side = 0; side < sides; ++side) {
      const Swap& swap = leaving_[2 * axis + side];
      const int tag = kLeavingTag + static_cast<int>(2 * axis + side);
      const Request request = mpi.irecv(swap.from, swap.bytes, tag);
      mpi.send(swap.to, swap.bytes, tag);
      mpi.wait(request);
    }
  }
}

void LammpsRank::borders(Mpi& mpi) const {
  for (std::size_t i = 0; i < ghosts_.size(); ++i) {
    const Swap& swap = ghosts_[i];
    const std::uint64_t count = swap.to == kProcNull ? 0 : kCountBytes;
    const int number = static_cast<int>(i);
    work(mpi, Work::Borders);
    mpi.sendrecv(swap.to, count, kGhostCountTag + number, swap.from, count, kGhostCountTag + number);
    const Request request = mpi.irecv(swap.from, swap.bytes, kGhostTag + number);
    mpi.send(swap.to, swap.bytes, kGhostTag + number);
    mpi.wait(request);
  }
}

void LammpsRank::forward(Mpi& mpi) const {
  for (std::size_t i = 0; i < ghosts_.size(); ++i) {
    const Swap& swap = ghosts_[i];
    const int tag = kGhostTag + static_cast<int>(i);
    const Request request = mpi.irecv(swap.from, swap.bytes, tag);
    work(mpi, Work::Pack);
    mpi.send(swap.to, swap.bytes, tag);
    mpi.wait(request);
  }
}

bool LammpsRank::step(Mpi& mpi) {
  const Settings& settings = application_.settings();
  if (step_ == 0) {
    work(mpi, Work::Setup);
    mpi.allreduce(kVelocitySums * sizeof(double));
    borders(mpi);
    work(mpi, Work::Neighbour);
    mpi.allreduce(kEnergySums * sizeof(double));
  }

  // Without sums in between, the end of a step and the beginning of the next are one phase, with the former's name.
  if (step_ == 0 || settings.reduces(step_)) {
    work(mpi, Work::Integrate);
  }
  ++step_;
  if (settings.rebuilds(step_)) {
    exchange(mpi);
    borders(mpi);
    work(mpi, Work::Neighbour);
  } else {
    forward(mpi);
    work(mpi, Work::Force);
  }
  if (settings.reduces(step_)) {
    for (int i = 0; i < settings.reductions; ++i) {
      mpi.allreduce(sizeof(double));
    }
  }

  if (step_ < settings.iterations) {
    return true;
  }
  work(mpi, Work::Final);
  mpi.allreduce(kFinalSums * sizeof(double));
  return false;
}

}  // namespace manynode::lammps
