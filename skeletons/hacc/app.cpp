// The long-range solver of a cosmology code as a program: Fourier transforms of a cube that the ranks share in
// pencils, a kernel, and transforms back. FFTW computes the one-dimensional transforms. README.md says what is left
// out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <cmath>
#include <cstdio>

#include "app_transform.hpp"
#include "manynode/splitmix.hpp"

namespace manynode::hacc {
namespace {

// Both parts lie in [-0.5, 0.5).
Complex input(std::int64_t side, const Place& place) {
  const auto part = [](std::uint64_t n) { return static_cast<double>(random_bits(n) >> 11) * 0x1p-53 - 0.5; };
  const auto n = static_cast<std::uint64_t>((place.x * side + place.y) * side + place.z);
  return {part(2 * n), part(2 * n + 1)};
}

// The original position of this rank's data after this many solutions.
Place origin(std::int64_t side, const Place& place, int solutions) {
  const auto before = [&](std::int64_t at, std::int64_t shift) {
    const std::int64_t from = (at - shift * (solutions % side)) % side;
    return from < 0 ? from + side : from;
  };
  return {before(place.x, kShift.x), before(place.y, kShift.y), before(place.z, kShift.z)};
}

// Returns sums over all ranks: squared differences from the shifted input, squares of the result, weighted squares of
// the result, squares of the input.
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
      // Weights that differ from place to place, so that a misplaced value changes the sum.
      sums[2] += square * static_cast<double>(1 + (place.x + 3 * place.y + 5 * place.z) % 7);
      sums[3] += std::norm(input(side, place));
    });
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), kCheckSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sums;
}

bool run(const Settings& settings, const Job& job) {
  const Shape& shape = settings.shape;
  std::unique_ptr<Transform> transform;
  {
    const PhaseLabel label(Work::Setup);
    transform = std::make_unique<Transform>(shape, job.rank);
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
  if (job.rank == 0) {
    std::printf("process_grid: %d %d\n", shape.rows, shape.columns);
    std::printf("side: %lld\n", static_cast<long long>(shape.side));
    std::printf("difference: %.3e\n", difference);
    std::printf("energy: %.12f\n", energy);
    print_end(sums[2] / sums[1], seconds / settings.iterations);
  }
  // Rounding grows with the root of the number of transforms, far below this; a misplaced value is of order 1.
  constexpr double kTolerance = 1e-9;
  return difference < kTolerance && std::abs(energy - 1) < kTolerance;
}

}  // namespace

}  // namespace manynode::hacc

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {hacc::kName, hacc::parameter_declarations()}, hacc::settings, hacc::run);
}
