// The calls of MILC's solver, in the order of app.cpp.
#include "skeleton.hpp"

#include <span>

namespace manynode::milc {

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Milc>(settings(parameters), ranks);
}

Milc::Milc(const Settings& settings, int size)
    : settings_(settings),
      grid_(process_grid(size)),
      forward_(gathers(1, settings.third_neighbours)),
      backward_(gathers(-1, settings.third_neighbours)) {
  const auto happens = [&](Work work) {
    switch (work) {
      case Work::Pack:
        return size > 1;
      case Work::Direction:
        return settings_.iterations > 1;
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

std::unique_ptr<Skeleton> Milc::make(int rank, int) const { return std::make_unique<MilcRank>(*this, rank); }

std::uint64_t Milc::bytes(const Gather& gather) const {
  return static_cast<std::uint64_t>(gathered_sites(settings_.local, gather.axis, gather.distance)) * kReals *
         sizeof(double);
}

std::vector<Request> MilcRank::start(Mpi& mpi, const std::vector<Gather>& gathers) const {
  const Quad& grid = application_.grid();
  std::vector<Request> requests;
  for (const Gather& gather : gathers) {
    if (grid[gather.axis] == 1) {
      requests.push_back(mpi.irecv(kProcNull, 0, gather.tag()));
      requests.push_back(mpi.isend(kProcNull, 0, gather.tag()));
      continue;
    }
    const std::uint64_t bytes = application_.bytes(gather);
    requests.push_back(mpi.irecv(neighbour(grid, rank_, gather.axis, gather.step), bytes, gather.tag()));
    work(mpi, Work::Pack);
    requests.push_back(mpi.isend(neighbour(grid, rank_, gather.axis, -gather.step), bytes, gather.tag()));
  }
  return requests;
}

void MilcRank::dslash(Mpi& mpi, Work last) const {
  const std::vector<Request> forward = start(mpi, application_.forward());
  work(mpi, Work::Adjoint);
  const std::vector<Request> backward = start(mpi, application_.backward());
  mpi.waitall(forward);
  work(mpi, Work::Forward);
  mpi.waitall(backward);
  work(mpi, last);
}

bool MilcRank::step(Mpi& mpi) {
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.allreduce(sizeof(double));
  }

  dslash(mpi, Work::Backward);
  dslash(mpi, Work::Backward);
  mpi.allreduce(sizeof(double));
  work(mpi, Work::Update);
  mpi.allreduce(sizeof(double));

  if (++iteration_ < application_.settings().iterations) {
    work(mpi, Work::Direction);
    return true;
  }
  dslash(mpi, Work::Backward);
  dslash(mpi, Work::Checksum);
  mpi.allreduce(kSums * sizeof(double));
  return false;
}

}  // namespace manynode::milc
