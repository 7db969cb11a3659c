// SNAP as a program: the discrete-ordinates equations of neutral-particle transport in three dimensions, by source
// iteration with pipelined wavefront sweeps, after the proxy application of that name. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "app_sweep.hpp"

namespace manynode::snap {
namespace {

// The greatest relative change; changes from zero do not count.
double greatest_change(const double* before, const double* after, std::size_t count) {
  constexpr double kNothing = 1e-12;
  double greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(before[i]) >= kNothing) {
      greatest = std::max(greatest, std::abs(after[i] / before[i] - 1));
    }
  }
  return greatest;
}

// The solver of one rank. Fluxes and sources are [group * cells + cell].
class Solver {
 public:
  Solver(const Settings& settings, int rank, int size)
      : settings_(settings),
        problem_(settings, process_grid(size), rank),
        sweeper_(settings, process_grid(size), rank, problem_),
        inner_changes_(static_cast<std::size_t>(settings.groups)) {
    flux_.resize(problem_.cells() * static_cast<std::size_t>(settings.groups));
    flux_before_inner_ = flux_;
    flux_before_outer_ = flux_;
    outer_source_ = flux_;
    source_ = flux_;
  }

  void run() {
    for (int outer = 0; outer < settings_.outers; ++outer) {
      for (int inner = 0; inner < settings_.inners; ++inner) {
        {
          const PhaseLabel label(inner == 0 ? Work::OuterSource : Work::InnerSource);
          if (inner == 0) {
            flux_before_outer_ = flux_;
            make_outer_source();
          }
          make_inner_source();
          flux_before_inner_.swap(flux_);
          std::fill(flux_.begin(), flux_.end(), 0.0);
        }
        sweeper_.sweep(source_, flux_);
        find_inner_changes();
      }
      find_outer_change();
    }
  }

  // Sums over all ranks. Source, removal and leakage are those of the last sweep. They balance even if the iterations
  // have not converged.
  std::array<double, kSums> sums() const {
    std::array<double, kSums> sums{};
    const auto sum = [&](Sum which) -> double& { return sums[static_cast<std::size_t>(which)]; };
    {
      const PhaseLabel label(Work::Checksum);
      std::size_t i = 0;
      for (int group = 0; group < settings_.groups; ++group) {
        for (std::size_t cell = 0; cell < problem_.cells(); ++cell, ++i) {
          sum(Sum::Source) += kCellVolume * source_[i];
          sum(Sum::Removal) += kCellVolume * problem_.total(group, cell) * flux_[i];
          sum(Sum::Flux) += problem_.checksum_weight(cell) * flux_[i];
          sum(Sum::Weight) += problem_.checksum_weight(cell);
          sum(Sum::NegativeFluxes) += flux_[i] < 0 ? 1 : 0;
        }
      }
      sum(Sum::Leakage) = sweeper_.leakage();
      sum(Sum::Fixups) = static_cast<double>(sweeper_.fixups());
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  }

  // For each outer iteration: the greatest change of any group in its last inner iteration, and since the previous
  // outer iteration.
  const Vector& inner_history() const { return inner_history_; }
  const Vector& outer_history() const { return outer_history_; }

 private:
  double* group_of(Vector& values, int group) const {
    return values.data() + static_cast<std::size_t>(group) * problem_.cells();
  }

  void make_outer_source() {
    for (int to = 0; to < settings_.groups; ++to) {
      double* const source = group_of(outer_source_, to);
      for (std::size_t cell = 0; cell < problem_.cells(); ++cell) {
        source[cell] = problem_.source(cell);
      }
      for (int from = 0; from < settings_.groups; ++from) {
        const double* const flux = group_of(flux_, from);
        for (std::size_t cell = 0; from != to && cell < problem_.cells(); ++cell) {
          source[cell] += problem_.scatter(from, to, cell) * flux[cell];
        }
      }
    }
  }

  void make_inner_source() {
    std::size_t i = 0;
    for (int group = 0; group < settings_.groups; ++group) {
      for (std::size_t cell = 0; cell < problem_.cells(); ++cell, ++i) {
        source_[i] = outer_source_[i] + problem_.scatter(group, group, cell) * flux_[i];
      }
    }
  }

  void find_inner_changes() {
    {
      const PhaseLabel label(Work::InnerChange);
      for (int group = 0; group < settings_.groups; ++group) {
        inner_changes_[static_cast<std::size_t>(group)] =
            greatest_change(group_of(flux_before_inner_, group), group_of(flux_, group), problem_.cells());
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, inner_changes_.data(), settings_.groups, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }

  void find_outer_change() {
    double change = 0;
    {
      const PhaseLabel label(Work::OuterChange);
      change = greatest_change(flux_before_outer_.data(), flux_.data(), flux_.size());
    }
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    inner_history_.push_back(*std::max_element(inner_changes_.begin(), inner_changes_.end()));
    outer_history_.push_back(change);
  }

  Settings settings_;
  Problem problem_;
  Sweeper sweeper_;
  Vector flux_, flux_before_inner_, flux_before_outer_;
  Vector outer_source_, source_;
  Vector inner_changes_;
  Vector inner_history_, outer_history_;
};

// Prints the result and returns whether it is valid: particles are conserved, and no flux is negative.
bool report(const Settings& settings, int size, const Solver& solver, const std::array<double, kSums>& sums,
            double seconds, bool history) {
  const auto sum = [&](Sum which) { return sums[static_cast<std::size_t>(which)]; };
  const ProcessGrid grid = process_grid(size);
  std::printf("process_grid: %d %d\n", grid.y, grid.z);
  std::printf("global_mesh: %d %d %d\n", settings.nx, grid.y * settings.ny, grid.z * settings.nz);
  for (std::size_t i = 0; i < solver.outer_history().size(); ++i) {
    std::printf(history ? "change[%zu]: %.17e %.17e\n" : "change[%zu]: %.3e %.3e\n", i + 1, solver.inner_history()[i],
                solver.outer_history()[i]);
  }
  const double balance = (sum(Sum::Source) - sum(Sum::Removal) - sum(Sum::Leakage)) / sum(Sum::Source);
  const double crossings = 8.0 * settings.angles * settings.groups * static_cast<double>(settings.cells()) * size;
  std::printf("leakage: %.6e\n", sum(Sum::Leakage) / sum(Sum::Source));
  std::printf("balance: %.3e\n", balance);
  std::printf("fixups_per_crossing: %.6f\n", sum(Sum::Fixups) / crossings);
  std::printf("negative_fluxes: %.0f\n", sum(Sum::NegativeFluxes));
  std::printf("checksum: %.9e\n", sum(Sum::Flux) / sum(Sum::Weight));
  std::printf("seconds_per_inner: %.9f\n", seconds / settings.outers / settings.inners);
  constexpr double kRounding = 1e-10;
  return std::abs(balance) < kRounding && sum(Sum::NegativeFluxes) == 0;
}

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Solver> solver;
  {
    const PhaseLabel label(Work::Setup);
    solver = std::make_unique<Solver>(settings, job.rank, job.size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  solver->run();
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kSums> sums = solver->sums();
  return job.rank != 0 || report(settings, job.size, *solver, sums, seconds, job.switched_on.contains("history"));
}

}  // namespace

}  // namespace manynode::snap

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {snap::kName, snap::parameter_declarations(), {"history"}}, snap::settings,
                      snap::run);
}
