// Algorithms by name, the meaning of "auto", and the plans built from them.
#include "plan.hpp"

#include <deque>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"
#include "rules/rules.hpp"

namespace manynode {
namespace collectives {
namespace {

struct RulesEntry {
  const char* name;
  Rules rules;
  Library library;
};

constexpr RulesEntry kRules[] = {{"mpich", mpich_rules, Library::Mpich}, {"openmpi", openmpi_rules, Library::OpenMpi}};

// The longest collective that the name begins with: for "reduce_scatter_ring", reduce_scatter and not reduce.
const CollectiveField* collective_of(std::string_view file_name) {
  const CollectiveField* longest = nullptr;
  for (const CollectiveField& field : collective_fields()) {
    const std::string prefix = std::string(field.collective) + "_";
    if (file_name.starts_with(prefix) &&
        (longest == nullptr || std::string_view(longest->collective).size() + 1 < prefix.size())) {
      longest = &field;
    }
  }
  return longest;
}

std::string name_of(const AlgorithmEntry& entry) {
  const CollectiveField* field = collective_of(entry.file_name);
  return field == nullptr ? entry.file_name : entry.file_name + std::string_view(field->collective).size() + 1;
}

// Null for "auto".
Algorithm find_algorithm(const std::string& collective, const std::string& name) {
  if (name == "auto") {
    return nullptr;
  }
  const std::string file_name = collective + "_" + name;
  for (const AlgorithmEntry& entry : algorithms()) {
    if (file_name == entry.file_name && collective_of(entry.file_name)->collective == collective) {
      return entry.run;
    }
  }
  std::vector<std::string> names = collective_algorithms(collective);
  names.emplace_back("auto");
  throw UserError("unknown algorithm", "collectives." + collective, name, joined(names), did_you_mean(name, names));
}

const RulesEntry& find_rules(const std::string& name) {
  std::vector<std::string> names;
  for (const RulesEntry& entry : kRules) {
    if (name == entry.name) {
      return entry;
    }
    names.emplace_back(entry.name);
  }
  throw UserError("unknown rules of collectives", "collectives.rules", name, joined(names), did_you_mean(name, names));
}

bool same(const CollectiveChoice& a, const CollectiveChoice& b) {
  const auto fields = collective_fields();
  return a.rules == b.rules && a.segment_bytes == b.segment_bytes &&
         std::all_of(fields.begin(), fields.end(),
                     [&](const CollectiveField& field) { return a.*field.algorithm == b.*field.algorithm; });
}

}  // namespace

Plan::Plan(const CollectiveChoice& choice)
    : rules_(find_rules(choice.rules).rules),
      library_(find_rules(choice.rules).library),
      segment_bytes_(choice.segment_bytes) {
  const auto name = [&](CallKind kind, const char* collective, const std::string& algorithm) {
    named_[static_cast<std::size_t>(kind)] = find_algorithm(collective, algorithm);
  };
  name(CallKind::Barrier, "barrier", choice.barrier);
  name(CallKind::Bcast, "bcast", choice.bcast);
  name(CallKind::Reduce, "reduce", choice.reduce);
  name(CallKind::Allreduce, "allreduce", choice.allreduce);
  name(CallKind::Gather, "gather", choice.gather);
  name(CallKind::Allgather, "allgather", choice.allgather);
  name(CallKind::Scatter, "scatter", choice.scatter);
  name(CallKind::Alltoall, "alltoall", choice.alltoall);
  name(CallKind::Allgatherv, "allgather", choice.allgather);
  name(CallKind::ReduceScatter, "reduce_scatter", choice.reduce_scatter);
  name(CallKind::ReduceScatterv, "reduce_scatter", choice.reduce_scatter);
  name(CallKind::Scan, "scan", choice.scan);
  name(CallKind::Exscan, "scan", choice.scan);
  // Bruck's algorithm needs blocks of one size: MPI_Alltoallv and MPI_Alltoallw then go by the rules.
  if (choice.alltoall != "bruck") {
    name(CallKind::Alltoallv, "alltoall", choice.alltoall);
    name(CallKind::Alltoallw, "alltoall", choice.alltoall);
  }
  // Only the root knows the shares of a gatherv or scatterv, so that no other rank can hand them on.
  named_[static_cast<std::size_t>(CallKind::Gatherv)] = gather_linear;
  named_[static_cast<std::size_t>(CallKind::Scatterv)] = scatter_linear;
  for (const CallKind kind : {CallKind::NeighborAllgather, CallKind::NeighborAllgatherv, CallKind::NeighborAlltoall,
                              CallKind::NeighborAlltoallv, CallKind::NeighborAlltoallw}) {
    named_[static_cast<std::size_t>(kind)] = exchange_with_neighbors;
  }
}

const Plan& plan_of(const CollectiveChoice& choice) {
  struct Made {
    CollectiveChoice choice;
    Plan plan;
  };
  static std::deque<Made> plans;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (const Made& made : plans) {
    if (same(made.choice, choice)) {
      return made.plan;
    }
  }
  plans.push_back({choice, Plan(choice)});
  return plans.back().plan;
}

std::string algorithm_name(Algorithm algorithm) {
  for (const AlgorithmEntry& entry : algorithms()) {
    if (entry.run == algorithm) {
      return name_of(entry);
    }
  }
  throw std::logic_error("no such algorithm");
}

}  // namespace collectives

std::span<const CollectiveField> collective_fields() {
  static constexpr CollectiveField kFields[] = {{"barrier", &CollectiveChoice::barrier},
                                                {"bcast", &CollectiveChoice::bcast},
                                                {"reduce", &CollectiveChoice::reduce},
                                                {"allreduce", &CollectiveChoice::allreduce},
                                                {"gather", &CollectiveChoice::gather},
                                                {"allgather", &CollectiveChoice::allgather},
                                                {"scatter", &CollectiveChoice::scatter},
                                                {"alltoall", &CollectiveChoice::alltoall},
                                                {"reduce_scatter", &CollectiveChoice::reduce_scatter},
                                                {"scan", &CollectiveChoice::scan}};
  return kFields;
}

std::vector<std::string> collective_algorithms(const std::string& collective) {
  std::vector<std::string> names;
  for (const collectives::AlgorithmEntry& entry : collectives::algorithms()) {
    const CollectiveField* field = collectives::collective_of(entry.file_name);
    if (field != nullptr && field->collective == collective) {
      names.push_back(collectives::name_of(entry));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_collective_choice(const CollectiveChoice& choice) { collectives::Plan{choice}; }

}  // namespace manynode
