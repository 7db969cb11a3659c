// Replays the streams of the file.
#include "skeleton.hpp"

#include <algorithm>

#include "manynode/error_report.hpp"

namespace manynode::recorded {

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  const std::string file = parameters.text("file");
  Stream stream = read_stream(file);
  if (const std::string digest = parameters.text("digest"); !digest.empty() && digest != stream.digest) {
    throw UserError("a recorded stream is not the one of the experiment", file, "digest " + stream.digest, digest,
                    "run the experiment again");
  }
  if (ranks != stream.ranks) {
    throw UserError("a recording is replayed at its own number of ranks", "ranks", std::to_string(ranks),
                    std::to_string(stream.ranks),
                    "choose nodes and ranks_per_node with this product, or derive a skeleton for other numbers");
  }
  return std::make_unique<Recorded>(std::move(stream));
}

bool Recorded::one_sided() const {
  return std::any_of(stream_.calls.begin(), stream_.calls.end(),
                     [](const RecordedCall& call) { return call.form && is_one_sided(call.form->kind); });
}

std::unique_ptr<Skeleton> Recorded::make(int rank, int) const { return std::make_unique<RecordedRank>(*this, rank); }

void RecordedRank::make_communicators(Mpi& mpi) const {
  // A rank outside makes one as well: numbers of communicators count on every rank.
  const std::vector<int> alone = {rank_};
  for (const std::vector<int>* own : stream_.groups_of(rank_)) mpi.group(own == nullptr ? alone : *own);
}

void RecordedRank::make_call(Mpi& mpi, const RecordedCall& call) {
  for (const std::uint32_t phase : call.phases) mpi.compute(Phase{phase});
  if (!call.form) return;
  std::vector<Request> completed;
  for (const std::uint32_t back : call.requests) {
    if (back == 0 || back > requests_.size()) {
      throw UserError("a wait of a recorded stream completes a request that is not open",
                      "rank " + std::to_string(rank_) + ", call " + std::to_string(next_), std::to_string(back),
                      "at most " + std::to_string(requests_.size()), "delete the file; manynode makes it again");
    }
    completed.push_back(requests_[requests_.size() - back]);
  }
  const std::optional<Request> made =
      emit(mpi, {.form = *call.form,
                 .communicator = Communicator{call.communicator},
                 .peer = call.peer,
                 .source = call.source,
                 .tag = call.tag,
                 .receive_tag = call.receive_tag,
                 .bytes = call.bytes,
                 .receive_bytes = call.receive_bytes,
                 .sent = call.sent,
                 .received = call.received,
                 .neighbors = {.sources = call.sources, .destinations = call.destinations},
                 .requests = completed,
                 .window = call.window,
                 .group = call.group});
  if (made) requests_.push_back(*made);
}

bool RecordedRank::step(Mpi& mpi) {
  if (step_ == 0) make_communicators(mpi);
  const auto rank = static_cast<std::size_t>(rank_);
  const std::uint32_t end = application_.step_ends()[step_++][rank];
  requests_.clear();
  for (; next_ < end; ++next_) make_call(mpi, stream_.calls[stream_.of_rank[rank][next_]]);
  return step_ < application_.step_ends().size();
}

}  // namespace manynode::recorded
