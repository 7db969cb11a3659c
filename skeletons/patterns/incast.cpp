// Many ranks send at once to rank 0, which has posted all receives.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class Incast final : public Pattern {
 public:
  Incast(int senders, std::uint64_t bytes) : senders_(senders), bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    if (mpi.rank() == 0) {
      std::vector<Request> requests;
      for (int sender = 1; sender <= senders_; ++sender) {
        requests.push_back(mpi.irecv(sender, bytes_));
      }
      mpi.waitall(requests);
    } else if (mpi.rank() <= senders_) {
      mpi.send(0, bytes_);
    }
  }

 private:
  int senders_;  // ranks 1 to senders
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  const std::int64_t senders = parameters.integer("senders", 0);
  if (size < 2 || senders >= size) {
    throw UserError("an incast needs a receiver and the senders", "senders", std::to_string(senders),
                    "1 to " + std::to_string(size - 1) + ", less than the number of ranks; 0 is all",
                    "take more ranks");
  }
  return std::make_unique<Incast>(senders == 0 ? size - 1 : static_cast<int>(senders), bytes_of(parameters));
}

}  // namespace

extern const PatternEntry incast_pattern;
const PatternEntry incast_pattern{"incast", make, {"bytes", "senders"}};

}  // namespace manynode::patterns
