// FFTW for mini-apps with transforms: aligned memory, and many in-place transforms of one length.
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace manynode {

using Complex = std::complex<double>;

// Memory with the alignment that FFTW's vector code needs.
class FftwBuffer {
 public:
  explicit FftwBuffer(std::int64_t elements)
      : data_(static_cast<Complex*>(fftw_malloc(static_cast<std::size_t>(elements) * sizeof(Complex)))),
        elements_(static_cast<std::size_t>(elements)) {
    if (data_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  Complex* data() const { return data_.get(); }
  std::span<Complex> values() const { return {data_.get(), elements_}; }

 private:
  struct Free {
    void operator()(Complex* data) const { fftw_free(data); }
  };
  std::unique_ptr<Complex, Free> data_;
  std::size_t elements_;
};

// `count` transforms of `length` elements each, one behind the other, in place; `sign` is FFTW_FORWARD or
// FFTW_BACKWARD.
class FftwBatch {
 public:
  FftwBatch(std::int64_t length, std::int64_t count, int sign, const FftwBuffer& buffer) {
    const int n = static_cast<int>(length);
    auto* data = reinterpret_cast<fftw_complex*>(buffer.data());
    // FFTW_ESTIMATE: measured plans differ from run to run, and change times and rounding.
    plan_.reset(fftw_plan_many_dft(1, &n, static_cast<int>(count), data, nullptr, 1, n, data, nullptr, 1, n, sign,
                                   FFTW_ESTIMATE));
  }

  void execute() const { fftw_execute(plan_.get()); }

 private:
  struct Destroy {
    void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
  };
  std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy> plan_;
};

}  // namespace manynode
