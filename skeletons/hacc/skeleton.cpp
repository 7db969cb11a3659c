// The calls of the three-dimensional transforms, in the order of app.cpp.
#include "skeleton.hpp"

#include <complex>

namespace manynode::hacc {
namespace {

std::uint64_t bytes(std::int64_t cells) { return static_cast<std::uint64_t>(cells) * sizeof(std::complex<double>); }

// Calls `use` for the other members of a group of `size`. Each rank begins after itself, so that not all send to the
// first member at once.
template <typename Use>
void for_others(int own, int size, const Use& use) {
  for (int step = 1; step < size; ++step) {
    use((own + step) % size);
  }
}

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  return std::make_unique<Hacc>(settings(parameters, ranks));
}

std::unique_ptr<Skeleton> Hacc::make(int rank, int) const { return std::make_unique<HaccRank>(*this, rank); }

void HaccRank::row(Mpi& mpi) const {
  const Shape& shape = application_.settings().shape;
  const int row = shape.row_of(rank_);
  const int own = shape.column_of(rank_);
  std::vector<Request> requests;
  for_others(own, shape.columns, [&](int other) {
    requests.push_back(mpi.irecv(shape.rank_at(row, other), bytes(shape.in_row(row, other, own)), kRowTag));
  });
  for_others(own, shape.columns, [&](int other) {
    requests.push_back(mpi.isend(shape.rank_at(row, other), bytes(shape.in_row(row, own, other)), kRowTag));
  });
  mpi.waitall(requests);
}

void HaccRank::column(Mpi& mpi) const {
  const Shape& shape = application_.settings().shape;
  const int column = shape.column_of(rank_);
  const int own = shape.row_of(rank_);
  std::vector<Request> requests;
  for_others(own, shape.rows, [&](int other) {
    requests.push_back(mpi.irecv(shape.rank_at(other, column), bytes(shape.in_column(column, other, own)), kColumnTag));
  });
  for_others(own, shape.rows, [&](int other) {
    requests.push_back(mpi.isend(shape.rank_at(other, column), bytes(shape.in_column(column, own, other)), kColumnTag));
  });
  mpi.waitall(requests);
}

bool HaccRank::step(Mpi& mpi) {
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
  }

  work(mpi, Work::AlongZ);
  row(mpi);
  work(mpi, Work::AlongY);
  column(mpi);
  work(mpi, Work::AlongX);
  column(mpi);
  work(mpi, Work::BackAlongY);
  row(mpi);

  if (++iteration_ < application_.settings().iterations) {
    return true;
  }
  work(mpi, Work::Check);
  mpi.allreduce(kCheckSums * sizeof(double));
  return false;
}

}  // namespace manynode::hacc
