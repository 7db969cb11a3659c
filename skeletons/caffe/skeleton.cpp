// The calls of Caffe's training, in the order of app_exchange.cpp and app.cpp.
#include "skeleton.hpp"

#include <algorithm>
#include <span>

namespace manynode::caffe {
namespace {

int peer(int rank) { return rank == kNobody ? kProcNull : rank; }

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int) {
  return std::make_unique<Caffe>(settings(parameters));
}

std::unique_ptr<Skeleton> Caffe::make(int rank, int size) const {
  return std::make_unique<CaffeRank>(settings_, rank, size);
}

CaffeRank::CaffeRank(const Settings& settings, int rank, int size)
    : iterations_(settings.iterations),
      parent_(peer(parent_of(rank))),
      children_{peer(child_of(rank, 0, size)), peer(child_of(rank, 1, size))},
      height_(height_of(rank, size)) {
  std::ranges::transform(layer_parameters(settings), bytes_.begin(),
                         [](std::int64_t count) { return static_cast<std::uint64_t>(encoded_bytes(count)); });
}

void CaffeRank::send_weights(Mpi& mpi, int layer, Messages& messages) const {
  for (const int child : children_) {
    messages.sent[messages.sent_count++] = mpi.isend(child, bytes_[layer], weights_tag(layer));
  }
}

void CaffeRank::reduce(Mpi& mpi, int layer, Messages& messages) const {
  mpi.wait(messages.gradients[layer][0]);
  work(mpi, Work::Decode);
  mpi.wait(messages.gradients[layer][1]);
  work(mpi, Work::Encode);
  messages.sent[messages.sent_count++] = mpi.isend(parent_, bytes_[layer], gradient_tag(layer));
  if (parent_ == kProcNull) {
    send_weights(mpi, layer, messages);
  }
}

void CaffeRank::distribute(Mpi& mpi, int layer, Messages& messages) const {
  mpi.wait(messages.weights[layer]);
  if (parent_ != kProcNull) {
    send_weights(mpi, layer, messages);
  }
  work(mpi, Work::Apply);
}

void CaffeRank::iteration(Mpi& mpi) const {
  Messages messages;
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    for (std::size_t child = 0; child < 2; ++child) {
      messages.gradients[layer][child] = mpi.irecv(children_[child], bytes_[layer], gradient_tag(layer));
    }
  }
  work(mpi, Work::Forward);
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    messages.weights[layer] = mpi.irecv(parent_, bytes_[layer], weights_tag(layer));
    work(mpi, Work::Backward);
    if (layer + height_ < kLayers) {
      reduce(mpi, layer + height_, messages);
    }
  }
  for (int layer = std::min(height_, kLayers) - 1; layer >= 0; --layer) {
    reduce(mpi, layer, messages);
  }
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    distribute(mpi, layer, messages);
  }
  mpi.waitall(messages.sent);
}

bool CaffeRank::step(Mpi& mpi) {
  if (iteration_ == 0) {
    work(mpi, Work::Setup);
    mpi.barrier();
  }
  iteration(mpi);
  if (++iteration_ < iterations_) {
    return true;
  }
  work(mpi, Work::Check);
  mpi.allreduce(2 * sizeof(double));  // losses
  mpi.allreduce(2 * sizeof(double));  // checksum, largest and smallest
  return false;
}

}  // namespace manynode::caffe
