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
  if (const Lift* lift = application_.lift()) {
    for (const std::vector<int>& own : lift->groups_of(rank_)) mpi.group(own.empty() ? alone : own);
    return;
  }
  for (const std::vector<int>* own : stream_.groups_of(rank_)) mpi.group(own == nullptr ? alone : *own);
}

void RecordedRank::make_call(Mpi& mpi, const RecordedCall& call) {
  for (const std::uint32_t phase : call.phases) mpi.compute(Phase{phase});
  if (!call.form) return;
  if (makes_request(*call.form)) begins_.push_back(requests_.size());
  if (application_.lift() == nullptr || is_wait(call.form->kind)) {
    emit_call(mpi, call);
    return;
  }
  for (const RecordedCall& one : application_.lift()->calls(rank_, call)) emit_call(mpi, one);
}

std::vector<Request> RecordedRank::completed(const RecordedCall& call) const {
  std::vector<Request> found;
  for (const std::uint32_t back : call.requests) {
    if (back == 0 || back > begins_.size()) {
      throw UserError("a wait of a recorded stream completes a request that is not open",
                      "rank " + std::to_string(rank_) + ", call " + std::to_string(next_), std::to_string(back),
                      "at most " + std::to_string(begins_.size()), "delete the file; manynode makes it again");
    }
    const std::size_t number = begins_.size() - back;
    const std::size_t end = number + 1 < begins_.size() ? begins_[number + 1] : requests_.size();
    for (std::size_t i = begins_[number]; i < end; ++i) found.push_back(requests_[i]);
  }
  return found;
}

void RecordedRank::emit_call(Mpi& mpi, const RecordedCall& call) {
  const std::vector<Request> done = completed(call);
  CallForm form = *call.form;
  // In a larger job the wait for a message may be one for several, or for none.
  if (!call.requests.empty() && done.empty()) return;
  if (done.size() > 1 && (form.kind == CallKind::Wait || form.kind == CallKind::Waitany)) form.kind = CallKind::Waitall;
  const std::optional<Request> made =
      emit(mpi, {.form = form,
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
                 .requests = done,
                 .window = call.window,
                 .group = call.group});
  if (made) requests_.push_back(*made);
}

bool RecordedRank::step(Mpi& mpi) {
  if (step_ == 0) make_communicators(mpi);
  const auto recorded = static_cast<std::size_t>(recorded_);
  const std::uint32_t end = application_.step_ends()[step_++][recorded];
  requests_.clear();
  begins_.clear();
  for (; next_ < end; ++next_) make_call(mpi, stream_.calls[stream_.of_rank[recorded][next_]]);
  return step_ < application_.step_ends().size();
}

}  // namespace manynode::recorded
