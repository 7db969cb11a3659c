// The calls of HPCG, in the order of app.cpp.
#include "skeleton.hpp"

namespace manynode::hpcg {
namespace {

std::span<const ParameterDeclaration> parameters() { return parameter_declarations(); }

std::unique_ptr<Application> make(const Parameters& parameters, int size) {
  return std::make_unique<Hpcg>(settings(parameters), size);
}

}  // namespace

extern const ApplicationEntry application;
const ApplicationEntry application{"hpcg", make, parameters};

Hpcg::Hpcg(const Settings& settings, int size) : settings_(settings) {
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

HpcgRank::HpcgRank(const Hpcg& application, int rank, int size)
    : application_(application), rank_(rank), grid_(process_grid(size)) {}

void HpcgRank::exchange_halo(Mpi& mpi, const Triple& local) const {
  const std::vector<Neighbour> around = neighbours(grid_, rank_);
  const auto bytes = [&](const Neighbour& neighbour) {
    return static_cast<std::uint64_t>(shared_points(local, neighbour.direction)) * sizeof(double);
  };
  std::vector<Request> requests;
  requests.reserve(2 * around.size());
  for (const Neighbour& neighbour : around) {
    requests.push_back(mpi.irecv(neighbour.rank, bytes(neighbour), kHaloTag));
  }
  if (!around.empty()) {
    work(mpi, Work::Pack);
  }
  for (const Neighbour& neighbour : around) {
    requests.push_back(mpi.isend(neighbour.rank, bytes(neighbour), kHaloTag));
  }
  mpi.waitall(requests);
}

void HpcgRank::dot_product(Mpi& mpi) const { mpi.allreduce(sizeof(double)); }

void HpcgRank::smooth(Mpi& mpi, const Triple& local) const {
  exchange_halo(mpi, local);
  work(mpi, Work::Symgs);
}

void HpcgRank::multigrid(Mpi& mpi, const Triple& local, int level) const {
  smooth(mpi, local);
  if (level + 1 == application_.settings().levels) {
    return;
  }
  exchange_halo(mpi, local);
  work(mpi, Work::Residual);
  multigrid(mpi, coarsened(local), level + 1);
  smooth(mpi, local);
}

bool HpcgRank::step(Mpi& mpi) {
  const Settings& settings = application_.settings();
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
    exchange_halo(mpi, settings.local);
    work(mpi, Work::Initial);
    dot_product(mpi);
  }

  if (settings.preconditioner) {
    work(mpi, Work::Zero);
    multigrid(mpi, settings.local, 0);
  } else {
    work(mpi, Work::Dot);
  }
  dot_product(mpi);
  work(mpi, Work::Direction);
  exchange_halo(mpi, settings.local);
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
