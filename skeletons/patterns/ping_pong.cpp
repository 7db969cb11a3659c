// Two ranks send one message back and forth; all others are idle.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class PingPong final : public Pattern {
 public:
  PingPong(int a, int b, std::uint64_t bytes) : a_(a), b_(b), bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    if (mpi.rank() == a_) {
      mpi.send(b_, bytes_);
      mpi.recv(b_, bytes_);
    } else if (mpi.rank() == b_) {
      mpi.recv(a_, bytes_);
      mpi.send(a_, bytes_);
    }
  }

 private:
  int a_;
  int b_;
  std::uint64_t bytes_;
};

int rank_of(const Parameters& parameters, const char* name, int size) {
  const std::int64_t rank = parameters.integer(name, -1);
  if (rank >= size) {
    throw UserError("there is no such rank", name, std::to_string(rank), "0 to " + std::to_string(size - 1));
  }
  return static_cast<int>(rank < 0 ? size - 1 : rank);
}

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  const int a = rank_of(parameters, "a", size);
  const int b = rank_of(parameters, "b", size);
  if (a == b) {
    throw UserError("a ping-pong needs two ranks", "a, b", "both are rank " + std::to_string(a), "two different ranks",
                    size == 1 ? "take more ranks" : "choose another rank");
  }
  return std::make_unique<PingPong>(a, b, bytes_of(parameters));
}

}  // namespace

extern const PatternEntry ping_pong_pattern;
const PatternEntry ping_pong_pattern{"ping-pong", make, {"bytes", "a", "b"}};

}  // namespace manynode::patterns
