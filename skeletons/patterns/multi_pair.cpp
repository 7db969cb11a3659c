// Each rank of the lower half sends windows of messages to its partner in the upper half: OSU's osu_mbw_mr, and with
// both ways at once osu_bibw.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

// Length of the answer that ends a window, as in osu_mbw_mr.
constexpr std::uint64_t kAnswerBytes = 4;
constexpr int kAnswerTag = 1;

class MultiPair final : public Pattern {
 public:
  MultiPair(int half, std::uint64_t bytes, int messages, bool both_ways)
      : half_(half), bytes_(bytes), messages_(messages), both_ways_(both_ways) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    if (mpi.rank() >= 2 * half_) {
      return;
    }
    const bool lower = mpi.rank() < half_;
    const int partner = lower ? mpi.rank() + half_ : mpi.rank() - half_;
    std::vector<Request> requests;
    if (both_ways_ || !lower) {
      for (int message = 0; message < messages_; ++message) {
        requests.push_back(mpi.irecv(partner, bytes_));
      }
    }
    if (both_ways_ || lower) {
      for (int message = 0; message < messages_; ++message) {
        requests.push_back(mpi.isend(partner, bytes_));
      }
    }
    mpi.waitall(requests);
    if (both_ways_) {
      return;
    }
    if (lower) {
      mpi.recv(partner, kAnswerBytes, kAnswerTag);
    } else {
      mpi.send(partner, kAnswerBytes, kAnswerTag);
    }
  }

 private:
  int half_;  // ranks; the last of an odd number of them is idle
  std::uint64_t bytes_;
  int messages_;
  bool both_ways_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("pairs need two ranks", "ranks", std::to_string(size), "at least 2", "take more ranks");
  }
  return std::make_unique<MultiPair>(size / 2, bytes_of(parameters),
                                     static_cast<int>(parameters.integer("messages", 0)), parameters.flag("both_ways"));
}

}  // namespace

extern const PatternEntry multi_pair_pattern;
const PatternEntry multi_pair_pattern{"multi-pair", make, {"bytes", "messages", "both_ways"}};

}  // namespace manynode::patterns
