#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace manynode::node {

SharedMemory::SharedMemory(const std::string& path, std::size_t bytes) : bytes_(bytes) {
  void* memory = MAP_FAILED;
  if (path.empty()) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // Sets are met in no order: with small pages this host would look up many of them. It may decline.
    if (memory != MAP_FAILED) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  } else {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
    // A full file system is an error here, and not a fatal signal (SIGBUS) in the middle of the run.
    errno = posix_fallocate(file, 0, static_cast<off_t>(bytes));
    if (errno == 0) {
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    close(file);
  }
  if (memory == MAP_FAILED) {
    throw std::runtime_error((path.empty() ? "memory" : path) + ": " + std::to_string(bytes) +
                             " bytes: " + std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(memory);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace manynode::node
