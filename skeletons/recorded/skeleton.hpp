// The replay of a recorded run: every rank makes the calls that it made. README.md says what is exact.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "declared/recorded.hpp"
#include "manynode/skeleton.hpp"
#include "stream.hpp"

namespace manynode::recorded {

class Recorded : public Application {
 public:
  explicit Recorded(Stream stream) : stream_(std::move(stream)) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return stream_.phases; }
  bool one_sided() const override;
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Stream& stream() const { return stream_; }

 private:
  Stream stream_;
};

class RecordedRank : public Skeleton {
 public:
  RecordedRank(const Recorded& application, int rank) : stream_(application.stream()), rank_(rank) {}

  // Some calls, up to one after which no request is open.
  bool step(Mpi& mpi) override;

 private:
  void make_communicators(Mpi& mpi) const;
  // Returns by how much the number of open requests has grown.
  int make_call(Mpi& mpi, const RecordedCall& call);

  const Stream& stream_;
  int rank_;
  std::size_t next_{0};
  std::vector<Request> requests_;  // of this step
};

}  // namespace manynode::recorded
