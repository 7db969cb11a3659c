// The probe "ping-pong": rank 0 and the last rank send one message back and forth, all others are idle. Run files name
// it like an application, to see whether a machine reaches its line rate on its longest route.
#include <array>

#include "manynode/error_report.hpp"
#include "manynode/skeleton.hpp"

namespace manynode::fast {
namespace {

class PingPongRank final : public Skeleton {
 public:
  PingPongRank(int role, int peer, std::uint64_t bytes, std::int64_t rounds)
      : role_(role), peer_(peer), bytes_(bytes), left_(rounds) {}

  bool step(Mpi& mpi) override {
    if (role_ == 0) mpi.send(peer_, bytes_);
    if (role_ >= 0) mpi.recv(peer_, bytes_);
    if (role_ == 1) mpi.send(peer_, bytes_);
    return --left_ > 0;
  }

 private:
  int role_;  // 0 begins, 1 answers, -1 is idle
  int peer_;
  std::uint64_t bytes_;
  std::int64_t left_;
};

class PingPong final : public Application {
 public:
  PingPong(std::uint64_t bytes, std::int64_t rounds) : bytes_(bytes), rounds_(rounds) {}

  std::string name() const override { return "ping-pong"; }
  std::vector<std::string> phases() const override { return {}; }
  std::unique_ptr<Skeleton> make(int rank, int size) const override {
    const int role = rank == 0 ? 0 : rank == size - 1 ? 1 : -1;
    return std::make_unique<PingPongRank>(role, size - 1 - rank, bytes_, rounds_);
  }

 private:
  std::uint64_t bytes_;
  std::int64_t rounds_;
};

std::span<const ParameterDeclaration> parameters() {
  static const std::array<ParameterDeclaration, 2> declarations = {{
      {"bytes", std::int64_t{1 << 20}, "length of a message", 0, 1e15},
      {"rounds", std::int64_t{1}, "messages in each direction", 1, 1e9},
  }};
  return declarations;
}

std::unique_ptr<Application> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("a ping-pong needs two ranks", "nodes", std::to_string(size) + " rank", "at least 2 ranks",
                    "raise nodes or ranks_per_node");
  }
  return std::make_unique<PingPong>(static_cast<std::uint64_t>(parameters.integer("bytes", 0)),
                                    parameters.integer("rounds", 1));
}

const ApplicationRegistration registration(ApplicationEntry{"ping-pong", make, parameters});

}  // namespace
}  // namespace manynode::fast
