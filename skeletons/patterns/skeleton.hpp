// Communication patterns without an application, chosen by the parameter `pattern`, to compare engines and to probe
// machines. README.md has the drawings. There is no mini-app, because they compute nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "declared/patterns.hpp"
#include "manynode/skeleton.hpp"
#include "pattern.hpp"

namespace manynode::patterns {

class Patterns : public Application {
 public:
  Patterns(std::unique_ptr<Pattern> pattern, std::int64_t iterations)
      : pattern_(std::move(pattern)), iterations_(iterations) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return {}; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(iterations_); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

 private:
  std::unique_ptr<const Pattern> pattern_;
  std::int64_t iterations_;
};

class PatternRank : public Skeleton {
 public:
  PatternRank(const Pattern& pattern, std::int64_t iterations) : pattern_(pattern), left_(iterations) {}

  bool step(Mpi& mpi) override;

 private:
  const Pattern& pattern_;
  std::int64_t left_;
  Groups groups_{};
  bool prepared_{false};
};

}  // namespace manynode::patterns
