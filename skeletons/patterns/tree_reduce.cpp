// Up a binary tree to rank 0 and down again: a reduction and a broadcast in plain messages, without an MPI collective.
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class TreeReduce final : public Pattern {
 public:
  explicit TreeReduce(std::uint64_t bytes) : bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    const int parent = mpi.rank() == 0 ? kProcNull : (mpi.rank() - 1) / 2;
    const auto child = [&](int number) {
      const int rank = 2 * mpi.rank() + number;
      return rank < mpi.size() ? rank : kProcNull;
    };
    mpi.recv(child(1), bytes_);
    mpi.recv(child(2), bytes_);
    mpi.send(parent, bytes_);
    mpi.recv(parent, bytes_);
    mpi.send(child(1), bytes_);
    mpi.send(child(2), bytes_);
  }

 private:
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int) {
  return std::make_unique<TreeReduce>(bytes_of(parameters));
}

}  // namespace

extern const PatternEntry tree_reduce_pattern;
const PatternEntry tree_reduce_pattern{"tree-reduce", make, {"bytes"}};

}  // namespace manynode::patterns
