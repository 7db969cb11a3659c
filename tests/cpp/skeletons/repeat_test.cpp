// Iterations that a skeleton takes without emitting them are those that it would have emitted.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "manynode/skeleton.hpp"

namespace manynode {
namespace {

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::has_unique_object_representations_v<T>);
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

struct Stream {
  std::vector<Calls> steps;
  int repeated{0};
};

Stream stream_of(const Application& application, int rank, int size, bool may_repeat) {
  Stream stream;
  Communicators communicators(rank, size);
  const auto skeleton = application.make(rank, size);
  for (bool more = true; more;) {
    if (may_repeat && skeleton->repeat()) {
      ++stream.repeated;
      stream.steps.push_back(stream.steps.back());
      continue;
    }
    Calls calls;
    Mpi mpi(rank, size, calls, communicators);
    more = skeleton->step(mpi);
    stream.steps.push_back(calls);
  }
  return stream;
}

// The parameter that counts the iterations of an application, and how many of seven may be left out.
struct Loop {
  const char* application;
  const char* counter;
  int repeated;
};

class Repeat : public ::testing::TestWithParam<Loop> {};

TEST_P(Repeat, GivesTheIterationsThatStepsWouldGive) {
  const auto& [name, counter, repeated] = GetParam();
  for (const int size : {1, 6, 8}) {
    const auto application = make_application(name, Parameters({{counter, std::int64_t{7}}}), size);
    for (int rank = 0; rank < size; ++rank) {
      const Stream whole = stream_of(*application, rank, size, false);
      const Stream shorter = stream_of(*application, rank, size, true);
      EXPECT_GE(shorter.repeated, repeated) << name;
      ASSERT_EQ(shorter.steps.size(), whole.steps.size()) << name;
      for (std::size_t step = 0; step < whole.steps.size(); ++step) {
        EXPECT_TRUE(same(shorter.steps[step].calls, whole.steps[step].calls)) << name << " step " << step;
        EXPECT_TRUE(same(shorter.steps[step].requests, whole.steps[step].requests)) << name << " step " << step;
        EXPECT_TRUE(same(shorter.steps[step].counts, whole.steps[step].counts)) << name << " step " << step;
      }
    }
  }
}

// The first has what precedes the loop, the second is the one that is repeated, the last has what follows.
INSTANTIATE_TEST_SUITE_P(Applications, Repeat,
                         ::testing::Values(Loop{"hpcg", "iterations", 4}, Loop{"hacc", "iterations", 4},
                                           Loop{"spmv", "iterations", 4}, Loop{"milc", "iterations", 4},
                                           Loop{"fft2d", "iterations", 4}, Loop{"caffe", "iterations", 4},
                                           Loop{"snap", "inners", 4}, Loop{"lammps", "iterations", 0}),
                         [](const auto& info) { return std::string(info.param.application); });

}  // namespace
}  // namespace manynode
