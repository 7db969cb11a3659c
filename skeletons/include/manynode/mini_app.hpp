// Shared by the runnable mini-apps: the main program, names of compute phases, and the end of the output.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>

#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode {

// Names the compute phase in which it is created for the markers library; the last name given in a phase counts.
// Closing the region keeps the name away from later phases. The application's declared header has `work_name`.
template <typename Work>
class PhaseLabel {
 public:
  explicit PhaseLabel(Work work) { MPI_Pcontrol(1, work_name(work)); }
  ~PhaseLabel() { MPI_Pcontrol(0); }
  PhaseLabel(const PhaseLabel&) = delete;
  PhaseLabel& operator=(const PhaseLabel&) = delete;
};

struct MiniApp {
  const char* name;
  std::span<const ParameterDeclaration> parameters;
  std::set<std::string> switches{};  // options without a value
  bool threads{false};               // threads compute; only the first one calls MPI
};

// One rank of a run.
struct Job {
  int rank{0};
  int size{1};
  std::set<std::string> switched_on{};
};

// The main program of a mini-app. `make_settings(parameters)` or `make_settings(parameters, ranks)` builds the settings
// and throws UserError if they are invalid; `run(settings, job)` returns whether the result is right. Returns the exit
// code.
template <typename MakeSettings, typename Run>
int run_mini_app(int argc, char** argv, const MiniApp& app, const MakeSettings& make_settings, const Run& run) {
  if (app.threads) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);

  const auto settings_of = [&](const Parameters& parameters) {
    if constexpr (std::is_invocable_v<MakeSettings, const Parameters&, int>) {
      return make_settings(parameters, job.size);
    } else {
      return make_settings(parameters);
    }
  };
  std::optional<decltype(settings_of(Parameters()))> settings;
  try {
    settings =
        settings_of(parameters_from_options(app.name, argc, argv, app.parameters, app.switches, job.switched_on));
  } catch (const UserError& error) {
    // Every rank finds the same mistake and ends normally: MPI_Abort is not needed.
    if (job.rank == 0) {
      std::fputs(error_line(error).c_str(), stderr);
    }
  }
  const int code = !settings ? kExitUsage : run(*settings, job) ? 0 : kExitFailed;
  MPI_Finalize();
  return code;
}

// The last lines of the output. Phases 1 and 2 compare the checksum.
inline void print_end(double checksum, double seconds_per_iteration) {
  std::printf("checksum: %.9f\n", checksum);
  std::printf("seconds_per_iteration: %.9f\n", seconds_per_iteration);
}

}  // namespace manynode
