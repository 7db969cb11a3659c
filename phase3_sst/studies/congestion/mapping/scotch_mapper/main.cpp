// manynode-scotch: maps a task graph onto a machine graph by dual recursive bipartitioning (Pellegrini and Roman,
// "Scotch: a software package for static mapping by dual recursive bipartitioning of process and architecture graphs",
// 1996), as Brandt et al. do ("Demonstrating improved application performance using dynamic monitoring and task
// mapping", 2014).
//
// `manynode-scotch GRAPHS [--seed N ...]` reads numbers separated by white space:
//
//   tasks targets edges
//   the capacity of each target, in tasks
//   the distances of targets 1, 2, ... to those before them: (1,0) (2,0) (2,1) (3,0) ...
//   for each edge of the task graph: task, task, amount; each pair of tasks once
//
// and prints the target of each task, a line for each seed. Distances and amounts are not negative. Scotch keeps the
// load of each target near its capacity and may exceed it by a task; the caller corrects that. The same input gives the
// same output: one thread, a fixed seed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <scotch.h>
#include <CLI/CLI.hpp>

#include "manynode/error_report.hpp"

namespace {

using manynode::UserError;

// Scotch calculates in integers of 32 bits: a hundred steps of distance leave seven digits for the amounts.
constexpr double kDistances = 100;
constexpr double kImbalance = 0.01;

struct Edge {
  SCOTCH_Num a;
  SCOTCH_Num b;
  double amount;
};

struct Input {
  std::vector<SCOTCH_Num> capacities;
  std::vector<double> distances;  // of targets to those before them
  std::vector<Edge> edges;
  SCOTCH_Num tasks{0};
};

// An undirected graph in Scotch's format: the arcs of each vertex are adjacent.
struct Arcs {
  std::vector<SCOTCH_Num> first;  // [vertex], and one more
  std::vector<SCOTCH_Num> ends;
  std::vector<SCOTCH_Num> loads;
};

[[noreturn]] void refuse(const std::string& path, const std::string& found, const std::string& allowed) {
  throw UserError("the graphs cannot be mapped", path, found, allowed);
}

Input read(const std::string& path) {
  std::ifstream file(path);
  Input input;
  std::int64_t targets = 0;
  std::int64_t edges = 0;
  if (!(file >> input.tasks >> targets >> edges) || input.tasks < 1 || targets < 1 || edges < 0) {
    refuse(path, "no such header", "tasks targets edges");
  }
  input.capacities.resize(static_cast<std::size_t>(targets));
  for (SCOTCH_Num& capacity : input.capacities) file >> capacity;
  input.distances.resize(static_cast<std::size_t>(targets * (targets - 1) / 2));
  for (double& distance : input.distances) {
    file >> distance;
    if (distance < 0) refuse(path, std::to_string(distance), "distances of 0 and more");
  }
  input.edges.resize(static_cast<std::size_t>(edges));
  for (Edge& edge : input.edges) {
    file >> edge.a >> edge.b >> edge.amount;
    const auto is_task = [&](SCOTCH_Num task) { return task >= 0 && task < input.tasks; };
    if (!is_task(edge.a) || !is_task(edge.b) || edge.a == edge.b || edge.amount < 0) {
      refuse(path, "an edge " + std::to_string(edge.a) + " " + std::to_string(edge.b),
             "two different tasks and an amount of 0 or more");
    }
  }
  if (!file) refuse(path, "too few numbers, or a word that is none", "as many as the header says");
  return input;
}

Arcs arcs_of(SCOTCH_Num vertices, const std::vector<Edge>& edges, const std::vector<SCOTCH_Num>& loads) {
  Arcs arcs;
  arcs.first.resize(static_cast<std::size_t>(vertices) + 1, 0);
  for (const Edge& edge : edges) {
    ++arcs.first[static_cast<std::size_t>(edge.a) + 1];
    ++arcs.first[static_cast<std::size_t>(edge.b) + 1];
  }
  for (std::size_t vertex = 1; vertex < arcs.first.size(); ++vertex) arcs.first[vertex] += arcs.first[vertex - 1];
  arcs.ends.resize(2 * edges.size());
  arcs.loads.resize(2 * edges.size());
  std::vector<SCOTCH_Num> next(arcs.first.begin(), arcs.first.end() - 1);
  const auto add = [&](SCOTCH_Num from, SCOTCH_Num to, SCOTCH_Num load) {
    const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(from)]++);
    arcs.ends[place] = to;
    arcs.loads[place] = load;
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    add(edges[i].a, edges[i].b, loads[i]);
    add(edges[i].b, edges[i].a, loads[i]);
  }
  return arcs;
}

void check(int status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string("Scotch failed in ") + call);
}

