// Shared by the runnable mini-apps: names of compute phases, and settings from the command line.
#pragma once

#include <mpi.h>

#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode {

// Names the compute phase in which it is created for the markers library; the last name given in a phase counts.
// Closing the region keeps the name away from later phases. `work_name` is defined by the application.
template <typename Work>
class PhaseLabel {
 public:
  explicit PhaseLabel(Work work) { MPI_Pcontrol(1, work_name(work)); }
  ~PhaseLabel() { MPI_Pcontrol(0); }
  PhaseLabel(const PhaseLabel&) = delete;
  PhaseLabel& operator=(const PhaseLabel&) = delete;
};

// Builds the settings from the command line (parameters_from_options); empty if invalid. Rank 0 then reports the
// mistake. Every rank finds the same mistake and returns normally: MPI_Abort is not needed.
template <typename Make>
auto settings_from_options(const std::string& application, int argc, char** argv,
                           std::span<const ParameterDeclaration> declarations, const std::set<std::string>& switches,
                           std::set<std::string>& switched_on, const Make& make)
    -> std::optional<decltype(make(Parameters()))> {
  try {
    return make(parameters_from_options(application, argc, argv, declarations, switches, switched_on));
  } catch (const UserError& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
      print_error(std::cerr, error);
    }
    return std::nullopt;
  }
}

}  // namespace manynode
