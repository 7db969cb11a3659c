// The calls of the matrix-vector product, in the order of app.cpp.
#include "skeleton.hpp"

#include <span>

namespace manynode::spmv {

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Spmv>(settings(parameters), ranks);
}

Spmv::Spmv(const Settings& settings, int size) : settings_(settings), grid_(process_grid(size)) {
  for (std::size_t i = 0; i < kWorkNames.size(); ++i) {
    if (size > 1 || static_cast<Work>(i) != Work::Pack) {
      phase_of_work_[i] = Phase{static_cast<std::uint32_t>(phases_.size())};
      phases_.emplace_back(kWorkNames[i]);
    }
  }
}

std::unique_ptr<Skeleton> Spmv::make(int rank, int) const { return std::make_unique<SpmvRank>(*this, rank); }

void SpmvRank::exchange(Mpi& mpi) const {
  const Settings& settings = application_.settings();
  const auto bytes = [&](const Face& face) {
    return static_cast<std::uint64_t>(settings.doubles(face)) * sizeof(double);
  };
  std::vector<Request> requests;
  for (const Face& face : faces_) {
    requests.push_back(mpi.irecv(face.rank, bytes(face), kFaceTag));
  }
  if (!faces_.empty()) {
    work(mpi, Work::Pack);
  }
  for (const Face& face : faces_) {
    requests.push_back(mpi.isend(face.rank, bytes(face), kFaceTag));
  }
  mpi.waitall(requests);
}

bool SpmvRank::step(Mpi& mpi) {
  const Settings& settings = application_.settings();
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
  }

  exchange(mpi);
  work(mpi, Work::Multiply);
  if (settings.norms) {
    mpi.allreduce(static_cast<std::uint64_t>(settings.columns) * sizeof(double));
  }

  if (++iteration_ < settings.iterations) {
    return true;
  }
  mpi.barrier();
  work(mpi, Work::Fill);
  exchange(mpi);
  work(mpi, Work::Check);
  mpi.allreduce(kCheckSums * sizeof(double));
  return false;
}

}  // namespace manynode::spmv
