#include "skeleton.hpp"

namespace manynode::ring {

std::unique_ptr<Application> create(const Parameters& parameters, int) { return std::make_unique<Ring>(parameters); }

std::unique_ptr<Skeleton> Ring::make(int rank, int size) const { return std::make_unique<RingRank>(*this, rank, size); }

}  // namespace manynode::ring
