// The solver of MILC's su3_rmd as a program: conjugate gradients for the staggered-fermion operator on a random SU(3)
// gauge field in four dimensions. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "app_dslash.hpp"

namespace manynode::milc {
namespace {

// Solves (4 m^2 - D^2) x = b on the even sites from x = 0; D connects even and odd sites only.
class Solver {
 public:
  Solver(const Settings& settings, int rank, int size)
      : settings_(settings), lattice_(settings, process_grid(size), rank), dslash_(lattice_) {
    b_.resize(lattice_.sites() / 2);
    for (std::size_t site = 0; site < b_.size(); ++site) {
      b_[site] = lattice_.random_vector(site);
    }
    x_.resize(lattice_.sites_and_halos());
    odd_ = x_;
    p_ = x_;
    std::copy(b_.begin(), b_.end(), p_.begin());
    r_ = b_;
    ap_ = b_;
    local_rr_ = local_norm2(b_);
  }

  // Reduces the source's norm; its local sums belong to the set-up.
  void start() {
    // Memory now, not between two reductions: what an allocation costs depends on what MPI has left on the heap.
    norms_.reserve(static_cast<std::size_t>(settings_.iterations) + 1);
    rr_ = global_sum(local_rr_);
    norms_.push_back(std::sqrt(rr_));
  }

  void run() {
    for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
      const double alpha = quotient(rr_, global_sum(multiply_operator()));
      const double old_rr = rr_;
      {
        const PhaseLabel label(Work::Update);
        for (std::size_t site = 0; site < r_.size(); ++site) {
          add_scaled(x_[site], alpha, p_[site]);
          add_scaled(r_[site], -alpha, ap_[site]);
        }
        local_rr_ = local_norm2(r_);
      }
      rr_ = global_sum(local_rr_);
      norms_.push_back(std::sqrt(rr_));
      // The last iteration needs no further direction.
      if (iteration + 1 < settings_.iterations) {
        const PhaseLabel label(Work::Direction);
        const double beta = quotient(rr_, old_rr);
        for (std::size_t site = 0; site < r_.size(); ++site) {
          for (std::size_t i = 0; i < 3; ++i) {
            Complex next = r_[site][i];
            next += beta * p_[site][i];
            p_[site][i] = next;
          }
        }
      }
    }
  }

  // Sums over all ranks: squares of the recomputed residual, weighted squares of the solution, weights.
  std::array<double, kSums> sums() {
    dslash_.apply(Parity::Odd, x_, odd_);
    dslash_.apply(Parity::Even, odd_, odd_);
    std::array<double, kSums> sums{};
    {
      const PhaseLabel label(Work::Checksum);
      for (std::size_t site = 0; site < b_.size(); ++site) {
        Su3Vector residual = b_[site];
        add_scaled(residual, -4 * settings_.mass * settings_.mass, x_[site]);
        add_scaled(residual, 1, odd_[site]);
        const double weight = lattice_.checksum_weight(site);
        sums[0] += inner_product(residual, residual).re;
        sums[1] += weight * inner_product(x_[site], x_[site]).re;
        sums[2] += weight;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  }

  const std::vector<double>& norms() const { return norms_; }
  double greatest_defect() const { return lattice_.greatest_defect(); }

 private:
  // If the residual is exactly 0, there is no direction left: further iterations change nothing.
  static double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

  static void add_scaled(Su3Vector& sum, double factor, const Su3Vector& v) {
    for (std::size_t i = 0; i < 3; ++i) {
      sum[i] += factor * v[i];
    }
  }

  static double local_norm2(const Field& field) {
    double sum = 0;
    for (const Su3Vector& vector : field) {
      sum += inner_product(vector, vector).re;
    }
    return sum;
  }

  static double global_sum(double local) {
    double global = 0;
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return global;
  }

  // ap = (4 m^2 - D^2) p on the even sites; returns this rank's part of p . ap. All of this
  // belongs to the phase in which the operator ends.
  double multiply_operator() {
    dslash_.apply(Parity::Odd, p_, odd_);
    dslash_.apply(Parity::Even, odd_, odd_);
    double pap = 0;
    for (std::size_t site = 0; site < ap_.size(); ++site) {
      ap_[site] = Su3Vector{};
      add_scaled(ap_[site], 4 * settings_.mass * settings_.mass, p_[site]);
      add_scaled(ap_[site], -1, odd_[site]);
      pap += inner_product(p_[site], ap_[site]).re;
    }
    return pap;
  }

  Settings settings_;
  Lattice lattice_;
  Dslash dslash_;
  Field b_, r_, ap_;    // even sites
  Field x_, p_, odd_;   // all sites and halos; D of the first two on the odd sites of the third, D^2 on its even ones
  double local_rr_{0};  // of this rank
  double rr_{0};
  std::vector<double> norms_;
};

// Prints the result and returns whether it is valid: the residual fell, and the recomputed residual
// agrees with the recurrence.
bool report(const Settings& settings, int size, const Solver& solver, const std::array<double, kSums>& sums,
            double seconds, bool history) {
  const std::vector<double>& norms = solver.norms();
  const Quad grid = process_grid(size);
  std::printf("process_grid: %d %d %d %d\n", grid[0], grid[1], grid[2], grid[3]);
  std::printf("global_lattice: %d %d %d %d\n", grid[0] * settings.local[0], grid[1] * settings.local[1],
              grid[2] * settings.local[2], grid[3] * settings.local[3]);
  for (std::size_t i = 1; i < norms.size(); ++i) {
    std::printf(history ? "residual[%zu]: %.17e\n" : "residual[%zu]: %.3e\n", i, norms[i] / norms[0]);
  }
  const double final_residual = norms.back() / norms[0];
  const double true_residual = std::sqrt(sums[0]) / norms[0];
  std::printf("final_residual: %.6e\n", final_residual);
  std::printf("true_residual: %.6e\n", true_residual);
  std::printf("unitarity_defect: %.3e\n", solver.greatest_defect());
  print_end(sums[1] / sums[2], seconds / settings.iterations);
  constexpr double kRounding = 1e-12;
  return final_residual < 1 && std::abs(true_residual - final_residual) < 1e-3 * final_residual + kRounding &&
         solver.greatest_defect() < kRounding;
}

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Solver> solver;
  {
    const PhaseLabel label(Work::Setup);
    solver = std::make_unique<Solver>(settings, job.rank, job.size);
  }
  solver->start();
  const double start = MPI_Wtime();
  solver->run();
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kSums> sums = solver->sums();
  return job.rank != 0 || report(settings, job.size, *solver, sums, seconds, job.switched_on.contains("history"));
}

}  // namespace

}  // namespace manynode::milc

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {milc::kName, milc::parameter_declarations(), {"history"}}, milc::settings,
                      milc::run);
}
