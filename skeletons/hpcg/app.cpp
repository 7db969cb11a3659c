// HPCG as a program: preconditioned conjugate gradients on a 27-point stencil with a multigrid V-cycle of symmetric
// Gauss-Seidel smoothers, after the reference code of Dongarra, Heroux and Luszczek. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <cmath>
#include <cstdio>
#include <memory>

#include "app_matrix.hpp"

namespace manynode::hpcg {
namespace {

// One grid of the multigrid hierarchy.
struct Grid {
  Grid(const Triple& process_grid, int rank, const Triple& local) : matrix(process_grid, rank, local) {}

  Matrix matrix;
  std::vector<std::int32_t> fine_row;  // of each row of the next coarser grid
  Vector residual;                     // right-hand side; unused on the finest grid
  Vector solution;                     // with halo; unused on the finest grid
  Vector product;
};

std::vector<std::unique_ptr<Grid>> make_grids(const Settings& settings, const Triple& process_grid, int rank) {
  std::vector<std::unique_ptr<Grid>> grids;
  Triple local = settings.local;
  for (int level = 0; level < (settings.preconditioner ? settings.levels : 1); ++level) {
    grids.push_back(std::make_unique<Grid>(process_grid, rank, local));
    Grid& grid = *grids.back();
    grid.residual.resize(static_cast<std::size_t>(grid.matrix.rows()));
    grid.solution.resize(static_cast<std::size_t>(grid.matrix.columns()));
    grid.product.resize(static_cast<std::size_t>(grid.matrix.rows()));
    const Triple coarse = coarsened(local);
    for (int z = 0; z < coarse[2]; ++z) {
      for (int y = 0; y < coarse[1]; ++y) {
        for (int x = 0; x < coarse[0]; ++x) {
          grid.fine_row.push_back(2 * x + local[0] * (2 * y + local[1] * 2 * z));
        }
      }
    }
    local = coarse;
  }
  return grids;
}

// The solver of one rank. Vectors with a halo: x_, p_, z_.
class Solver {
 public:
  Solver(const Settings& settings, int rank, int size)
      : settings_(settings), grids_(make_grids(settings, process_grid(size), rank)) {
    const Matrix& matrix = grids_[0]->matrix;
    b_ = matrix.row_sums();
    r_.resize(static_cast<std::size_t>(matrix.rows()));
    ap_.resize(static_cast<std::size_t>(matrix.rows()));
    x_.assign(static_cast<std::size_t>(matrix.columns()), 0.0);
    p_ = x_;
    z_ = x_;
    // Memory now, not between two reductions: what an allocation costs depends on what MPI has left on the heap.
    norms_.reserve(static_cast<std::size_t>(settings_.iterations) + 1);
  }

  void run() {
    const Matrix& matrix = grids_[0]->matrix;
    matrix.exchange_halo(x_);
    double rr = 0;
    {
      const PhaseLabel label(Work::Initial);
      matrix.multiply(x_, ap_);
      for (std::size_t i = 0; i < r_.size(); ++i) {
        r_[i] = b_[i] - ap_[i];
      }
      rr = local_dot(r_, r_);
    }
    norms_.push_back(std::sqrt(global_sum(rr)));

    double rz = 0;
    for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
      const double old_rz = rz;
      rz = precondition();
      {
        const PhaseLabel label(Work::Direction);
        const double beta = iteration == 0 ? 0 : quotient(rz, old_rz);
        for (std::size_t i = 0; i < r_.size(); ++i) {
          p_[i] = z_[i] + beta * p_[i];
        }
      }
      matrix.exchange_halo(p_);
      double pap = 0;
      {
        const PhaseLabel label(Work::Spmv);
        matrix.multiply(p_, ap_);
        pap = local_dot(p_, ap_);
      }
      const double alpha = quotient(rz, global_sum(pap));
      {
        const PhaseLabel label(Work::Update);
        for (std::size_t i = 0; i < r_.size(); ++i) {
          x_[i] += alpha * p_[i];
          r_[i] -= alpha * ap_[i];
        }
        rr = local_dot(r_, r_);
      }
      norms_.push_back(std::sqrt(global_sum(rr)));
    }
  }

