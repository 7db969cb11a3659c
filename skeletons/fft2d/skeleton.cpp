// The calls of FFT2d, in the order of app.cpp.
#include "skeleton.hpp"

#include <complex>

namespace manynode::fft2d {
namespace {

std::uint64_t bytes(std::int64_t elements) {
  return static_cast<std::uint64_t>(elements) * sizeof(std::complex<double>);
}

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Fft2d>(settings(parameters, ranks));
}

std::unique_ptr<Skeleton> Fft2d::make(int rank, int) const { return std::make_unique<Fft2dRank>(settings_, rank); }

Fft2dRank::Fft2dRank(const Settings& settings, int rank) : settings_(settings) {
  const Shape& shape = settings_.shape;
  if (shape.even()) {
    return;
  }
  for (int other = 0; other < shape.ranks; ++other) {
    row_blocks_.push_back(bytes(shape.block(other)));
    column_blocks_.push_back(bytes(shape.block(rank)));
  }
}

bool Fft2dRank::step(Mpi& mpi) {
  const Shape& shape = settings_.shape;
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
  }

  work(mpi, Work::Rows);
  if (shape.even()) {
    mpi.alltoall(bytes(shape.block(0)));
    work(mpi, Work::Columns);
    mpi.alltoall(bytes(shape.block(0)));
  } else {
    mpi.alltoallv(row_blocks_, column_blocks_);
    work(mpi, Work::Columns);
    mpi.alltoallv(column_blocks_, row_blocks_);
  }

  if (++iteration_ < settings_.iterations) {
    return true;
  }
  work(mpi, Work::Check);
  mpi.allreduce(kCheckSums * sizeof(double));
  return false;
}

}  // namespace manynode::fft2d
