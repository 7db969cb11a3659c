// One collective over all ranks, alone.
#include <utility>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

using Emit = void (*)(Mpi& mpi, std::uint64_t bytes, int root);

struct Named {
  const char* name;
  Emit emit;
};

constexpr Named kCollectives[] = {
    {"barrier", [](Mpi& mpi, std::uint64_t, int) { mpi.barrier(); }},
    {"bcast", [](Mpi& mpi, std::uint64_t bytes, int root) { mpi.bcast(bytes, root); }},
    {"reduce", [](Mpi& mpi, std::uint64_t bytes, int root) { mpi.reduce(bytes, root); }},
    {"allreduce", [](Mpi& mpi, std::uint64_t bytes, int) { mpi.allreduce(bytes); }},
    {"gather", [](Mpi& mpi, std::uint64_t bytes, int root) { mpi.gather(bytes, root); }},
    {"allgather", [](Mpi& mpi, std::uint64_t bytes, int) { mpi.allgather(bytes); }},
    {"scatter", [](Mpi& mpi, std::uint64_t bytes, int root) { mpi.scatter(bytes, root); }},
    {"alltoall", [](Mpi& mpi, std::uint64_t bytes, int) { mpi.alltoall(bytes); }},
    {"reduce_scatter", [](Mpi& mpi, std::uint64_t bytes, int) { mpi.reduce_scatter(bytes); }},
    {"scan", [](Mpi& mpi, std::uint64_t bytes, int) { mpi.scan(bytes); }},
};

class Collective final : public Pattern {
 public:
  Collective(Emit emit, std::uint64_t bytes, int root, bool barrier)
      : emit_(emit), bytes_(bytes), root_(root), barrier_(barrier) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    if (barrier_) mpi.barrier();
    emit_(mpi, bytes_, root_);
  }

 private:
  Emit emit_;
  std::uint64_t bytes_;
  int root_;
  bool barrier_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  const std::string name = parameters.text("collective");
  const std::int64_t root = parameters.integer("root", 0);
  if (root >= size) {
    throw UserError("there is no such rank", "root", std::to_string(root), "0 to " + std::to_string(size - 1));
  }
  std::vector<std::string> names;
  for (const Named& one : kCollectives) {
    if (name == one.name) {
      return std::make_unique<Collective>(one.emit, bytes_of(parameters), static_cast<int>(root),
                                          parameters.flag("barrier"));
    }
    names.emplace_back(one.name);
  }
  throw UserError("unknown collective", "collective", name, joined(names), did_you_mean(name, names));
}

}  // namespace

extern const PatternEntry collective_pattern;
const PatternEntry collective_pattern{"collective", make, {"bytes", "collective", "root", "barrier"}};

}  // namespace manynode::patterns
