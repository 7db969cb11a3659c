// The long-range solver of a cosmology code as a program: Fourier transforms of a cube that is dealt to the ranks in
// pencils, a kernel, and transforms back, with FFTW for the transforms of one dimension. README.md says what is left
// out.
//
// Everything computed between two MPI calls carries a label; the skeleton's phases are these labels.
#include <cmath>
#include <cstdio>

#include "app_transform.hpp"

namespace manynode::hacc {
namespace {

// Both parts lie in [-0.5, 0.5): splitmix64 (Steele, Lea and Flood, OOPSLA 2014) with seed 0.
Complex input(std::int64_t side, const Place& place) {
  const auto bits = [](std::uint64_t n) {
    std::uint64_t z = (n + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
  };
  const auto n = static_cast<std::uint64_t>((place.x * side + place.y) * side + place.z);
  return {bits(2 * n), bits(2 * n + 1)};
}

// The original position of this rank's data after this many solutions.
Place origin(std::int64_t side, const Place& place, int solutions) {
  const auto before = [&](std::int64_t at, std::int64_t shift) {
    const std::int64_t from = (at - shift * (solutions % side)) % side;
    return from < 0 ? from + side : from;
  };
  return {before(place.x, kShift.x), before(place.y, kShift.y), before(place.z, kShift.z)};
}

// Squared differences from the shifted input, squares of the result, the same weighted, squares of the input.
std::array<double, kCheckSums> check(const Settings& settings, Transform& transform) {
  const std::int64_t side = settings.shape.side;
  std::array<double, kCheckSums> sums{};
  {
    const PhaseLabel label(Work::Check);
    transform.finish();
    transform.for_each_cell([&](const Place& place, const Complex& value) {
      const double square = std::norm(value);
      sums[0] += std::norm(value - input(side, origin(side, place, settings.iterations)));
      sums[1] += square;
      // Weights that differ from place to place, so that a misplaced value shows.
      sums[2] += square * static_cast<double>(1 + (place.x + 3 * place.y + 5 * place.z) % 7);
      sums[3] += std::norm(input(side, place));
    });
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), kCheckSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums;
}

int run(int argc, char** argv) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  std::set<std::string> switched_on;
  const auto read = settings_from_options("hacc", argc, argv, parameter_declarations(), {}, switched_on,
                                          [&](const Parameters& given) { return hacc::settings(given, size); });
  if (!read) {
    return kExitUsage;
  }
  const Settings& settings = *read;

  const Shape& shape = settings.shape;
  std::unique_ptr<Transform> transform;
  {
    const PhaseLabel label(Work::Setup);
    transform = std::make_unique<Transform>(shape, rank);
    transform->for_each_cell([&](const Place& place, Complex& value) { value = input(shape.side, place); });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int iteration = 0; iteration < settings.iterations; ++iteration) {
    transform->solve();
  }
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kCheckSums> sums = check(settings, *transform);
  const double difference = std::sqrt(sums[0] / sums[3]);
  const double energy = sums[1] / sums[3];
  if (rank == 0) {
    std::printf("process_grid: %d %d\n", shape.rows, shape.columns);
    std::printf("side: %lld\n", static_cast<long long>(shape.side));
    std::printf("difference: %.3e\n", difference);
    std::printf("energy: %.12f\n", energy);
    std::printf("checksum: %.9f\n", sums[2] / sums[1]);
    std::printf("seconds_per_iteration: %.9f\n", seconds / settings.iterations);
  }
  // Rounding grows with the root of the number of transforms, far below this; a misplaced value is of order 1.
  constexpr double kTolerance = 1e-9;
  return difference < kTolerance && std::abs(energy - 1) < kTolerance ? 0 : kExitFailed;
}

}  // namespace
}  // namespace manynode::hacc

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = manynode::hacc::run(argc, argv);
  MPI_Finalize();
  return code;
}
