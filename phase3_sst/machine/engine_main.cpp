#include "engine_main.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <new>
#include <span>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "run_config.hpp"
#include "simulation_error.hpp"

namespace manynode::network {
namespace {

constexpr int kExitInput = 3;  // as in manynode/errors.py

// At most one line per second, on stderr. If the number of steps is known, the time left follows from the finished
// share of replicas and steps.
ProgressSink progress_printer(const std::vector<std::uint32_t>& simulated) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  return [start, last = start, replicas = simulated](const ProgressReport& report) mutable {
    const auto now = Clock::now();
    if (now - last < std::chrono::seconds(1) && report.finished_ranks < report.ranks) return;
    last = now;
    const double elapsed_s = std::chrono::duration<double>(now - start).count();
    const auto done = std::find(replicas.begin(), replicas.end(), report.replica) - replicas.begin();
    std::string steps = "step " + std::to_string(report.steps);
    std::string left;
    if (report.steps_in_all) {
      steps += " of " + std::to_string(*report.steps_in_all);
      const double share =
          (static_cast<double>(done) + static_cast<double>(report.steps) / static_cast<double>(*report.steps_in_all)) /
          static_cast<double>(replicas.size());
      char text[64];
      std::snprintf(text, sizeof text, ", about %.0f s left", elapsed_s * (1 - share) / share);
      if (share > 0) left = text;
    }
    std::fprintf(stderr, "replica %u: %.6g s simulated in %.1f s, %s, %u of %u ranks finished, %.3g messages%s\n",
                 report.replica, report.simulated_s, elapsed_s, steps.c_str(), report.finished_ranks, report.ranks,
                 static_cast<double>(report.messages), left.c_str());
  };
}

void print_simulation_error(const SimulationError& error) {
  std::string details;
  for (const auto& line : error.details) details += (details.empty() ? "" : "\n") + line;
  const nlohmann::ordered_json line = {{"error",
                                        {{"what", error.what()},
                                         {"where", ""},
                                         {"found", ""},
                                         {"allowed", ""},
                                         {"remedy", error.remedy},
                                         {"details", details}}}};
  std::cerr << line.dump(-1, ' ', true) << std::endl;
}

// Errors in the timing profile are input errors, not usage errors.
std::vector<Program> load_programs(const RunConfig& config, int& exit_code) {
  std::vector<Program> programs;
  for (const JobConfig& job : config.jobs) {
    Program program;
    program.application = make_application(job.application, job.parameters, static_cast<int>(job.ranks()));
    if (job.timing_profile) {
      exit_code = kExitInput;
      program.profile = read_timing_profile(*job.timing_profile, program.application->phases(), job.missing_is_zero);
      exit_code = kExitUsage;
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

// Everything that a simulation can refuse before its first event.
void check(const EngineProgram& engine, const std::vector<std::string>& run_files, int& exit_code) {
  for (const std::string& run_file : run_files) {
    const RunConfig config = read_run_config(run_file);
    load_programs(config, exit_code);
    check_collective_choice(config.collectives);
    if (engine.check) engine.check(config);
    std::cout << run_file << std::endl;
  }
}

// Whether one replica can differ from another: by its compute times, or by routes that are drawn.
bool replicas_differ(const RunConfig& config, const std::vector<Program>& programs) {
  if (config.network.topology->adaptive()) return true;
  for (std::size_t job = 0; job < programs.size(); ++job) {
    if (programs[job].profile && !config.jobs[job].constant) return true;
  }
  return false;
}

void run(const EngineProgram& engine, const std::string& run_file, const std::string& output, bool show_progress,
         int& exit_code) {
  const RunConfig config = read_run_config(run_file);
  const auto programs = load_programs(config, exit_code);
  std::vector<std::uint32_t> simulated = config.replicas;
  const bool differ = replicas_differ(config, programs);
  if (!differ && !simulated.empty()) simulated.resize(1);
  ResultWriter writer(output, engine.engine, config);
  const ProgressSink progress = show_progress ? progress_printer(simulated) : ProgressSink{};
  for (const auto replica : simulated) {
    ReplicaResult result = engine.simulate(programs, config, replica, progress);
    writer.add(result);
    if (differ) continue;
    for (const auto equal : std::span(config.replicas).subspan(1)) {
      result.replica = equal;
      writer.add(result);
    }
  }
  writer.finish();
}

}  // namespace

int engine_main(int argc, char** argv, const EngineProgram& engine) {
  CLI::App app{engine.program + ": " + engine.purpose};
  std::vector<std::string> run_files;
  std::string output;
  bool only_check = false;
  bool show_progress = false;
  app.add_option("RUN.json", run_files, "the run, schema network-run/2; with --check, several")->required();
  auto* to = app.add_option("--output", output, "directory for result.json and the tables; made if need be");
  app.add_flag("--check", only_check, "say whether the runs can be simulated, and simulate none")->excludes(to);
  app.add_flag("--progress", show_progress, "tell on stderr how far the simulation is");
  app.set_version_flag("--version", engine.program + " " + engine.engine.version);
  int exit_code = kExitUsage;
  try {
    app.parse(argc, argv);
    if (only_check) {
      check(engine, run_files, exit_code);
      return 0;
    }
    if (output.empty()) throw UserError("there is no place for the result", "--output", "nothing", "a directory");
    if (run_files.size() > 1) {
      throw UserError("one run is simulated at a time", "command line", std::to_string(run_files.size()) + " run files",
                      "one", "give --check to check several");
    }
    run(engine, run_files.front(), output, show_progress, exit_code);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    print_error(std::cerr, UserError(error.what(), "command line", "", "", "see " + engine.program + " --help"));
    return kExitUsage;
  } catch (const SimulationError& error) {
    print_simulation_error(error);
    return kExitFailed;
  } catch (const std::invalid_argument& error) {
    print_error(std::cerr, error);
    return exit_code;
  } catch (const std::bad_alloc&) {
    print_error(std::cerr, UserError("there is not enough memory for the simulation", run_files.front(), "", "",
                                     "choose a smaller machine or fewer ranks, or let less run beside it"));
    return kExitFailed;
  } catch (const std::exception& error) {
    print_error(std::cerr, error);
    return kExitFailed;
  }
}

}  // namespace manynode::network
