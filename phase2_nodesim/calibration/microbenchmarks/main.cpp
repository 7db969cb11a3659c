// Runs microbenchmarks: manynode-microbenchmarks [--rounds N] NAME [KEY=VALUE]... [NAME [KEY=VALUE]...]...
//
// `--list` names them all, `--processor` prints what the processor says of itself. Each run of a task prints one line
// of JSON: round, label, workers, operations of one worker, seconds of the slowest one, memory in large pages where
// they were asked for. The last line is the checksum, which does not depend on the host.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "manynode/error_report.hpp"
#include "processor.hpp"
#include "tasks.hpp"
#include "workers.hpp"

namespace {

using namespace manynode;
using namespace manynode::calibration;

constexpr long kMostRounds = 1000;
// Sums of at most that many numbers below 2^32 are exact in the printed checksum.
constexpr std::uint64_t kCheckBits = 0xffffffff;

std::uint64_t run(const Task& task, long round) {
  std::uint64_t check = 0;
  with_workers(task.workers, task.label, [&](const Worker& worker) {
    const Measured measured = task.benchmark->run(task.values, worker);
    const double seconds = largest(measured.seconds, worker);
    if (worker.index == 0) {
      check = measured.check & kCheckBits;
      std::printf("{\"round\": %ld, \"label\": \"%s\", \"workers\": %d, \"operations\": %" PRId64
                  ", \"seconds\": %.9e, \"large_page_bytes\": %" PRId64 "}\n",
                  round, task.label.c_str(), worker.count, measured.operations, seconds, measured.large_page_bytes);
      std::fflush(stdout);
    }
  });
  return check;
}

long rounds_of(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "--rounds") {
    return 1;
  }
  const std::string text = words.size() > 1 ? words[1] : "";
  char* end = nullptr;
  const long rounds = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || rounds < 1 || rounds > kMostRounds) {
    throw UserError("the number of rounds is not allowed", "--rounds", text, "1 to " + std::to_string(kMostRounds));
  }
  words.erase(words.begin(), words.begin() + 2);
  return rounds;
}

int run_all(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--list" || words[0] == "--help") {
    if (reports()) {
      std::fputs(description().c_str(), stdout);
    }
    return 0;
  }
  if (words[0] == "--processor") {
    if (reports()) {
      std::fputs(processor_line().c_str(), stdout);
    }
    return 0;
  }
  const long rounds = rounds_of(words);
  const std::vector<Task> tasks = tasks_of(words);
  std::uint64_t check = 0;
  for (long round = 0; round < rounds; ++round) {
    for (const Task& task : tasks) {
      check += run(task, round);
    }
  }
  if (reports()) {
    std::printf("checksum: %" PRIu64 "\n", check);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  workers_begin(&argc, &argv);
  int code = 0;
  try {
    code = run_all({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    if (reports()) {
      std::fputs(error_line(error).c_str(), stderr);
    }
    code = kExitUsage;
  }
  workers_end();
  return code;
}
