// The staggered-fermion operator of one rank and the gathers that bring it its neighbours' vectors.
#pragma once

#include <mpi.h>

#include <vector>

#include "app_lattice.hpp"
#include "parameters.hpp"

namespace manynode::milc {

// Names the compute phase in which it is made for the markers library; the last name given in a phase is the phase's.
// Closing the region keeps the name from phases that follow.
class PhaseLabel {
 public:
  explicit PhaseLabel(Work work) { MPI_Pcontrol(1, work_name(work)); }
  ~PhaseLabel() { MPI_Pcontrol(0); }
  PhaseLabel(const PhaseLabel&) = delete;
  PhaseLabel& operator=(const PhaseLabel&) = delete;
};

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
