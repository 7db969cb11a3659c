// manynode-skeleton: lists skeletons and prints their operation streams.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>

#include "manynode/error_report.hpp"
#include "streams.hpp"

namespace {

using namespace manynode;

struct StreamOptions {
  std::string app;
  int ranks{1};
  int rank{-1};
  std::string parameters{"{}"};
  std::string sink{"text"};
  std::vector<std::string> collectives;
  std::string output;
  bool lowered{false};
  std::string timing_profile;
  std::string rank_class;
  std::uint64_t seed{1};
  std::uint32_t replica{0};
  bool constant{false};
  bool missing_is_zero{false};
  std::uint32_t persistent{0};
  bool tail{false};
  double reduce_bandwidth_Bps{0};
  double copy_bandwidth_Bps{0};
  double collective_call_s{0};
  double collective_step_s{0};
  int ranks_per_node{0};
};

std::uint64_t segment_bytes(const std::string& text) {
  std::uint64_t bytes = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size() || bytes == 0) {
    throw UserError("wrong size of segments", "--collective", "segment=" + text, "bytes, at least 1");
  }
  return bytes;
}

// "allreduce=ring", "rules=openmpi", "segment=8192" and the like.
CollectiveChoice collective_choice(const std::vector<std::string>& options) {
  CollectiveChoice choice;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    if (name == "segment" && equals != std::string::npos) {
      choice.segment_bytes = segment_bytes(option.substr(equals + 1));
      continue;
    }
    std::string* chosen = name == "rules" ? &choice.rules : nullptr;
    for (const CollectiveField& field : collective_fields()) {
      if (name == field.collective) {
        chosen = &(choice.*field.algorithm);
      }
    }
    if (chosen == nullptr || equals == std::string::npos) {
      throw UserError("unknown collective", "--collective", option,
                      "<collective>=<algorithm>, rules=<library>, segment=<bytes>",
                      "manynode-skeleton list names them");
    }
    *chosen = option.substr(equals + 1);
  }
  check_collective_choice(choice);
  return choice;
}

void list() {
  std::cout << "applications:\n";
  for (const std::string& name : application_names()) {
    std::cout << "  " << name << '\n';
  }
  std::cout << "collectives:\n";
  for (const CollectiveField& field : collective_fields()) {
    std::cout << "  " << field.collective << ": auto";
    for (const std::string& name : collective_algorithms(field.collective)) {
      std::cout << ", " << name;
    }
    std::cout << '\n';
  }
}

// All ranks have the same class: the named one, else the profile's first.
TimingModel timing_model(const StreamOptions& options, const TimingProfile& profile) {
  const auto& classes = profile.classes;
  const auto found =
      options.rank_class.empty() ? classes.begin() : std::find(classes.begin(), classes.end(), options.rank_class);
  if (found == classes.end()) {
    std::string allowed;
    for (const std::string& name : classes) {
      allowed += (allowed.empty() ? "" : ", ") + name;
    }
    throw UserError("the timing profile has no such rank class", "--rank-class", options.rank_class, allowed);
  }
  const auto ranks = static_cast<std::size_t>(options.ranks);
  std::vector<std::uint32_t> nodes;
  if (options.persistent > 0) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back(rank / options.persistent);
  }
  return TimingModel(profile, std::vector<std::uint16_t>(ranks, static_cast<std::uint16_t>(found - classes.begin())),
                     options.seed, options.replica, options.constant, nodes, options.tail);
}

void stream(const StreamOptions& options) {
  const Parameters parameters = parameters_from_json(options.parameters, "--parameters");
  const std::unique_ptr<Application> application = make_application(options.app, parameters, options.ranks);
  sinks::Selection selection{.application = application.get(),
                             .size = options.ranks,
                             .ranks = {},
                             .lowered = options.lowered,
                             .collectives = collective_choice(options.collectives),
                             .ranks_per_node = options.ranks_per_node,
                             .timing = nullptr,
                             .work = {.copies = true},
                             .reduce_bandwidth_Bps = options.reduce_bandwidth_Bps,
                             .copy_bandwidth_Bps = options.copy_bandwidth_Bps,
                             .collective_call_s = options.collective_call_s,
                             .collective_step_s = options.collective_step_s};
  std::optional<TimingProfile> profile;
  std::optional<TimingModel> timing;
  if (!options.timing_profile.empty()) {
    profile = read_timing_profile(options.timing_profile, application->phases(), options.missing_is_zero);
    timing = timing_model(options, *profile);
    selection.timing = &*timing;
  }
  if (options.rank >= options.ranks) {
    throw UserError("no such rank", "--rank", std::to_string(options.rank),
                    "0 to " + std::to_string(options.ranks - 1));
  }
  if (options.rank >= 0) {
    selection.ranks = {options.rank};
  } else {
    selection.ranks.resize(static_cast<std::size_t>(options.ranks));
    std::iota(selection.ranks.begin(), selection.ranks.end(), 0);
  }

  std::ofstream file;
  if (!options.output.empty()) {
    file.open(options.output);
    if (!file) {
      throw UserError("cannot write the output", "--output", options.output, "", "check the directory");
    }
  }
  std::ostream& out = options.output.empty() ? std::cout : file;
  if (options.sink == "text") {
    sinks::print_text(selection, out);
  } else if (options.sink == "count") {
    sinks::print_count(selection, out);
  } else if (options.sink == "phases") {
    sinks::print_phases(selection, out);
  } else if (options.sink == "goal") {
    sinks::print_goal(selection, out);
  } else {
    throw UserError("unknown sink", "--sink", options.sink, "text, count, phases, goal");
  }
  if (!out.flush()) {
    throw std::runtime_error("the output could not be written completely");
  }
}

