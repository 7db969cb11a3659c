// The staggered-fermion operator of one rank and the gathers of its neighbours' vectors.
#pragma once

#include <mpi.h>

#include <vector>

#include "app_lattice.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::milc {

using PhaseLabel = manynode::PhaseLabel<Work>;

class Dslash {
 public:
  explicit Dslash(const Lattice& lattice);

  // On the sites of `parity`: to = sum over directions of U(x) from(x + d) - U^+(x - d) from(x - d). Takes the other
  // parity of `from`, a field of sites_and_halos(), whose halos it fills.
  void apply(Parity parity, Field& from, Field& to);

 private:
  struct Pending {
    Field packed;
    std::array<MPI_Request, 2> requests;
  };

  void start(const Gather& gather, Parity parity, Field& field, std::size_t halo_start, Pending& pending);
  void finish(std::vector<Pending>& pending);
  void multiply_adjoint(Parity parity, const Field& from);
  void add_forward(Parity parity, const Field& from, Field& to) const;
  void subtract_backward(Parity parity, Field& to) const;

  const Lattice& lattice_;
  std::vector<Field> adjoint_products_;  // [direction]: sites and the backward gather's halo
  std::vector<Pending> forward_, backward_;
  std::vector<MPI_Request> requests_;
};

}  // namespace manynode::milc
