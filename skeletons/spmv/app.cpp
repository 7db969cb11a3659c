// Sparse matrix times multivector as a program: Laplace's equation on a grid, applied repeatedly, as in Brandt et al.,
// section V. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "app_matrix.hpp"
#include "manynode/splitmix.hpp"

namespace manynode::spmv {
namespace {

// A random number in (-1, 1) for each place and column; 0 beyond the boundary.
double random_value(const Triple& global, const Triple& place, int column) {
  std::uint64_t key = static_cast<std::uint64_t>(column);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (place[axis] < 0 || place[axis] >= global[axis]) {
      return 0;
    }
    key = key * static_cast<std::uint64_t>(global[axis]) + static_cast<std::uint64_t>(place[axis]);
  }
  return (static_cast<double>(random_bits(key) >> 11) + 0.5) / static_cast<double>(std::uint64_t{1} << 52) - 1;
}

class Product {
 public:
  Product(const Settings& settings, int rank, int size)
      : settings_(settings), matrix_(settings, rank, size), x_(matrix_.multivector()), y_(x_) {
    fill(x_);
  }

  void run() {
    // The largest wave keeps its height and all others fade, so that the numbers stay finite.
    const double factor = 1 / matrix_.largest_eigenvalue();
    std::vector<double> norms(static_cast<std::size_t>(settings_.columns));
    for (int iteration = 0; iteration < settings_.iterations; ++iteration) {
      matrix_.exchange(x_);
      {
        const PhaseLabel label(Work::Multiply);
        matrix_.multiply(x_, factor, y_);
        std::swap(x_, y_);
        if (settings_.norms) {
          add_squares(norms);
        }
      }
      if (settings_.norms) {
        MPI_Allreduce(MPI_IN_PLACE, norms.data(), settings_.columns, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      }
    }
  }

  // Sums over all ranks: squared differences between the product of a random multivector and its pointwise computation,
  // weighted squares of the result, weights.
  std::array<double, kCheckSums> sums() {
    std::array<double, kCheckSums> sums{};
    {
      const PhaseLabel label(Work::Fill);
      weigh(sums);
      fill(x_);
    }
    matrix_.exchange(x_);
    {
      const PhaseLabel label(Work::Check);
      matrix_.multiply(x_, 1, y_);
      compare(sums);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), kCheckSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  }

  const Matrix& matrix() const { return matrix_; }

 private:
  template <typename Use>
  void for_each_entry(const Use& use) const {
    std::size_t i = 0;
    for (std::int64_t row = 0; row < matrix_.rows(); ++row) {
      const Triple place = matrix_.place(row);
      for (int column = 0; column < settings_.columns; ++column) {
        use(i++, place, column);
      }
    }
  }

  void fill(Multivector& x) const {
    for_each_entry(
        [&](std::size_t i, const Triple& place, int column) { x[i] = random_value(matrix_.global(), place, column); });
  }

  void add_squares(std::vector<double>& norms) const {
    std::fill(norms.begin(), norms.end(), 0.0);
    const auto entries = static_cast<std::size_t>(matrix_.rows()) * norms.size();
    for (std::size_t i = 0; i < entries;) {
      for (double& norm : norms) {
        norm += x_[i] * x_[i];
        ++i;
      }
    }
  }

  // Weights that differ from entry to entry, so that a misplaced value changes the sum.
  void weigh(std::array<double, kCheckSums>& sums) const {
    for_each_entry([&](std::size_t i, const Triple& place, int column) {
      const double weight = 1 + (place[0] + 3 * place[1] + 5 * place[2] + column) % 7;
      sums[1] += weight * x_[i] * x_[i];
      sums[2] += weight;
    });
  }

  void compare(std::array<double, kCheckSums>& sums) const {
    const Triple& global = matrix_.global();
    for_each_entry([&](std::size_t i, const Triple& place, int column) {
      double expected = 6 * random_value(global, place, column);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        for (const int step : {-1, 1}) {
          Triple there = place;
          there[axis] += step;
          expected -= random_value(global, there, column);
        }
      }
      sums[0] += (y_[i] - expected) * (y_[i] - expected);
    });
  }

  Settings settings_;
  Matrix matrix_;
  Multivector x_, y_;
};

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Product> product;
  {
    const PhaseLabel label(Work::Setup);
    product = std::make_unique<Product>(settings, job.rank, job.size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  product->run();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kCheckSums> sums = product->sums();
  const double difference = std::sqrt(sums[0]);
  if (job.rank == 0) {
    const Triple grid = process_grid(job.size);
    const Triple& global = product->matrix().global();
    std::printf("process_grid: %d %d %d\n", grid[0], grid[1], grid[2]);
    std::printf("global_grid: %d %d %d\n", global[0], global[1], global[2]);
    std::printf("difference: %.3e\n", difference);
    print_end(sums[1] / sums[2], seconds / settings.iterations);
  }
  // Rounding: small whole multiples of numbers below 1 are added in another order. A misplaced number differs by far
  // more.
  constexpr double kTolerance = 1e-9;
  return difference < kTolerance;
}

}  // namespace

}  // namespace manynode::spmv

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {spmv::kName, spmv::parameter_declarations()}, spmv::settings, spmv::run);
}
