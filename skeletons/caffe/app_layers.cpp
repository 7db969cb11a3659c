// Convolution as a product of matrices, as Caffe has it, with the product by OpenBLAS.
#include "app_layers.hpp"

#include <cblas.h>

#include <algorithm>

namespace manynode::caffe {
namespace {

enum class Transposed : bool { No, Yes };

// c = a b + keep c; `rows` and `columns` are those of c, `inner` is what is summed over.
void multiply(Transposed a_transposed, Transposed b_transposed, int rows, int columns, int inner, const double* a,
              const double* b, double keep, double* c) {
  const bool a_turned = a_transposed == Transposed::Yes;
  const bool b_turned = b_transposed == Transposed::Yes;
  cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans, b_turned ? CblasTrans : CblasNoTrans, rows, columns,
              inner, 1, a, a_turned ? rows : inner, b, b_turned ? inner : columns, keep, c, columns);
}

}  // namespace

Convolution::Convolution(int channels, int filters, int side)
    : channels_(channels),
      filters_(filters),
      side_(side),
      pooled_side_(side / kPool),
      pixels_(side * side),
      patch_(channels * kKernel * kKernel) {}

Convolution::Workspace Convolution::workspace() const {
  const auto pixels = static_cast<std::size_t>(pixels_);
  return {Numbers(static_cast<std::size_t>(patch_) * pixels), Numbers(static_cast<std::size_t>(filters_) * pixels)};
}

void Convolution::make_patches(const double* input, Numbers& patches) const {
  double* to = patches.data();
  for (int channel = 0; channel < channels_; ++channel, input += pixels_) {
    for (int place = 0; place < kKernel * kKernel; ++place) {
      const int dy = place / kKernel - kKernel / 2;
      const int dx = place % kKernel - kKernel / 2;
      for (int y = dy; y < side_ + dy; ++y) {
        for (int x = dx; x < side_ + dx; ++x) {
          const bool inside = y >= 0 && y < side_ && x >= 0 && x < side_;
          *to++ = inside ? input[y * side_ + x] : 0;
        }
      }
    }
  }
}

void Convolution::add_patches(const Numbers& patches, double* input) const {
  const double* from = patches.data();
  for (int channel = 0; channel < channels_; ++channel, input += pixels_) {
    for (int place = 0; place < kKernel * kKernel; ++place) {
      const int dy = place / kKernel - kKernel / 2;
      const int dx = place % kKernel - kKernel / 2;
      for (int y = dy; y < side_ + dy; ++y) {
        for (int x = dx; x < side_ + dx; ++x, ++from) {
          if (y >= 0 && y < side_ && x >= 0 && x < side_) {
            input[y * side_ + x] += *from;
          }
        }
      }
    }
  }
}

void Convolution::forward(const double* input, const double* parameters, Workspace& work, double* output,
                          std::int32_t* chosen) const {
  make_patches(input, work.patches);
  multiply(Transposed::No, Transposed::No, filters_, pixels_, patch_, parameters, work.patches.data(), 0,
           work.response.data());
  const double* biases = parameters + std::int64_t{filters_} * patch_;
  for (int filter = 0; filter < filters_; ++filter) {
    const double* response = work.response.data() + std::int64_t{filter} * pixels_;
    for (int y = 0; y < pooled_side_; ++y) {
      for (int x = 0; x < pooled_side_; ++x) {
        const int corner = kPool * (y * side_ + x);
        int best = corner;
        for (const int pixel : {corner + 1, corner + side_, corner + side_ + 1}) {
          best = response[pixel] > response[best] ? pixel : best;
        }
        *chosen++ = best;
        *output++ = std::max(0.0, response[best] + biases[filter]);
      }
    }
  }
}

void Convolution::backward(const double* input, const double* output, const std::int32_t* chosen,
                           const double* output_change, const double* parameters, Workspace& work, double* gradient,
                           double* input_change) const {
  make_patches(input, work.patches);
  std::fill(work.response.begin(), work.response.end(), 0.0);
  double* biases = gradient + std::int64_t{filters_} * patch_;
  const int pooled = pooled_side_ * pooled_side_;
  for (int filter = 0; filter < filters_; ++filter) {
    double* response = work.response.data() + std::int64_t{filter} * pixels_;
    for (int i = 0; i < pooled; ++i, ++output, ++chosen, ++output_change) {
      if (*output > 0) {
        response[*chosen] = *output_change;
        biases[filter] += *output_change;
      }
    }
  }
  multiply(Transposed::No, Transposed::Yes, filters_, patch_, pixels_, work.response.data(), work.patches.data(), 1,
           gradient);
  if (input_change != nullptr) {
    multiply(Transposed::Yes, Transposed::No, patch_, pixels_, filters_, parameters, work.response.data(), 0,
             work.patches.data());
    std::fill_n(input_change, inputs(), 0.0);
    add_patches(work.patches, input_change);
  }
}

void FullyConnected::forward(int images, const double* input, const double* parameters, double* output) const {
  multiply(Transposed::No, Transposed::Yes, images, outputs_, inputs_, input, parameters, 0, output);
  const double* biases = parameters + std::int64_t{inputs_} * outputs_;
  for (int image = 0; image < images; ++image) {
    for (int i = 0; i < outputs_; ++i, ++output) {
      *output += biases[i];
      *output = rectified_ ? std::max(0.0, *output) : *output;
    }
  }
}

void FullyConnected::backward(int images, const double* input, const double* output, double* output_change,
                              const double* parameters, double* gradient, double* input_change) const {
  double* biases = gradient + std::int64_t{inputs_} * outputs_;
  for (int i = 0; i < images * outputs_; ++i) {
    output_change[i] = rectified_ && output[i] <= 0 ? 0 : output_change[i];
    biases[i % outputs_] += output_change[i];
  }
  multiply(Transposed::Yes, Transposed::No, outputs_, inputs_, images, output_change, input, 1, gradient);
  multiply(Transposed::No, Transposed::No, images, inputs_, outputs_, output_change, parameters, 0, input_change);
}

}  // namespace manynode::caffe
