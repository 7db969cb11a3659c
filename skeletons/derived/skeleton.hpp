// The calls of a derived skeleton's file. README.md says how the file is interpreted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "declared/derived.hpp"
#include "manynode/skeleton.hpp"
#include "open_ends.hpp"
#include "program.hpp"
#include "walk.hpp"

namespace manynode::derived {

class Derived : public Application {
 public:
  Derived(std::unique_ptr<const Program> program, std::uint64_t seed);

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return program_->phases; }
  std::optional<std::uint64_t> steps() const override { return steps_; }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

 private:
  std::unique_ptr<const Program> program_;
  std::uint64_t seed_;
  std::vector<bool> open_ends_;
  std::optional<std::uint64_t> steps_;
};

// A step ends with an iteration of a loop of the body itself, if no request is open at the end of one on any rank. What
// comes before the first of these loops belongs to the first step, what comes between two of them to the first step of
// the second, and what comes after the last one to the last step.
class DerivedRank : public Skeleton {
 public:
  DerivedRank(const Program& program, const std::vector<bool>& open_ends, std::uint64_t seed);

  bool step(Mpi& mpi) override;
  bool repeat() override;

 private:
  void make_communicators(Mpi& mpi) const;
  bool enter(Walk& walk, const Item& loop);
  bool a_loop_follows(Walk& walk) const;

  const Program& program_;
  const std::vector<bool>& open_ends_;
  std::unique_ptr<Draws> draws_;
  Passed passed_;
  std::size_t item_{0};         // of the body, the next one
  std::int64_t iteration_{0};   // of the loop that the rank is in, the next one
  std::int64_t iterations_{0};  // of that loop; 0: in none
  bool started_{false};
  bool another_loop_{false};  // follows that loop
  bool alike_{false};         // the step before was one iteration of a loop in which all are alike
};

}  // namespace manynode::derived
