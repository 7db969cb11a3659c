// FFT2d as a program: complex transforms of a matrix that is dealt to the ranks by rows, with FFTW for the transforms
// of one dimension. README.md says what is left out.
//
// Everything computed between two MPI calls carries a label; the skeleton's phases are these labels.
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
      // Weights that differ from place to place, so that a misplaced value shows.
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

int run(int argc, char** argv) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  std::set<std::string> switched_on;
  const auto read = settings_from_options("fft2d", argc, argv, parameter_declarations(), {}, switched_on,
                                          [&](const Parameters& given) { return fft2d::settings(given, size); });
  if (!read) {
    return kExitUsage;
  }
  const Settings& settings = *read;

  std::unique_ptr<Transform> transform;
  {
    const PhaseLabel label(Work::Setup);
    transform = std::make_unique<Transform>(settings.shape, rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int iteration = 0; iteration < settings.iterations; ++iteration) {
    transform->execute();
  }
  const double seconds = MPI_Wtime() - start;

  const Check result = check(settings, rank, *transform);
  if (rank == 0) {
    std::printf("matrix: %lld %lld\n", static_cast<long long>(settings.shape.rows()),
                static_cast<long long>(settings.shape.columns));
    std::printf("direct_difference: %.3e\n", result.difference);
    std::printf("energy: %.12f\n", result.energy);
    std::printf("checksum: %.9f\n", result.checksum);
    std::printf("seconds_per_iteration: %.9f\n", seconds / settings.iterations);
  }
  // Rounding grows with the root of the number of transforms, far below this; a misplaced value is of order 1.
  constexpr double kTolerance = 1e-9;
  return result.difference < kTolerance && std::abs(result.energy - 1) < kTolerance ? 0 : kExitFailed;
}

}  // namespace
}  // namespace manynode::fft2d

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = manynode::fft2d::run(argc, argv);
  MPI_Finalize();
  return code;
}
