// A tiny program for tests: a function that emits the calls of a rank.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manynode/skeleton.hpp"

namespace manynode::testing {

using Body = std::function<void(Mpi&)>;

// An application whose steps are all `body`. `one_sided`: it has one-sided calls.
class BodyApplication final : public Application {
 public:
  explicit BodyApplication(Body body, int steps = 1, bool one_sided = false)
      : body_(std::move(body)), steps_(steps), one_sided_(one_sided) {}

  std::string name() const override { return "program"; }
  std::vector<std::string> phases() const override { return {"work"}; }
  bool one_sided() const override { return one_sided_; }
  std::unique_ptr<Skeleton> make(int, int) const override { return std::make_unique<Steps>(body_, steps_); }

 private:
  class Steps final : public Skeleton {
   public:
    Steps(const Body& body, int steps) : body_(body), left_(steps) {}
    bool step(Mpi& mpi) override {
      body_(mpi);
      return --left_ > 0;
    }

   private:
    const Body& body_;
    int left_;
  };

  Body body_;
  int steps_;
  bool one_sided_;
};

}  // namespace manynode::testing
