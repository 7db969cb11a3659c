// The calls of SNAP, in the order of app.cpp.
#include "skeleton.hpp"

#include <span>

namespace manynode::snap {

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Snap>(settings(parameters), ranks);
}

Snap::Snap(const Settings& settings, int size) : settings_(settings), grid_(process_grid(size)) {
  for (std::size_t i = 0; i < kWorkNames.size(); ++i) {
    if (static_cast<Work>(i) == Work::InnerSource && settings_.inners == 1) {
      continue;
    }
    phase_of_work_[i] = Phase{static_cast<std::uint32_t>(phases_.size())};
    phases_.emplace_back(kWorkNames[i]);
  }
}

std::unique_ptr<Skeleton> Snap::make(int rank, int) const { return std::make_unique<SnapRank>(*this, rank); }

int SnapRank::neighbour_or_null(int step_y, int step_z) const {
  const int there = neighbour(application_.grid(), rank_, step_y, step_z);
  return there == kNoNeighbour ? kProcNull : there;
}

void SnapRank::sweep(Mpi& mpi) const {
  const Settings& settings = application_.settings();
  const std::uint64_t bytes_y = static_cast<std::uint64_t>(settings.face_y()) * sizeof(double);
  const std::uint64_t bytes_z = static_cast<std::uint64_t>(settings.face_z()) * sizeof(double);
  std::array<Request, 2> sends;
  bool sending = false;
  for (std::size_t i = 0; i < kCorners.size(); ++i) {
    const Corner& corner = kCorners[i];
    for (int group = 0; group < settings.groups; ++group) {
      const int tag = sweep_tag(settings, i, group);
      for (int stage = 0; stage < 2 * settings.chunks(); ++stage) {
        mpi.recv(neighbour_or_null(-corner.y, 0), bytes_y, tag);
        mpi.recv(neighbour_or_null(0, -corner.z), bytes_z, tag);
        if (sending) {
          mpi.waitall(sends);
        }
        work(mpi, Work::Sweep);
        sends = {mpi.isend(neighbour_or_null(corner.y, 0), bytes_y, tag),
                 mpi.isend(neighbour_or_null(0, corner.z), bytes_z, tag)};
        sending = true;
      }
    }
  }
  mpi.waitall(sends);
}

bool SnapRank::step(Mpi& mpi) {
  const Settings& settings = application_.settings();
  if (outer_ == 0 && inner_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
  }

  work(mpi, inner_ == 0 ? Work::OuterSource : Work::InnerSource);
  sweep(mpi);
  work(mpi, Work::InnerChange);
  mpi.allreduce(static_cast<std::uint64_t>(settings.groups) * sizeof(double));
  if (++inner_ < settings.inners) {
    return true;
  }

  inner_ = 0;
  work(mpi, Work::OuterChange);
  mpi.allreduce(sizeof(double));
  if (++outer_ < settings.outers) {
    return true;
  }
  work(mpi, Work::Checksum);
  mpi.allreduce(kSums * sizeof(double));
  return false;
}

}  // namespace manynode::snap
