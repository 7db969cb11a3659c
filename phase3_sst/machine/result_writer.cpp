#include "result_writer.hpp"

#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"

namespace manynode::network {

std::string shortest(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

namespace {

std::string seconds(Picoseconds time) { return shortest(to_seconds(time)); }
std::string seconds(TimeSum time) { return shortest(sum_to_seconds(time)); }

}  // namespace

ResultWriter::ResultWriter(std::filesystem::path directory, EngineName engine, const RunConfig& config)
    : directory_(std::move(directory)),
      engine_(std::move(engine)),
      config_(config),
      classes_(config.network.topology->link_classes()) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  // An earlier run's result must not be mixed with this run's tables.
  std::filesystem::remove(directory_ / "result.json", error);
  std::filesystem::remove(directory_ / series_.name, error);
  std::filesystem::remove(directory_ / injection_.name, error);
  open(ranks_, "replica,job,rank,operation,seconds,calls,bytes\n");
  open(links_,
       "replica,link,class,source,target,bytes,chunks,busy_s,stall_s,credit_stall_s,inq_stall_s,queue_max_bytes\n");
  open(link_jobs_, "replica,job,class,bytes,chunks,busy_s,stall_s\n");
  if (config_.counters) {
    open(series_, "replica,start_s,end_s,class,link,bytes,busy_s,stall_s,credit_stall_s,inq_stall_s,queue_bytes\n");
  }
  if (config_.controls_injection()) {
    open(injection_, "replica,job,nic,bytes,held_bytes,held_s,rate_mean_Bps,rate_least_Bps\n");
  }
}

void ResultWriter::refuse(const std::string& name) const {
  throw UserError("the result cannot be written", temporary(name).string(), "", "a writable directory with free space",
                  "choose another --output");
}

void ResultWriter::open(File& file, const std::string& columns) {
  file.stream.open(temporary(file.name), std::ios::binary | std::ios::trunc);
  if (!file.stream) refuse(file.name);
  file.stream << columns;
}

void ResultWriter::close(File& file) {
  file.stream.close();
  if (!file.stream) refuse(file.name);
  std::error_code error;
  std::filesystem::rename(temporary(file.name), directory_ / file.name, error);
  if (error) refuse(file.name);
}

void ResultWriter::add_ranks(const ReplicaResult& result) {
  for (std::size_t job = 0; job < result.jobs.size(); ++job) {
    const auto& ranks = result.jobs[job].ranks;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
        const OperationUse& use = ranks[rank][kind];
        if (use.calls == 0) continue;
        ranks_.stream << result.replica << ',' << job << ',' << rank << ',' << kCallNames[kind] << ','
                      << seconds(use.time) << ',' << use.calls << ',' << use.bytes << '\n';
      }
    }
  }
}

void ResultWriter::add_links(const ReplicaResult& result) {
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    const LinkUse& use = result.links[link];
    const LinkStalls stalls = result.stalls.empty() ? LinkStalls{} : result.stalls[link];
    if (use.bytes == 0 && stalls.credit == 0 && stalls.inq == 0) continue;
    const LinkDescription ends = config_.network.topology->describe(static_cast<LinkId>(link));
    links_.stream << result.replica << ',' << link << ',' << classes_[use.link_class] << ',' << ends.source << ','
                  << ends.target << ',' << use.bytes << ',' << use.chunks << ',' << seconds(use.busy) << ','
                  << seconds(use.stall) << ',' << seconds(stalls.credit) << ',' << seconds(stalls.inq) << ','
                  << shortest(std::round(result.queue_max_bytes[link])) << '\n';
  }
  for (std::size_t i = 0; i < result.class_uses.size(); ++i) {
    const ClassUse& use = result.class_uses[i];
    if (use.chunks == 0) continue;
    link_jobs_.stream << result.replica << ',' << i / classes_.size() << ',' << classes_[i % classes_.size()] << ','
                      << use.bytes << ',' << use.chunks << ',' << seconds(use.busy) << ',' << seconds(use.stall)
                      << '\n';
  }
}

void ResultWriter::add_series(const ReplicaResult& result) {
  for (const SeriesRow& row : result.series) {
    series_.stream << result.replica << ',' << seconds(row.start) << ',' << seconds(row.end) << ','
                   << classes_[row.link_class] << ',' << (row.link == kAllLinks ? "" : std::to_string(row.link)) << ','
                   << row.bytes << ',' << seconds(row.busy) << ',' << seconds(row.stall) << ','
                   << seconds(row.stalls.credit) << ',' << seconds(row.stalls.inq) << ','
                   << shortest(std::round(row.queue_bytes)) << '\n';
  }
}

void ResultWriter::add_injection(const ReplicaResult& result) {
  for (const InjectionUse& use : result.injection) {
    injection_.stream << result.replica << ',' << use.job << ',' << use.nic << ',' << use.bytes << ',' << use.held_bytes
                      << ',' << seconds(use.held) << ',' << shortest(use.rate_mean_Bps) << ','
                      << shortest(use.rate_least_Bps) << '\n';
  }
}

void ResultWriter::add(const ReplicaResult& result) {
  add_ranks(result);
  add_links(result);
  if (config_.counters) add_series(result);
  if (config_.controls_injection()) add_injection(result);

  std::string jobs;
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const JobResult& job = result.jobs[i];
    std::string ends;
    for (const Picoseconds end : job.iteration_end) ends += (ends.empty() ? "" : ",") + seconds(end);
    jobs += std::string(i == 0 ? "" : ",") + "\n  {\"name\":" + nlohmann::json(config_.jobs[i].name).dump() +
            ",\"background\":" + (config_.jobs[i].background ? "true" : "false") +
            ",\"makespan_s\":" + seconds(job.makespan) + ",\"iteration_end_s\":[" + ends +
            "],\"messages\":" + std::to_string(job.messages) + ",\"bytes\":" + std::to_string(job.bytes) + "}";
  }
  replicas_.push_back("{\"replica\":" + std::to_string(result.replica) + ",\"makespan_s\":" + seconds(result.makespan) +
                      ",\"messages\":" + std::to_string(result.messages()) +
                      ",\"bytes\":" + std::to_string(result.bytes()) + ",\"events\":" + std::to_string(result.events) +
                      ",\"jobs\":[" + jobs + "]}");
}

void ResultWriter::finish() {
  close(ranks_);
  close(links_);
  close(link_jobs_);
  if (config_.counters) close(series_);
  if (config_.controls_injection()) close(injection_);
  File result{"result.json", {}};
  open(result, "");
  result.stream << "{\"schema\":\"network-result/2\",\"engine\":{\"name\":\"" << engine_.name << "\",\"version\":\""
                << engine_.version << "\"},\"replicas\":[";
  for (std::size_t i = 0; i < replicas_.size(); ++i) result.stream << (i == 0 ? "\n" : ",\n") << replicas_[i];
  result.stream << "\n]}\n";
  close(result);
}

}  // namespace manynode::network
