#include "simulation.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include "archive.hpp"
#include "manynode/error_report.hpp"
#include "simgrid_run.hpp"
#include "simulation_error.hpp"

namespace manynode::smpi_engine {

namespace {

// Records on the pipe: kind, length, bytes.
enum class Record : std::uint8_t { Progress, Result, SimulationError, UserError, OtherError };

void write_all(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) std::_Exit(kExitFailed);  // the reader is gone
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void send(int file, Record kind, const std::string& bytes) {
  const std::uint64_t size = bytes.size();
  write_all(file, reinterpret_cast<const char*>(&kind), sizeof kind);
  write_all(file, reinterpret_cast<const char*>(&size), sizeof size);
  write_all(file, bytes.data(), bytes.size());
}

void send_error(int file, const std::exception& error) {
  Writer out;
  out(std::string(error.what()));
  if (const auto* simulation = dynamic_cast<const network::SimulationError*>(&error)) {
    out(simulation->details);
    out(simulation->remedy);
    send(file, Record::SimulationError, out.bytes());
  } else if (const auto* user = dynamic_cast<const UserError*>(&error)) {
    for (const auto& field : {user->where, user->found, user->allowed, user->remedy}) out(field);
    send(file, Record::UserError, out.bytes());
  } else {
    send(file, Record::OtherError, out.bytes());
  }
}

bool read_all(int file, char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t got = read(file, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

[[noreturn]] void throw_error(Record kind, const std::string& bytes) {
  Reader in(bytes);
  std::string what;
  in(what);
  if (kind == Record::SimulationError) {
    std::vector<std::string> details;
    std::string remedy;
    in(details);
    in(remedy);
    throw network::SimulationError(what, details, remedy);
  }
  if (kind == Record::UserError) {
    std::string where, found, allowed, remedy;
    in(where);
    in(found);
    in(allowed);
    in(remedy);
    throw UserError(what, where, found, allowed, remedy);
  }
  throw std::runtime_error(what);
}

std::vector<std::string> last_lines(std::FILE* file) {
  constexpr std::size_t kMost = 20;
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, got);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  if (lines.size() > kMost) lines.erase(lines.begin(), lines.end() - kMost);
  return lines;
}

// Runs in the child. SimGrid's output goes to `words`.
[[noreturn]] void simulate_here(const std::vector<network::Program>& programs, const network::RunConfig& config,
                                std::uint32_t replica, bool with_progress, int out, std::FILE* words) {
  dup2(fileno(words), STDOUT_FILENO);
  dup2(fileno(words), STDERR_FILENO);
  Outlet outlet;
  outlet.result = [out](const network::ReplicaResult& result) {
    Writer bytes;
    archive(bytes, result);
    send(out, Record::Result, bytes.bytes());
    std::_Exit(0);
  };
  outlet.error = [out](const std::exception& error) {
    send_error(out, error);
    std::_Exit(kExitFailed);
  };
  if (with_progress) {
    outlet.progress = [out](const network::ProgressReport& report) {
      Writer bytes;
      bytes(report);
      send(out, Record::Progress, bytes.bytes());
    };
  }
  try {
    run_simgrid(programs, config, replica, outlet);
    outlet.error(std::runtime_error("SimGrid ended before the ranks"));
  } catch (const std::exception& error) {
    outlet.error(error);
  }
  std::_Exit(kExitFailed);
}

}  // namespace

void check(const network::RunConfig& config) {
  const auto& host = config.network.host;
  if (host.rails > 1 && host.rail_choice != network::RailChoice::ByRank) {
    const char* found = host.rail_choice == network::RailChoice::Striped     ? "striped"
                        : host.rail_choice == network::RailChoice::ByMessage ? "by-message"
                                                                             : "by-direction";
    throw UserError("the engine simgrid gives each rank one NIC", "network.host.rail_choice", found, "by-rank",
                    "choose by-rank, or the engine fast");
  }
  for (const auto& part : host.message_latency) {
    if (part.seconds > 0 || part.seconds_per_byte > 0) {
      throw UserError("the engine simgrid gives messages of all sizes one latency", "network.host.message_latency",
                      "more than 0 ns", "0 ns", "leave it out, or choose the engine fast");
    }
  }
  if (config.network.topology->planes() > 1) {
    throw UserError("the engine simgrid cannot keep messages in the planes of a network", "network.topology.planes",
                    std::to_string(config.network.topology->planes()), "1: a message goes to the NIC of its receiver",
                    "choose the engine fast");
  }
  if (host.receive == network::Receive::OnArrival) {
    throw UserError("the engine simgrid has no processors that take messages in as they come", "network.host.receive",
                    "on-arrival", "in-call", "choose in-call, or the engine fast");
  }
  if (config.controls_injection()) {
    throw UserError("the engine simgrid has no injection control", "jobs[].injection", "static or aimd", "none",
                    "choose the engine fast, or leave injection out");
  }
  if (config.network.flow_control != network::FlowControl::None) {
    throw UserError("the engine simgrid shares links among flows and has no buffers that could be full",
                    "network.flow_control", "credits", "none", "choose none, or the engine fast or sst");
  }
}

network::ReplicaResult simulate_replica(const std::vector<network::Program>& programs, const network::RunConfig& config,
                                        std::uint32_t replica, const network::ProgressSink& progress) {
  check(config);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> words(std::tmpfile(), std::fclose);
  int ends[2];
  if (words == nullptr || pipe(ends) != 0) throw std::runtime_error("no pipe or temporary file for the simulation");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process for the simulation");
  if (child == 0) {
    close(ends[0]);
    simulate_here(programs, config, replica, static_cast<bool>(progress), ends[1], words.get());
  }
  close(ends[1]);
  Record kind{};
  std::string bytes;
  bool settled = false;
  while (!settled && read_all(ends[0], reinterpret_cast<char*>(&kind), sizeof kind)) {
    std::uint64_t size = 0;
    if (!read_all(ends[0], reinterpret_cast<char*>(&size), sizeof size)) break;
    bytes.resize(size);
    if (!read_all(ends[0], bytes.data(), size)) break;
    settled = kind != Record::Progress;
    if (settled) break;
    network::ProgressReport report;
    Reader in(bytes);
    in(report);
    progress(report);
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!settled) {
    throw network::SimulationError(
        "SimGrid ended without a result" +
            (WIFSIGNALED(status) ? " (signal " + std::to_string(WTERMSIG(status)) + ")" : std::string()),
        last_lines(words.get()), "signal 9 is often the system out of memory; else report this");
  }
  if (kind != Record::Result) throw_error(kind, bytes);
  network::ReplicaResult result;
  Reader in(bytes);
  archive(in, result);
  return result;
}

}  // namespace manynode::smpi_engine
