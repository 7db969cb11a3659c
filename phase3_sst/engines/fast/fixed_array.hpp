// Contiguous objects that are neither moved nor copied. (A deque places large objects far apart, and a vector requires
// that they can be moved.)
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace manynode::network {

template <typename T>
class FixedArray {
 public:
  // Has room for `capacity` objects.
  explicit FixedArray(std::size_t capacity) : capacity_(capacity), objects_(std::allocator<T>().allocate(capacity)) {}
  FixedArray(const FixedArray&) = delete;
  FixedArray& operator=(const FixedArray&) = delete;
  ~FixedArray() {
    std::destroy_n(objects_, size_);
    std::allocator<T>().deallocate(objects_, capacity_);
  }

  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    T& made = *std::construct_at(objects_ + size_, std::forward<Arguments>(arguments)...);
    ++size_;  // only now: an object whose constructor throws must not be destroyed
    return made;
  }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return objects_[index]; }
  const T& operator[](std::size_t index) const { return objects_[index]; }

 private:
  std::size_t capacity_;
  std::size_t size_{0};
  T* objects_;
};

}  // namespace manynode::network
