// manynode-fast: reads a run file, simulates its replicas one after the other, writes the result directory.
#include <chrono>
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "manynode/skeleton.hpp"
#include "result_writer.hpp"
#include "run_config.hpp"
#include "simulation_error.hpp"
#include "simulator.hpp"

namespace manynode::fast {
namespace {

constexpr const char* kVersion = MANYNODE_FAST_VERSION;
constexpr int kExitInput = 3;  // as in manynode/errors.py

// A line per second at most, on stderr.
ProgressSink progress_printer(const RunConfig& config) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  return [start, last = start, limit = config.jobs[0].iterations_limit](const ProgressReport& report) mutable {
    const auto now = Clock::now();
    if (now - last < std::chrono::seconds(1) && report.finished_ranks < report.ranks) return;
    last = now;
    const double elapsed_s = std::chrono::duration<double>(now - start).count();
    std::fprintf(stderr, "replica %u: %.6g s simulated in %.1f s, step %u%s, %u of %u ranks finished, %.3g messages\n",
                 report.replica, report.simulated_s, elapsed_s, report.steps,
                 limit ? (" of " + std::to_string(*limit)).c_str() : "", report.finished_ranks, report.ranks,
                 static_cast<double>(report.messages));
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

// What comes from the timing profile is input data, not usage.
std::optional<TimingProfile> load_profile(const RunConfig& config, const Application& application, int& exit_code) {
  if (!config.jobs[0].timing_profile) return std::nullopt;
  exit_code = kExitInput;
  auto profile = read_timing_profile(*config.jobs[0].timing_profile, application.phases(), config.jobs[0].missing_is_zero);
  exit_code = kExitUsage;
  return profile;
}

void run(const std::string& run_file, const std::string& output, bool show_progress, int& exit_code) {
  const RunConfig config = read_run_config(run_file);
  const auto application = make_application(config.jobs[0].application, config.jobs[0].parameters, static_cast<int>(config.ranks()));
  const auto profile = load_profile(config, *application, exit_code);
  ResultWriter writer(output, kVersion);
  const ProgressSink progress = show_progress ? progress_printer(config) : ProgressSink{};
  for (const auto replica : config.replicas) {
    writer.add(simulate(*application, config, profile ? &*profile : nullptr, replica, progress),
               *config.network.topology);
  }
  writer.finish();
}

int main_program(int argc, char** argv) {
  CLI::App app{"manynode-fast: simulates the communication of an application skeleton on a network"};
  std::string run_file;
  std::string output;
  bool show_progress = false;
  app.add_option("RUN.json", run_file, "the run, schema network-run/1")->required();
  app.add_option("--output", output, "directory for result.json, ranks.csv and links.csv; made if need be")->required();
  app.add_flag("--progress", show_progress, "tell on stderr how far the simulation is");
  app.set_version_flag("--version", std::string("manynode-fast ") + kVersion);
  int exit_code = kExitUsage;
  try {
    app.parse(argc, argv);
    run(run_file, output, show_progress, exit_code);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    print_error(std::cerr, UserError(error.what(), "command line", "", "", "see manynode-fast --help"));
    return kExitUsage;
  } catch (const SimulationError& error) {
    print_simulation_error(error);
    return kExitFailed;
  } catch (const std::invalid_argument& error) {
    print_error(std::cerr, error);
    return exit_code;
  } catch (const std::exception& error) {
    print_error(std::cerr, error);
    return kExitFailed;
  }
}

}  // namespace
}  // namespace manynode::fast

int main(int argc, char** argv) { return manynode::fast::main_program(argc, argv); }
