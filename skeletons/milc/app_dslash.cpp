// The operator: gathers from both sides, overlapped with the multiplications that need no neighbours.
#include "app_dslash.hpp"

namespace manynode::milc {

Dslash::Dslash(const Lattice& lattice)
    : lattice_(lattice), forward_(lattice.directions()), backward_(lattice.directions()) {
  for (std::size_t direction = 0; direction < lattice.directions(); ++direction) {
    const std::size_t halo = lattice.halo_sites(lattice.backward(direction));
    adjoint_products_.emplace_back(lattice.sites() + halo);
    forward_[direction].packed.resize(halo);
    backward_[direction].packed.resize(halo);
  }
}

void Dslash::apply(Parity parity, Field& from, Field& to) {
  const std::size_t directions = lattice_.directions();
  for (std::size_t d = 0; d < directions; ++d) {
    start(lattice_.forward(d), other(parity), from, lattice_.halo_start(lattice_.forward(d)), forward_[d]);
  }
  {
    const PhaseLabel label(Work::Adjoint);
    multiply_adjoint(other(parity), from);
  }
  for (std::size_t d = 0; d < directions; ++d) {
    start(lattice_.backward(d), other(parity), adjoint_products_[d], lattice_.sites(), backward_[d]);
  }
  finish(forward_);
  {
    const PhaseLabel label(Work::Forward);
    add_forward(parity, from, to);
  }
  finish(backward_);
  const PhaseLabel label(Work::Backward);
  subtract_backward(parity, to);
}

// Every rank makes all calls, so that all ranks have the same compute phases. Along an axis with one rank, the peer is
// MPI_PROC_NULL and there is nothing to pack.
void Dslash::start(const Gather& gather, Parity parity, Field& field, std::size_t halo_start, Pending& pending) {
  const int reals = kReals * static_cast<int>(lattice_.halo_sites(gather));
  MPI_Irecv(field.data() + halo_start, reals, MPI_DOUBLE, lattice_.source_rank(gather), gather.tag(), MPI_COMM_WORLD,
            &pending.requests[0]);
  if (reals > 0) {
    const PhaseLabel label(Work::Pack);
    std::size_t i = 0;
    for (const std::int32_t site : lattice_.sent(gather, parity)) {
      pending.packed[i++] = field[static_cast<std::size_t>(site)];
    }
  }
  MPI_Isend(pending.packed.data(), reals, MPI_DOUBLE, lattice_.destination_rank(gather), gather.tag(), MPI_COMM_WORLD,
            &pending.requests[1]);
}

void Dslash::finish(std::vector<Pending>& pending) {
  requests_.clear();
  for (const Pending& gather : pending) {
    requests_.insert(requests_.end(), gather.requests.begin(), gather.requests.end());
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

// The links of the backward directions are stored with the sites from which the vectors come. Vectors are multiplied
// before the gather, so that links need no halo.
void Dslash::multiply_adjoint(Parity parity, const Field& from) {
  for (std::size_t site = lattice_.first(parity); site < lattice_.end(parity); ++site) {
    for (std::size_t d = 0; d < lattice_.directions(); ++d) {
      adjoint_products_[d][site] = adjoint_product(lattice_.link(site, d), from[site]);
    }
  }
}

void Dslash::add_forward(Parity parity, const Field& from, Field& to) const {
  for (std::size_t site = lattice_.first(parity); site < lattice_.end(parity); ++site) {
    Su3Vector sum{};
    for (std::size_t d = 0; d < lattice_.directions(); ++d) {
      const auto there = static_cast<std::size_t>(lattice_.fetched(lattice_.forward(d))[site]);
      add_product(sum, lattice_.link(site, d), from[there]);
    }
    to[site] = sum;
  }
}

void Dslash::subtract_backward(Parity parity, Field& to) const {
  for (std::size_t site = lattice_.first(parity); site < lattice_.end(parity); ++site) {
    for (std::size_t d = 0; d < lattice_.directions(); ++d) {
      const auto there = static_cast<std::size_t>(lattice_.fetched(lattice_.backward(d))[site]);
      for (std::size_t i = 0; i < 3; ++i) {
        to[site][i] -= adjoint_products_[d][there][i];
      }
    }
  }
}

}  // namespace manynode::milc
