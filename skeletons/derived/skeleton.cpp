#include "skeleton.hpp"

#include <algorithm>

namespace manynode::derived {
namespace {

// The number of steps, if it is the same for all ranks.
std::optional<std::uint64_t> steps_of(const Program& program, const std::vector<bool>& open_ends) {
  const auto constant = [&](const Formula& formula) { return program.expressions.is_constant(formula.node); };
  std::int64_t steps = 0;
  bool open = true;  // the step is, after what was counted
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (std::size_t i = 0; i < program.body.size(); ++i) {
    const Item& item = program.body[i];
    if (item.kind != Item::Kind::Loop) continue;
    if (item.when.given()) {
      if (!constant(item.when)) return std::nullopt;
      if (program.expressions.constant(item.when.node) == 0) continue;
    }
    if (!constant(item.count)) return std::nullopt;
    const std::int64_t given = checked_repeats(program, item, program.expressions.constant(item.count.node), 0);
    const std::int64_t count = std::min(given, kMost);
    if (count == 0) continue;
    open = open_ends[i];
    steps += open ? 0 : count;
  }
  return static_cast<std::uint64_t>(steps + (open ? 1 : 0));
}

}  // namespace

Derived::Derived(std::unique_ptr<const Program> program, std::uint64_t seed)
    : program_(std::move(program)),
      seed_(seed),
      open_ends_(derived::open_ends(*program_)),
      steps_(steps_of(*program_, open_ends_)) {}

std::unique_ptr<Skeleton> Derived::make(int, int) const {
  return std::make_unique<DerivedRank>(*program_, open_ends_, seed_);
}

DerivedRank::DerivedRank(const Program& program, const std::vector<bool>& open_ends, std::uint64_t seed)
    : program_(program),
      open_ends_(open_ends),
      draws_(program.distributions.empty() ? nullptr : std::make_unique<Draws>(seed)) {}

// A rank that is not in a communicator makes one of its own: the numbers of those after it agree between the ranks.
void DerivedRank::make_communicators(Mpi& mpi) const {
  for (const Partition& partition : program_.communicators) {
    if (partition.group_of(mpi.rank()) < 0) {
      mpi.strided(mpi.rank(), 1, 1);
    } else {
      mpi.split(partition);
    }
  }
}

bool DerivedRank::step(Mpi& mpi) {
  if (!started_) make_communicators(mpi);
  started_ = true;
  alike_ = false;
  Walk walk(program_, mpi, draws_.get(), passed_);
  const Passed before = passed_;
  bool only_this_iteration = true;
  for (; item_ < program_.body.size(); ++item_) {
    const Item& item = program_.body[item_];
    if (item.kind != Item::Kind::Loop) {
      walk.item(item);
      only_this_iteration = false;
      continue;
    }
    if (iterations_ == 0 && !enter(walk, item)) continue;
    while (iteration_ < iterations_) {
      walk.iteration(item, iteration_++);
      const bool last = iteration_ == iterations_;
      if (!open_ends_[item_] && walk.nothing_open() && (!last || another_loop_)) {
        walk.complete_freed();
        // The next iteration begins where this one began.
        alike_ = item.alike && only_this_iteration && passed_ == before;
        if (last) {
          iterations_ = 0;
          ++item_;
        }
        return true;
      }
      only_this_iteration = false;
    }
    iterations_ = 0;
  }
  walk.check_nothing_open();
  walk.complete_freed();
  return false;
}

bool DerivedRank::enter(Walk& walk, const Item& loop) {
  iteration_ = 0;
  iterations_ = walk.iterations(loop);
  another_loop_ = iterations_ > 0 && a_loop_follows(walk);
  return iterations_ > 0;
}

bool DerivedRank::a_loop_follows(Walk& walk) const {
  return std::any_of(program_.body.begin() + static_cast<std::ptrdiff_t>(item_) + 1, program_.body.end(),
                     [&](const Item& item) { return item.kind == Item::Kind::Loop && walk.iterations(item) > 0; });
}

bool DerivedRank::repeat() {
  if (!alike_ || iterations_ == 0 || (iteration_ + 1 == iterations_ && !another_loop_)) return false;
  if (++iteration_ == iterations_) {
    iterations_ = 0;
    alike_ = false;
    ++item_;
  }
  return true;
}

}  // namespace manynode::derived
