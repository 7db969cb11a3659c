// Sparse matrix times multivector as a program: Laplace's equation on a grid, applied again and again, as in Brandt et
// al., section V. README.md says what is left out.
//
// Everything computed between two MPI calls carries a label; the skeleton's phases are these labels.
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "app_matrix.hpp"

namespace manynode::spmv {
namespace {

// A number in (-1, 1) for a place beyond the boundary as well, where it is 0, and a column: the finaliser of Steele,
// Lea and Flood's SplitMix64.
double random_value(const Triple& global, const Triple& place, int column) {
  std::uint64_t key = static_cast<std::uint64_t>(column);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (place[axis] < 0 || place[axis] >= global[axis]) {
      return 0;
    }
    key = key * static_cast<std::uint64_t>(global[axis]) + static_cast<std::uint64_t>(place[axis]);
  }
  key = (key + 1) * 0x9e3779b97f4a7c15u;
  key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
  key = (key ^ key >> 27) * 0x94d049bb133111ebu;
  key ^= key >> 31;
  return (static_cast<double>(key >> 11) + 0.5) / static_cast<double>(std::uint64_t{1} << 52) - 1;
}

class Product {
 public:
  Product(const Settings& settings, int rank, int size)
      : settings_(settings), matrix_(settings, rank, size), x_(matrix_.multivector()), y_(x_) {
    fill(x_);
  }

  void run() {
    // So that the largest wave keeps its height and all others fade: the numbers stay finite.
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

  // Over all ranks: squared differences of a product of random numbers from the one computed point by point, weighted
  // squares of the result, weights.
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

  // Weights that differ from entry to entry, so that a misplaced one shows.
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

int run(int argc, char** argv) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  std::set<std::string> switched_on;
  const auto read = settings_from_options("spmv", argc, argv, parameter_declarations(), {}, switched_on,
                                          [](const Parameters& given) { return spmv::settings(given); });
  if (!read) {
    return kExitUsage;
  }
  const Settings& settings = *read;

  std::unique_ptr<Product> product;
  {
    const PhaseLabel label(Work::Setup);
    product = std::make_unique<Product>(settings, rank, size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  product->run();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kCheckSums> sums = product->sums();
  const double difference = std::sqrt(sums[0]);
  if (rank == 0) {
    const Triple grid = process_grid(size);
    const Triple& global = product->matrix().global();
    std::printf("process_grid: %d %d %d\n", grid[0], grid[1], grid[2]);
    std::printf("global_grid: %d %d %d\n", global[0], global[1], global[2]);
    std::printf("difference: %.3e\n", difference);
    std::printf("checksum: %.9f\n", sums[1] / sums[2]);
    std::printf("seconds_per_iteration: %.9f\n", seconds / settings.iterations);
  }
  // Whole multiples of numbers below 1, added in another order; a misplaced one differs by more than any sum of these.
  constexpr double kTolerance = 1e-9;
  return difference < kTolerance ? 0 : kExitFailed;
}

}  // namespace
}  // namespace manynode::spmv

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = manynode::spmv::run(argc, argv);
  MPI_Finalize();
  return code;
}