  // The mean of the solution with weights that differ from point to point of the global grid, so that a misplaced value
  // changes the sum; the exact solution gives 1.
  double checksum(const Triple& grid, int rank) const {
    const Triple& local = settings_.local;
    const Triple here = coordinates(grid, rank);
    std::array<double, 2> sums{};  // of weighted values, of weights
    {
      const PhaseLabel label(Work::Checksum);
      std::size_t i = 0;
      for (int z = 0; z < local[2]; ++z) {
        for (int y = 0; y < local[1]; ++y) {
          for (int x = 0; x < local[0]; ++x, ++i) {
            const int weight =
                1 + (x + here[0] * local[0] + 2 * (y + here[1] * local[1]) + 3 * (z + here[2] * local[2])) % 7;
            sums[0] += x_[i] * weight;
            sums[1] += weight;
          }
        }
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums[0] / sums[1];
  }

  const std::vector<double>& norms() const { return norms_; }

 private:
  // If the residual is exactly 0, there is no direction left: further iterations change nothing.
  static double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

  // Only over the rows, without the halo.
  double local_dot(const Vector& a, const Vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < r_.size(); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  static double global_sum(double local) {
    double global = 0;
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return global;
  }

  // z = M^-1 r; returns r . z.
  double precondition() {
    if (settings_.preconditioner) {
      {
        const PhaseLabel label(Work::Zero);
        std::fill(z_.begin(), z_.end(), 0.0);
      }
      multigrid(0, r_, z_);
      // The dot product belongs to the phase of the last smoothing sweep.
      return global_sum(local_dot(r_, z_));
    }
    double rz = 0;
    {
      const PhaseLabel label(Work::Dot);
      std::copy(r_.begin(), r_.end(), z_.begin());
      rz = local_dot(r_, z_);
    }
    return global_sum(rz);
  }

  void smooth(const Grid& grid, const Vector& b, Vector& x) const {
    grid.matrix.exchange_halo(x);
    const PhaseLabel label(Work::Symgs);
    grid.matrix.smooth(b, x);
  }

  // One V-cycle for A x = b on this grid, from x = 0.
  void multigrid(std::size_t level, const Vector& b, Vector& x) {
    Grid& grid = *grids_[level];
    smooth(grid, b, x);
    if (level + 1 == grids_.size()) {
      return;
    }
    Grid& coarse = *grids_[level + 1];
    grid.matrix.exchange_halo(x);
    {
      const PhaseLabel label(Work::Residual);
      grid.matrix.multiply(x, grid.product);
      for (std::size_t i = 0; i < grid.fine_row.size(); ++i) {
        const auto fine = static_cast<std::size_t>(grid.fine_row[i]);
        coarse.residual[i] = b[fine] - grid.product[fine];
      }
      std::fill(coarse.solution.begin(), coarse.solution.end(), 0.0);
    }
    multigrid(level + 1, coarse.residual, coarse.solution);
    // This belongs to the phase of the coarse grid's last sweep. It takes little of its time: one point in eight of
    // this grid.
    for (std::size_t i = 0; i < grid.fine_row.size(); ++i) {
      x[static_cast<std::size_t>(grid.fine_row[i])] += coarse.solution[i];
    }
    smooth(grid, b, x);
  }

  Settings settings_;
  std::vector<std::unique_ptr<Grid>> grids_;
  Vector b_, r_, ap_, x_, p_, z_;
  std::vector<double> norms_;
};

void report(const Settings& settings, const Triple& grid, const Solver& solver, double checksum, double seconds,
            bool history) {
  const std::vector<double>& norms = solver.norms();
  const auto scaled = [&](std::size_t i) { return norms[0] > 0 ? norms[i] / norms[0] : 0; };
  std::printf("process_grid: %d %d %d\n", grid[0], grid[1], grid[2]);
  std::printf("global_grid: %d %d %d\n", grid[0] * settings.local[0], grid[1] * settings.local[1],
              grid[2] * settings.local[2]);
  for (std::size_t i = 1; i < norms.size(); ++i) {
    std::printf(history ? "residual[%zu]: %.17e\n" : "residual[%zu]: %.3e\n", i, scaled(i));
  }
  std::printf("final_residual: %.6e\n", scaled(norms.size() - 1));
  print_end(checksum, seconds / settings.iterations);
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

  const Triple grid = process_grid(job.size);
  const double checksum = solver->checksum(grid, job.rank);
  if (job.rank == 0) {
    report(settings, grid, *solver, checksum, seconds, job.switched_on.contains("history"));
  }
  return solver->norms().back() < solver->norms().front();
}

}  // namespace

}  // namespace manynode::hpcg

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {hpcg::kName, hpcg::parameter_declarations(), {"history"}}, hpcg::settings,
                      hpcg::run);
}
