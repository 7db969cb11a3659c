// One batch through the network and back.
#include "app_network.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "app_images.hpp"

namespace manynode::caffe {
namespace {

// Small random weights whose sums keep the size of the inputs (Glorot and Bengio, AISTATS 2010); biases are 0.
void fill(std::int64_t inputs, std::int64_t outputs, std::uint64_t seed, Numbers& parameters) {
  Random random(seed);
  const double largest = std::sqrt(3.0 / static_cast<double>(inputs));
  for (std::int64_t i = 0; i < inputs * outputs; ++i) {
    parameters[static_cast<std::size_t>(i)] = largest * random.number();
  }
}

}  // namespace

Network::Network(const Settings& settings, int threads)
    : settings_(settings),
      threads_(threads),
      convolutions_{Convolution(1, settings.filters, settings.side),
                    Convolution(settings.filters, 2 * settings.filters, settings.side / kPool)},
      full_{FullyConnected(static_cast<int>(convolutions_[1].outputs()), settings.hidden, true),
            FullyConnected(settings.hidden, kClasses, false)} {
  const auto counts = layer_parameters(settings);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    parameters_[layer].resize(static_cast<std::size_t>(counts[layer]));
    gradients_[layer].resize(static_cast<std::size_t>(counts[layer]));
  }
  constexpr std::int64_t kPatch = kKernel * kKernel;
  fill(kPatch, settings.filters, 1, parameters_[0]);
  fill(kPatch * settings.filters, 2 * std::int64_t{settings.filters}, 2, parameters_[1]);
  fill(full_[0].inputs(), full_[0].outputs(), 3, parameters_[2]);
  fill(full_[1].inputs(), full_[1].outputs(), 4, parameters_[3]);

  const auto images = static_cast<std::size_t>(settings.images);
  const std::array<std::int64_t, kLayers + 1> sizes = {convolutions_[0].inputs(), convolutions_[0].outputs(),
                                                       convolutions_[1].outputs(), full_[0].outputs(),
                                                       full_[1].outputs()};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    values_[i].resize(images * static_cast<std::size_t>(sizes[i]));
    changes_[i].resize(i == 0 ? 0 : values_[i].size());  // nothing learns from the images' change
  }
  chosen_[0].resize(values_[1].size());
  chosen_[1].resize(values_[2].size());
  kinds_.resize(images);
  losses_.resize(images);
  for (int thread = 0; thread < threads; ++thread) {
    workspaces_.push_back({convolutions_[0].workspace(), convolutions_[1].workspace()});
  }
  partial_gradients_.resize(static_cast<std::size_t>(threads));
}

template <typename Work>
void Network::on_slices(const Work& work) const {
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
  for (int thread = 0; thread < threads_; ++thread) {
    const auto start = [&](std::int64_t number) { return static_cast<int>(settings_.images * number / threads_); };
    work(Slice{start(thread), start(thread + 1), thread});
  }
}

double Network::forward(std::uint64_t first_image) {
  on_slices([&](const Slice& slice) { forward_slice(first_image, slice); });
  double sum = 0;
  for (const double loss : losses_) {
    sum += loss;
  }
  return sum;
}

void Network::forward_slice(std::uint64_t first_image, const Slice& slice) {
  auto& workspaces = workspaces_[static_cast<std::size_t>(slice.thread)];
  for (int image = slice.first; image < slice.last; ++image) {
    const auto pixels = static_cast<std::size_t>(convolutions_[0].inputs());
    const auto i = static_cast<std::size_t>(image);
    kinds_[i] = make_image(first_image + i, settings_.side, std::span(values_[0]).subspan(i * pixels, pixels));
    for (std::size_t n = 0; n < 2; ++n) {
      const Convolution& convolution = convolutions_[n];
      const std::int64_t output = image * convolution.outputs();
      convolution.forward(values_[n].data() + image * convolution.inputs(), parameters_[n].data(), workspaces[n],
                          values_[n + 1].data() + output, chosen_[n].data() + output);
    }
  }
  for (std::size_t n = 0; n < 2; ++n) {
    full_[n].forward(slice.last - slice.first, values_[n + 2].data() + slice.first * full_[n].inputs(),
                     parameters_[n + 2].data(), values_[n + 3].data() + slice.first * full_[n].outputs());
  }
  softmax(slice);
}

// Loss and its derivative: of the logarithm of the share that the softmax gives the right class.
void Network::softmax(const Slice& slice) {
  for (int image = slice.first; image < slice.last; ++image) {
    const double* value = values_[kLayers].data() + image * kClasses;
    double* change = changes_[kLayers].data() + image * kClasses;
    const double largest = *std::max_element(value, value + kClasses);
    double sum = 0;
    for (int i = 0; i < kClasses; ++i) {
      sum += change[i] = std::exp(value[i] - largest);
    }
    const int kind = kinds_[static_cast<std::size_t>(image)];
    losses_[static_cast<std::size_t>(image)] = std::log(sum) + largest - value[kind];
    for (int i = 0; i < kClasses; ++i) {
      change[i] = change[i] / sum - (i == kind ? 1 : 0);
    }
  }
}

void Network::backward(int layer) {
  on_slices([&](const Slice& slice) {
    Numbers& partial = partial_gradients_[static_cast<std::size_t>(slice.thread)];
    partial.assign(gradient(layer).size(), 0.0);
    backward_slice(layer, slice, partial.data());
  });
  // In the order of the threads, so that the sum does not depend on who is ready first.
  Numbers& sum = gradient(layer);
  std::fill(sum.begin(), sum.end(), 0.0);
  for (const Numbers& partial : partial_gradients_) {
    std::transform(sum.begin(), sum.end(), partial.begin(), sum.begin(), std::plus<>());
  }
}

void Network::backward_slice(int layer, const Slice& slice, double* gradient) {
  if (layer < 2) {
    backward_convolution(layer, slice, gradient);
    return;
  }
  const auto n = static_cast<std::size_t>(layer);
  const FullyConnected& full = full_[n - 2];
  const std::int64_t input = slice.first * full.inputs();
  const std::int64_t output = slice.first * full.outputs();
  full.backward(slice.last - slice.first, values_[n].data() + input, values_[n + 1].data() + output,
                changes_[n + 1].data() + output, parameters_[n].data(), gradient, changes_[n].data() + input);
}

void Network::backward_convolution(int number, const Slice& slice, double* gradient) {
  const auto n = static_cast<std::size_t>(number);
  const Convolution& convolution = convolutions_[n];
  for (int image = slice.first; image < slice.last; ++image) {
    const std::int64_t input = image * convolution.inputs();
    const std::int64_t output = image * convolution.outputs();
    convolution.backward(values_[n].data() + input, values_[n + 1].data() + output, chosen_[n].data() + output,
                         changes_[n + 1].data() + output, parameters_[n].data(),
                         workspaces_[static_cast<std::size_t>(slice.thread)][n], gradient,
                         number == 0 ? nullptr : changes_[n].data() + input);
  }
}

}  // namespace manynode::caffe