// An object of Scotch; its memory is part of the object and freed with it.
template <typename T, int (*init)(T*), void (*exit)(T*)>
class Held {
 public:
  Held() { check(init(&object_), "an initialisation"); }
  ~Held() { exit(&object_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  T* operator&() { return &object_; }

 private:
  T object_;
};

using Context = Held<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;
using Graph = Held<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Arch = Held<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Strategy = Held<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

// `graph` refers to the vectors, which outlive it.
void build(Graph& graph, const Arcs& arcs, const SCOTCH_Num* vertex_loads) {
  check(SCOTCH_graphBuild(&graph, 0, static_cast<SCOTCH_Num>(arcs.first.size() - 1), arcs.first.data(), nullptr,
                          vertex_loads, nullptr, static_cast<SCOTCH_Num>(arcs.ends.size()), arcs.ends.data(),
                          arcs.loads.data()),
        "SCOTCH_graphBuild");
}

// The complete graph of the targets: Scotch treats edge loads as distances, which are at least 1.
Arcs complete(const Input& input) {
  const double most = input.distances.empty() ? 0 : *std::max_element(input.distances.begin(), input.distances.end());
  std::vector<Edge> edges;
  std::vector<SCOTCH_Num> loads;
  const auto targets = static_cast<SCOTCH_Num>(input.capacities.size());
  std::size_t place = 0;
  for (SCOTCH_Num a = 1; a < targets; ++a) {
    for (SCOTCH_Num b = 0; b < a; ++b) {
      const double share = most > 0 ? input.distances[place] / most : 0;
      ++place;
      edges.push_back({a, b, 0});
      loads.push_back(static_cast<SCOTCH_Num>(1 + std::lround((kDistances - 1) * share)));
    }
  }
  return arcs_of(targets, edges, loads);
}

// Amounts as integers whose sum, at the largest distance, is far from overflow.
Arcs tasks_of(const Input& input) {
  double sum = 0;
  for (const Edge& edge : input.edges) sum += edge.amount;
  const double scale = sum > 0 ? SCOTCH_NUMMAX / (8 * kDistances * sum) : 0;
  std::vector<SCOTCH_Num> loads;
  for (const Edge& edge : input.edges) {
    loads.push_back(static_cast<SCOTCH_Num>(std::max(1L, std::lround(scale * edge.amount))));
  }
  return arcs_of(input.tasks, input.edges, loads);
}

std::vector<SCOTCH_Num> mapped(const Input& input, SCOTCH_Num seed) {
  std::vector<SCOTCH_Num> target_of(static_cast<std::size_t>(input.tasks), 0);
  const auto targets = static_cast<SCOTCH_Num>(input.capacities.size());
  if (targets == 1) return target_of;

  // By default, Scotch starts a thread per core, and its results vary.
  Context context;
  check(SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "SCOTCH_contextOptionSetNum");
  check(SCOTCH_contextThreadSpawn(&context, 1, nullptr), "SCOTCH_contextThreadSpawn");
  check(SCOTCH_contextRandomClone(&context), "SCOTCH_contextRandomClone");
  SCOTCH_contextRandomSeed(&context, seed);
  SCOTCH_contextRandomReset(&context);

  const Arcs machine_arcs = complete(input);
  Graph machine_graph;
  build(machine_graph, machine_arcs, input.capacities.data());
  Graph machine;
  check(SCOTCH_contextBindGraph(&context, &machine_graph, &machine), "SCOTCH_contextBindGraph");
  Arch arch;
  Strategy bipartition;
  check(SCOTCH_archBuild(&arch, &machine, 0, nullptr, &bipartition), "SCOTCH_archBuild");

  const Arcs task_arcs = tasks_of(input);
  Graph task_graph;
  build(task_graph, task_arcs, nullptr);
  Graph tasks;
  check(SCOTCH_contextBindGraph(&context, &task_graph, &tasks), "SCOTCH_contextBindGraph");
  Strategy mapping;
  check(SCOTCH_stratGraphMapBuild(&mapping, SCOTCH_STRATQUALITY | SCOTCH_STRATRECURSIVE, targets, kImbalance),
        "SCOTCH_stratGraphMapBuild");
  check(SCOTCH_graphMap(&tasks, &arch, &mapping, target_of.data()), "SCOTCH_graphMap");
  return target_of;
}

int run(int argc, char** argv) {
  CLI::App app{"manynode-scotch: maps a task graph onto a machine graph with libscotch"};
  std::string path;
  std::vector<SCOTCH_Num> seeds{1};
  app.add_option("GRAPHS", path, "file with both graphs")->required();
  app.add_option("--seed", seeds, "of Scotch's choices; several give a line each");
  app.set_version_flag("--version", "manynode-scotch, Scotch " + std::to_string(SCOTCH_VERSION) + "." +
                                        std::to_string(SCOTCH_RELEASE) + "." + std::to_string(SCOTCH_PATCHLEVEL));
  try {
    app.parse(argc, argv);
    const Input input = read(path);
    for (const SCOTCH_Num seed : seeds) {
      for (const SCOTCH_Num target : mapped(input, seed)) std::cout << target << ' ';
      std::cout << '\n';
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    manynode::print_error(std::cerr, UserError(error.what(), "command line", "", "", "see manynode-scotch --help"));
    return manynode::kExitUsage;
  } catch (const std::invalid_argument& error) {
    manynode::print_error(std::cerr, error);
    return manynode::kExitUsage;
  } catch (const std::exception& error) {
    manynode::print_error(std::cerr, error);
    return manynode::kExitFailed;
  }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
