#include "skeleton.hpp"

namespace manynode::ring {
namespace {

// The same as application.yaml says.
std::span<const ParameterDeclaration> parameters() {
  static const std::vector<ParameterDeclaration> declarations = {
      {"iterations", std::int64_t{20}, "exchanges", 1, 1e6},
      {"doubles", std::int64_t{1024}, "numbers in a message", 1, 1e6},
  };
  return declarations;
}

std::unique_ptr<Application> make(const Parameters& parameters, int) { return std::make_unique<Ring>(parameters); }

}  // namespace

std::unique_ptr<Skeleton> Ring::make(int rank, int size) const { return std::make_unique<RingRank>(*this, rank, size); }

extern const ApplicationEntry application;
const ApplicationEntry application{"ring", make, parameters};

}  // namespace manynode::ring
