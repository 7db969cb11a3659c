// The replay of a recorded run: every rank makes the calls that it made. README.md says what is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "declared/recorded.hpp"
#include "manynode/skeleton.hpp"
#include "steps.hpp"
#include "stream.hpp"

namespace manynode::recorded {

class Recorded : public Application {
 public:
  explicit Recorded(Stream stream) : stream_(std::move(stream)), step_ends_(recorded::step_ends(stream_)) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return stream_.phases; }
  std::optional<std::uint64_t> steps() const override { return step_ends_.size(); }
  bool one_sided() const override;
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Stream& stream() const { return stream_; }
  const std::vector<std::vector<std::uint32_t>>& step_ends() const { return step_ends_; }

 private:
  Stream stream_;
  std::vector<std::vector<std::uint32_t>> step_ends_;
};

class RecordedRank : public Skeleton {
 public:
  RecordedRank(const Recorded& application, int rank)
      : application_(application), stream_(application.stream()), rank_(rank) {}

  bool step(Mpi& mpi) override;

 private:
  void make_communicators(Mpi& mpi) const;
  void make_call(Mpi& mpi, const RecordedCall& call);

  const Recorded& application_;
  const Stream& stream_;
  int rank_;
  std::size_t step_{0};
  std::size_t next_{0};
  std::vector<Request> requests_;  // of this step
};

}  // namespace manynode::recorded
