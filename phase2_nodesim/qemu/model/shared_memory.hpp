// Zeroed memory: a file that several processes map, or this process's own.
#pragma once

#include <cstddef>
#include <string>

namespace manynode::node {

class SharedMemory {
 public:
  SharedMemory() = default;
  // `path` empty: memory of this process alone. Throws std::runtime_error.
  SharedMemory(const std::string& path, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace manynode::node
