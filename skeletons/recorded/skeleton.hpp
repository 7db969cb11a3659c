// The replay of a recorded run: every rank makes the calls that it made. README.md says what is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "declared/recorded.hpp"
#include "lift.hpp"
#include "manynode/skeleton.hpp"
#include "steps.hpp"
#include "stream.hpp"

namespace manynode::recorded {

class Recorded : public Application {
 public:
  explicit Recorded(Stream stream) : stream_(std::move(stream)), step_ends_(recorded::step_ends(stream_)) {}
  // A larger job than the recorded one.
  Recorded(Stream stream, const LiftRules& rules, int ranks) : Recorded(std::move(stream)) {
    lift_ = std::make_unique<Lift>(stream_, rules, ranks);
  }

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return stream_.phases; }
  std::optional<std::uint64_t> steps() const override { return step_ends_.size(); }
  bool one_sided() const override;
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Stream& stream() const { return stream_; }
  const Lift* lift() const { return lift_.get(); }
  const std::vector<std::vector<std::uint32_t>>& step_ends() const { return step_ends_; }

 private:
  Stream stream_;
  std::unique_ptr<Lift> lift_;  // null: the job has the recorded number of ranks
  std::vector<std::vector<std::uint32_t>> step_ends_;
};

class RecordedRank : public Skeleton {
 public:
  RecordedRank(const Recorded& application, int rank)
      : application_(application),
        stream_(application.stream()),
        rank_(rank),
        recorded_(application.lift() == nullptr ? rank : application.lift()->recorded(rank)) {}

  bool step(Mpi& mpi) override;

 private:
  void make_communicators(Mpi& mpi) const;
  void make_call(Mpi& mpi, const RecordedCall& call);
  void emit_call(Mpi& mpi, const RecordedCall& call);
  std::vector<Request> completed(const RecordedCall& call) const;

  const Recorded& application_;
  const Stream& stream_;
  int rank_;
  int recorded_;  // the rank whose calls this one makes
  std::size_t step_{0};
  std::size_t next_{0};
  // Of this step: all requests, and where those begin that take the place of each recorded one.
  std::vector<Request> requests_;
  std::vector<std::size_t> begins_;
};

}  // namespace manynode::recorded
