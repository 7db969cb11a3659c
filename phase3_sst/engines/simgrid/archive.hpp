// Converts the result of a replica to bytes and back, between two processes of the same program.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "replica_result.hpp"

namespace manynode::smpi_engine {

class Writer {
 public:
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(values.size());
    for (const T& value : values) (*this)(value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, take(sizeof value), sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    std::size_t size = 0;
    (*this)(size);
    values.resize(size);
    for (T& value : values) (*this)(value);
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text.assign(take(size), size);
  }

 private:
  const char* take(std::size_t size) {
    if (size > bytes_.size() - next_) throw std::runtime_error("a record of the simulating process is cut off");
    const char* at = bytes_.data() + next_;
    next_ += size;
    return at;
  }

  const std::string& bytes_;
  std::size_t next_{0};
};

// `Archive` is a Writer or a Reader, `Result` const or not.
template <class Archive, class Result>
void archive(Archive& with, Result& result) {
  with(result.replica);
  with(result.makespan);
  with(result.events);
  auto jobs = result.jobs.size();
  with(jobs);
  if constexpr (!std::is_const_v<Result>) result.jobs.resize(jobs);
  for (auto& job : result.jobs) {
    with(job.makespan);
    with(job.iteration_end);
    with(job.messages);
    with(job.bytes);
    with(job.ranks);
  }
  with(result.links);
  with(result.queue_max_bytes);
  with(result.class_uses);
}

}  // namespace manynode::smpi_engine
