// The open requests of one rank within a step, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "manynode/mpi.hpp"
#include "program.hpp"

namespace manynode::derived {

using RequestNames = std::span<const std::uint32_t>;

class OpenRequests {
 public:
  void open(std::uint32_t name, Request request) { open_.push_back({name, request}); }

  bool none() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  // The name of the oldest.
  std::uint32_t oldest_name() const { return open_.front().name; }
  std::size_t count(RequestNames names) const;

  // Removes the first `number` requests with these names in an order; there are as many. They are valid until the next
  // call.
  std::span<const Request> take(RequestNames names, WaitOrder order, std::size_t number);

 private:
  struct Open {
    std::uint32_t name{0};
    Request request;
  };

  std::vector<Open> open_;  // in the order in which they were made
  std::vector<Open> chosen_;
  std::vector<Request> taken_;
};

}  // namespace manynode::derived
