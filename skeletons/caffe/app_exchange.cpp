// The tree, layer by layer.
#include "app_exchange.hpp"

#include <algorithm>

namespace manynode::caffe {
namespace {

int peer(int rank) { return rank == kNobody ? MPI_PROC_NULL : rank; }

MPI_Request expected(Encoded& data, int from, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
  return request;
}

}  // namespace

Solver::Solver(Network& network, double images) : rate_(0.02 / images) {
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto n = static_cast<std::size_t>(layer);
    weights_[n] = network.parameters(layer);
    velocity_[n].resize(weights_[n].size());
  }
}

void Solver::change(int layer, const Numbers& gradient) {
  constexpr double kMomentum = 0.9;
  Numbers& weights = weights_[static_cast<std::size_t>(layer)];
  Numbers& velocity = velocity_[static_cast<std::size_t>(layer)];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    velocity[i] = kMomentum * velocity[i] - rate_ * gradient[i];
    weights[i] += velocity[i];
  }
}

Exchange::Exchange(const Settings& settings, Network& network, int rank, int size)
    : network_(network),
      solver_(network, static_cast<double>(settings.images) * size),
      size_(size),
      parent_(peer(parent_of(rank))),
      children_{peer(child_of(rank, 0, size)), peer(child_of(rank, 1, size))},
      height_(height_of(rank, size)) {
  const auto counts = layer_parameters(settings);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const auto bytes = static_cast<std::size_t>(encoded_bytes(counts[layer]));
    LayerMessages& messages = messages_[layer];
    for (Encoded* data : {&messages.from_child[0], &messages.from_child[1], &messages.to_parent, &messages.weights}) {
      data->resize(bytes);
    }
  }
}

void Exchange::expect_gradients() {
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    LayerMessages& messages = messages_[static_cast<std::size_t>(layer)];
    for (std::size_t child = 0; child < 2; ++child) {
      messages.gradients[child] = expected(messages.from_child[child], children_[child], gradient_tag(layer));
    }
  }
}

void Exchange::backward() {
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    LayerMessages& messages = messages_[static_cast<std::size_t>(layer)];
    messages.weights_request = expected(messages.weights, parent_, weights_tag(layer));
    {
      const PhaseLabel label(Work::Backward);
      network_.backward(layer);
    }
    // A rank forwards a layer's gradient with a delay in layers equal to the ranks below it on the longest path. By
    // then its children's gradients, sent one layer earlier, have arrived during its own backward pass.
    if (layer + height_ < kLayers) {
      reduce(layer + height_);
    }
  }
  for (int layer = std::min(height_, kLayers) - 1; layer >= 0; --layer) {
    reduce(layer);
  }
}

void Exchange::reduce(int layer) {
  LayerMessages& messages = messages_[static_cast<std::size_t>(layer)];
  Numbers& gradient = network_.gradient(layer);
  MPI_Wait(&messages.gradients[0], MPI_STATUS_IGNORE);
  {
    const PhaseLabel label(Work::Decode);
    if (children_[0] != MPI_PROC_NULL) {
      decode(messages.from_child[0], true, gradient);
    }
  }
  MPI_Wait(&messages.gradients[1], MPI_STATUS_IGNORE);
  {
    const PhaseLabel label(Work::Encode);
    if (children_[1] != MPI_PROC_NULL) {
      decode(messages.from_child[1], true, gradient);
    }
    if (parent_ != MPI_PROC_NULL) {
      encode(gradient, messages.to_parent);
    } else {
      solver_.change(layer, gradient);
      if (!alone()) {
        encode(solver_.weights(layer), messages.weights);
      }
    }
  }
  send(messages.to_parent, parent_, gradient_tag(layer));
  if (parent_ == MPI_PROC_NULL) {
    send_weights(layer);
  }
}

void Exchange::distribute() {
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    MPI_Wait(&messages_[static_cast<std::size_t>(layer)].weights_request, MPI_STATUS_IGNORE);
    if (parent_ != MPI_PROC_NULL) {
      send_weights(layer);
    }
    const PhaseLabel label(Work::Apply);
    apply(layer);
  }
  MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE);
  sent_.clear();
}

// Rank 0 as well computes with what it sent, so that all ranks have the same weights.
void Exchange::apply(int layer) {
  if (alone()) {
    network_.parameters(layer) = solver_.weights(layer);
  } else {
    decode(messages_[static_cast<std::size_t>(layer)].weights, false, network_.parameters(layer));
  }
}

void Exchange::send(const Encoded& data, int to, int tag) {
  MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &sent_.emplace_back());
}

void Exchange::send_weights(int layer) {
  for (const int child : children_) {
    send(messages_[static_cast<std::size_t>(layer)].weights, child, weights_tag(layer));
  }
}

}  // namespace manynode::caffe
