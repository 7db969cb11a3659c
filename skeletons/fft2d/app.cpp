// FFT2d as a program: complex transforms of a matrix whose rows are distributed over the ranks. FFTW computes the
// one-dimensional transforms. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "app_transform.hpp"

namespace manynode::fft2d {
namespace {

struct Check {
  double difference{0};  // from the direct transform, the largest of all samples
  double energy{0};      // sum of squares of the result, relative to the input's: Parseval's theorem says 1
  double checksum{0};
};

Place sample(const Shape& shape, int number) {
  const auto pick = [](std::uint64_t n, std::int64_t below) {
    return static_cast<std::int64_t>(random_bits(~n) % static_cast<std::uint64_t>(below));
  };
  const auto n = static_cast<std::uint64_t>(2 * number);
  return {pick(n, shape.rows()), pick(n + 1, shape.columns)};
}

// This rank's part of the sums that check() reads.
std::array<double, kCheckSums> local_sums(const Settings& settings, int rank, std::span<const Complex> rows) {
  const Shape& shape = settings.shape;
  std::array<double, kCheckSums> sums{};
  double* next = sums.data();
  const auto add = [&next](const Complex& value) {
    *next++ = value.real();
    *next++ = value.imag();
  };
  const std::int64_t first = shape.rows_per_rank * rank;
  for (int number = 0; number < kSamples; ++number) {
    const Place place = sample(shape, number);
    const bool here = place.row / shape.rows_per_rank == rank;
    add(here ? rows[static_cast<std::size_t>((place.row - first) * shape.columns + place.column)] : 0);
    add(expected_part(shape, rank, settings.iterations, place));
  }
  std::size_t i = 0;
  for (std::int64_t row = first; row < first + shape.rows_per_rank; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column, ++i) {
      const double square = std::norm(rows[i]);
      // Weights that differ from place to place, so that a misplaced value changes the sum.
      next[0] += square * static_cast<double>(1 + (3 * row + 5 * column) % 7);
      next[1] += square;
      next[2] += std::norm(input(shape, row, column));
    }
  }
  return sums;
}

Check check(const Settings& settings, int rank, Transform& transform) {
  std::array<double, kCheckSums> sums{};
  {
    const PhaseLabel label(Work::Check);
    transform.collect_rows();
    sums = local_sums(settings, rank, transform.rows());
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), kCheckSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  Check result;
  for (std::size_t i = 0; i < 4 * kSamples; i += 4) {
    result.difference = std::max(result.difference, std::hypot(sums[i] - sums[i + 2], sums[i + 1] - sums[i + 3]));
  }
  const double* rest = sums.data() + 4 * kSamples;
  result.checksum = rest[0] / rest[1];
  result.energy = rest[1] / rest[2];
  return result;
}

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Transform> transform;
  {
    const PhaseLabel label(Work::Setup);
    transform = std::make_unique<Transform>(settings.shape, job.rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int iteration = 0; iteration < settings.iterations; ++iteration) {
    transform->execute();
  }
  const double seconds = MPI_Wtime() - start;

  const Check result = check(settings, job.rank, *transform);
  if (job.rank == 0) {
    std::printf("matrix: %lld %lld\n", static_cast<long long>(settings.shape.rows()),
                static_cast<long long>(settings.shape.columns));
    std::printf("direct_difference: %.3e\n", result.difference);
    std::printf("energy: %.12f\n", result.energy);
    print_end(result.checksum, seconds / settings.iterations);
  }
  // Rounding grows with the root of the number of transforms, far below this; a misplaced value is of order 1.
  constexpr double kTolerance = 1e-9;
  return result.difference < kTolerance && std::abs(result.energy - 1) < kTolerance;
}

}  // namespace

}  // namespace manynode::fft2d

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {fft2d::kName, fft2d::parameter_declarations()}, fft2d::settings, fft2d::run);
}
