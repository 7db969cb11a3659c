#include "parts.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "result_writer.hpp"

namespace manynode::sst_element {

namespace {

// A readable number; the first ranks usually show the cause.
constexpr std::size_t kMostUnfinished = 20;

nlohmann::ordered_json unfinished_entry(const RankProgram& program) {
  const RankProgram::Present present = program.present();
  return {{"job", program.job()},
          {"rank", program.rank()},
          {"operation", present.operation},
          {"peer", present.peer},
          {"tag", present.tag},
          {"bytes", present.bytes},
          {"since_s", network::to_seconds(present.since)}};
}

}  // namespace

std::string ranks_csv(const Programs& programs) {
  std::string text = "job,rank,operation,seconds,calls,bytes\n";
  for (const RankProgram* program : programs) {
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      const network::OperationUse& use = program->uses()[kind];
      if (use.calls == 0) continue;
      text += std::to_string(program->job()) + ',' + std::to_string(program->rank()) + ',';
      text += kCallNames[kind];
      text += ',' + network::shortest(network::to_seconds(use.time)) + ',' + std::to_string(use.calls) + ',' +
              std::to_string(use.bytes) + '\n';
    }
  }
  return text;
}

std::string part_json(const Programs& programs, const std::vector<std::vector<network::Picoseconds>>& iteration_ends,
                      const World& world) {
  struct Sum {
    std::uint32_t ranks{0};
    std::uint32_t finished{0};
    network::Picoseconds makespan{0};
    std::uint64_t messages{0};
    std::uint64_t bytes{0};
  };
  std::vector<Sum> sums(world.jobs());
  nlohmann::ordered_json unfinished = nlohmann::ordered_json::array();
  std::uint64_t unfinished_count = 0;
  for (const RankProgram* program : programs) {
    Sum& sum = sums[program->job()];
    ++sum.ranks;
    sum.finished += program->finished() ? 1 : 0;
    sum.makespan = std::max(sum.makespan, program->clock());
    sum.messages += program->messages();
    sum.bytes += program->bytes();
    if (program->finished() || world.job(program->job()).config->background) continue;
    ++unfinished_count;
    if (unfinished.size() < kMostUnfinished) unfinished.push_back(unfinished_entry(*program));
  }
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  for (std::size_t job = 0; job < sums.size(); ++job) {
    nlohmann::ordered_json ends = nlohmann::ordered_json::array();
    for (const auto end : iteration_ends[job]) ends.push_back(network::to_seconds(end));
    const Sum& sum = sums[job];
    jobs.push_back({{"job", job},
                    {"ranks", sum.ranks},
                    {"finished", sum.finished},
                    {"makespan_s", network::to_seconds(sum.makespan)},
                    {"iteration_end_s", ends},
                    {"messages", sum.messages},
                    {"bytes", sum.bytes}});
  }
  const nlohmann::ordered_json part = {
      {"jobs", jobs}, {"unfinished", unfinished}, {"unfinished_count", unfinished_count}};
  return part.dump() + "\n";
}

void write_file(const std::string& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  const std::filesystem::path temporary = std::filesystem::path(folder) / (name + ".part");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error) {
    throw UserError("the result cannot be written", path.string(), "", "a writable folder with free space",
                    "choose another folder");
  }
}

}  // namespace manynode::sst_element