// Applications check their parameters when the shared object of all ranks is made.
void check(const std::string& app, const std::string& parameters, const std::vector<int>& ranks) {
  const Parameters given = parameters_from_json(parameters, "--parameters");
  for (const int size : ranks) {
    make_application(app, given, size);
    std::cout << size << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Lists skeletons and prints their operation streams.");
  program.require_subcommand(1);

  CLI::App* list_command = program.add_subcommand("list", "names of applications and collective algorithms");

  std::string described;
  CLI::App* describe_command = program.add_subcommand("describe", "an application's parameters, as JSON");
  describe_command->add_option("--app", described, "application")->required();

  std::string checked;
  std::string checked_parameters = "{}";
  std::vector<int> sizes;
  CLI::App* check_command = program.add_subcommand(
      "check", "whether an application takes its parameters; prints each number of ranks it fits");
  check_command->add_option("--app", checked, "application")->required();
  check_command->add_option("--parameters", checked_parameters, "JSON object; defaults for what it leaves out");
  check_command->add_option("--ranks", sizes, "numbers of ranks")->required();

  StreamOptions options;
  CLI::App* stream_command = program.add_subcommand("stream", "the operations of an application");
  stream_command->add_option("--app", options.app, "application")->required();
  stream_command->add_option("--ranks", options.ranks, "number of ranks")->required();
  stream_command->add_option("--rank", options.rank, "only this rank");
  stream_command->add_option("--parameters", options.parameters, "JSON object; defaults for what it leaves out");
  stream_command->add_option("--sink", options.sink, "text, count, phases or goal");
  stream_command->add_option("--collective", options.collectives,
                             "<collective>=<algorithm>, or rules=mpich|openmpi; may be repeated");
  stream_command->add_option("--output", options.output, "file in place of standard output");
  stream_command->add_option("--timing-profile", options.timing_profile, "goal: compute times; without, none");
  stream_command->add_option("--rank-class", options.rank_class, "goal: class of all ranks; the profile's first");
  stream_command->add_option("--seed", options.seed, "goal: of the draws");
  stream_command->add_option("--replica", options.replica, "goal: of the draws");
  stream_command->add_option("--persistent", options.persistent,
                             "goal: ranks and nodes keep their differences, with so many ranks on each node");
  stream_command->add_flag("--tail", options.tail, "goal: times beyond the samples, from the profile's tails");
  stream_command->add_flag("--constant", options.constant, "goal: means in place of draws");
  stream_command->add_flag("--missing-is-zero", options.missing_is_zero,
                           "goal: phases that the profile lacks take no time");
  stream_command
      ->add_option("--reduce-bandwidth", options.reduce_bandwidth_Bps, "goal: bytes per second that reductions combine")
      ->check(CLI::NonNegativeNumber);
  stream_command
      ->add_option("--copy-bandwidth", options.copy_bandwidth_Bps,
                   "goal: bytes per second that collectives copy; 0: copies take no time")
      ->check(CLI::NonNegativeNumber);
  stream_command
      ->add_option("--collective-call", options.collective_call_s, "goal: seconds of a rank at a collective's entry")
      ->check(CLI::NonNegativeNumber);
  stream_command
      ->add_option("--collective-step", options.collective_step_s, "goal: seconds of a rank after a collective's step")
      ->check(CLI::NonNegativeNumber);
  stream_command
      ->add_option("--ranks-per-node", options.ranks_per_node,
                   "for collectives in two levels: ranks of a node, in blocks")
      ->check(CLI::PositiveNumber);
  stream_command->add_flag("--lowered", options.lowered, "primitives in place of calls");

  try {
    program.parse(argc, argv);
    if (*list_command) {
      list();
    } else if (*describe_command) {
      sinks::print_description(described, std::cout);
    } else if (*check_command) {
      check(checked, checked_parameters, sizes);
    } else if (*stream_command) {
      stream(options);
    }
  } catch (const CLI::Success& request) {
    return program.exit(request);  // --help
  } catch (const CLI::ParseError& error) {
    print_error(std::cerr, UserError(error.what(), "command line", "", "", "manynode-skeleton --help"));
    return kExitUsage;
  } catch (const std::invalid_argument& error) {
    print_error(std::cerr, error);
    return kExitUsage;
  } catch (const std::exception& error) {
    print_error(std::cerr, error);
    return kExitFailed;
  }
  return 0;
}
