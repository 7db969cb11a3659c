// The calls of HPCG, in the order of app.cpp.
#include "skeleton.hpp"

#include <bit>
#include <span>

namespace manynode::hpcg {

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Hpcg>(settings(parameters), ranks);
}

Hpcg::Hpcg(const Settings& settings, int size) : settings_(settings), grid_(process_grid(size)) {
  Triple local = settings_.local;
  for (int level = 0; level < settings_.levels; ++level, local = coarsened(local)) {
    Halo& halo = halos_.emplace_back();
    for (std::size_t i = 0; i < kDirections.size(); ++i) {
      halo.rank_step[i] = rank_step(grid_, kDirections[i]);
      halo.bytes[i] = static_cast<std::uint64_t>(shared_points(local, kDirections[i])) * sizeof(double);
    }
  }
  const auto happens = [&](Work work) {
    switch (work) {
      case Work::Pack:
        return size > 1;
      case Work::Zero:
      case Work::Symgs:
        return settings_.preconditioner;
      case Work::Residual:
        return settings_.preconditioner && settings_.levels > 1;
      case Work::Dot:
        return !settings_.preconditioner;
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

std::unique_ptr<Skeleton> Hpcg::make(int rank, int size) const { return std::make_unique<HpcgRank>(*this, rank, size); }

HpcgRank::HpcgRank(const Hpcg& application, int rank, int)
    : application_(application), rank_(rank), neighbours_(neighbour_bits(application.grid(), rank)) {}

void HpcgRank::exchange_halo(Mpi& mpi, int level) const {
  const Halo& halo = application_.halo(level);
  std::array<Request, 2 * kDirections.size()> requests;
  std::size_t started = 0;
  const auto for_each_neighbour = [&](const auto& start) {
    for (std::uint32_t rest = neighbours_; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      requests[started++] = start(rank_ + halo.rank_step[i], halo.bytes[i]);
    }
  };
  for_each_neighbour([&](int peer, std::uint64_t bytes) { return mpi.irecv(peer, bytes, kHaloTag); });
  if (neighbours_ != 0) {
    work(mpi, Work::Pack);
  }
  for_each_neighbour([&](int peer, std::uint64_t bytes) { return mpi.isend(peer, bytes, kHaloTag); });
  mpi.waitall(std::span(requests).first(started));
}

void HpcgRank::dot_product(Mpi& mpi) const { mpi.allreduce(sizeof(double)); }

void HpcgRank::smooth(Mpi& mpi, int level) const {
  exchange_halo(mpi, level);
  work(mpi, Work::Symgs);
}

void HpcgRank::multigrid(Mpi& mpi, int level) const {
  smooth(mpi, level);
  if (level + 1 == application_.settings().levels) {
    return;
  }
  exchange_halo(mpi, level);
  work(mpi, Work::Residual);
  multigrid(mpi, level + 1);
  smooth(mpi, level);
}

bool HpcgRank::step(Mpi& mpi) {
  const Settings& settings = application_.settings();
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
    exchange_halo(mpi, 0);
    work(mpi, Work::Initial);
    dot_product(mpi);
  }

  if (settings.preconditioner) {
    work(mpi, Work::Zero);
    multigrid(mpi, 0);
  } else {
    work(mpi, Work::Dot);
  }
  dot_product(mpi);
  work(mpi, Work::Direction);
  exchange_halo(mpi, 0);
  work(mpi, Work::Spmv);
  dot_product(mpi);
  work(mpi, Work::Update);
  dot_product(mpi);

  if (++iteration_ < settings.iterations) {
    return true;
  }
  work(mpi, Work::Checksum);
  mpi.allreduce(2 * sizeof(double));
  return false;
}

}  // namespace manynode::hpcg
