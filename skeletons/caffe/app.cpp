// Caffe's data-parallel training as a program: a small convolutional network on generated images. README.md says what
// is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "app_exchange.hpp"

namespace manynode::caffe {
namespace {

struct Result {
  double first_loss{0};  // mean of the first batch's, with the first weights
  double last_loss{0};   // of the same images with the last weights
  double checksum{0};
  bool same_weights{false};  // on all ranks, to the last bit
};

// A sum with weights that differ from number to number, so that a misplaced value changes the sum.
double weighted_sum(Network& network) {
  double sum = 0;
  int weight = 0;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const double value : network.parameters(layer)) {
      sum += value * (1 + weight);
      weight = (weight + 1) % 7;
    }
  }
  return sum;
}

// The largest difference between the gradient and a difference of losses, relative to the gradient's largest value; of
// some parameters of each layer.
double gradient_difference(Network& network) {
  constexpr double kStep = 1e-6;
  constexpr std::size_t kTried = 20;
  network.forward(0);
  double worst = 0;
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    network.backward(layer);
  }
  for (int layer = 0; layer < kLayers; ++layer) {
    Numbers& parameters = network.parameters(layer);
    const Numbers& gradient = network.gradient(layer);
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < parameters.size(); i += 1 + parameters.size() / kTried) {
      const double kept = parameters[i];
      parameters[i] = kept + kStep;
      const double above = network.forward(0);
      parameters[i] = kept - kStep;
      const double below = network.forward(0);
      parameters[i] = kept;
      largest = std::max(largest, std::abs(gradient[i]));
      difference = std::max(difference, std::abs((above - below) / (2 * kStep) - gradient[i]));
    }
    worst = std::max(worst, largest > 0 ? difference / largest : 1);
  }
  return worst;
}

Result check(const Settings& settings, Network& network, double first_loss, int rank, int size) {
  std::array<double, 2> losses{first_loss, 0};
  std::array<double, 2> extremes{};
  {
    const PhaseLabel label(Work::Check);
    losses[1] = network.forward(static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(settings.images));
    const double sum = weighted_sum(network);
    extremes = {sum, -sum};
  }
  MPI_Allreduce(MPI_IN_PLACE, losses.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double images = static_cast<double>(settings.images) * size;
  return {losses[0] / images, losses[1] / images, extremes[0], extremes[0] == -extremes[1]};
}

void report(const Result& result, const Settings& settings, double seconds) {
  std::printf("first_loss: %.9f\n", result.first_loss);
  std::printf("last_loss: %.9f\n", result.last_loss);
  std::printf("same_weights: %s\n", result.same_weights ? "yes" : "no");
  print_end(result.checksum, seconds / settings.iterations);
}

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Network> network;
  std::unique_ptr<Exchange> exchange;
  {
    const PhaseLabel label(Work::Setup);
    network = std::make_unique<Network>(settings, omp_get_max_threads());
    exchange = std::make_unique<Exchange>(settings, *network, job.rank, job.size);
    if (job.switched_on.contains("gradients")) {
      const double difference = gradient_difference(*network);
      if (job.rank == 0) {
        std::printf("gradient_difference: %.3e\n", difference);
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double first_loss = 0;
  for (int iteration = 0; iteration < settings.iterations; ++iteration) {
    exchange->expect_gradients();
    {
      const PhaseLabel label(Work::Forward);
      // Every rank's images of an iteration follow those of the rank before it.
      const std::uint64_t batch = static_cast<std::uint64_t>(iteration) * static_cast<std::uint64_t>(job.size);
      const double loss = network->forward((batch + static_cast<std::uint64_t>(job.rank)) *
                                           static_cast<std::uint64_t>(settings.images));
      first_loss = iteration == 0 ? loss : first_loss;
    }
    exchange->backward();
    exchange->distribute();
  }
  const double seconds = MPI_Wtime() - start;

  const Result result = check(settings, *network, first_loss, job.rank, job.size);
  if (job.rank == 0) {
    report(result, settings, seconds);
  }
  return result.last_loss < result.first_loss && result.same_weights;
}

}  // namespace

}  // namespace manynode::caffe

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {caffe::kName, caffe::parameter_declarations(), {"gradients"}, true}, caffe::settings,
                      caffe::run);
}
