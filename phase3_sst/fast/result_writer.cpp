#include "result_writer.hpp"

#include <charconv>

#include "manynode/error_report.hpp"

namespace manynode::fast {

std::string shortest(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

namespace {

std::string seconds(Picoseconds time) { return shortest(to_seconds(time)); }

}  // namespace

ResultWriter::ResultWriter(std::filesystem::path directory, std::string version)
    : directory_(std::move(directory)), version_(std::move(version)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  // A result of an earlier run must not stand beside the tables of this one.
  std::filesystem::remove(directory_ / "result.json", error);
  open(ranks_);
  open(links_);
  ranks_.stream << "replica,rank,operation,seconds,calls,bytes\n";
  links_.stream << "replica,link,class,source,target,bytes,busy_s,stall_s\n";
}

void ResultWriter::refuse(const std::string& name) const {
  throw UserError("the result cannot be written", temporary(name).string(), "", "a writable directory with free space",
                  "choose another --output");
}

void ResultWriter::open(File& file) {
  file.stream.open(temporary(file.name), std::ios::binary | std::ios::trunc);
  if (!file.stream) refuse(file.name);
}

void ResultWriter::close(File& file) {
  file.stream.close();
  if (!file.stream) refuse(file.name);
  std::error_code error;
  std::filesystem::rename(temporary(file.name), directory_ / file.name, error);
  if (error) refuse(file.name);
}

void ResultWriter::add(const ReplicaResult& result, const Topology& topology) {
  const std::string replica = std::to_string(result.replica);
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      const OperationUse& use = result.ranks[rank][kind];
      if (use.calls == 0) continue;
      ranks_.stream << replica << ',' << rank << ',' << kCallNames[kind] << ',' << seconds(use.time) << ',' << use.calls
                    << ',' << use.bytes << '\n';
    }
  }
  const std::vector<std::string> classes = topology.link_classes();
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    const LinkUse& use = result.links[link];
    if (use.bytes == 0) continue;
    const LinkDescription description = topology.describe(static_cast<LinkId>(link));
    const std::string& name = classes[topology.link_class(static_cast<LinkId>(link))];
    links_.stream << replica << ',' << link << ',' << name << ',' << description.source << ','
                  << description.target << ',' << use.bytes << ',' << seconds(use.busy) << ',' << seconds(use.stall)
                  << '\n';
  }

  std::string object =
      "{\"replica\":" + replica + ",\"makespan_s\":" + seconds(result.makespan) + ",\"iteration_end_s\":[";
  for (std::size_t step = 0; step < result.iteration_end.size(); ++step) {
    if (step > 0) object += ",";
    object += seconds(result.iteration_end[step]);
  }
  object += "],\"messages\":" + std::to_string(result.messages) + ",\"bytes\":" + std::to_string(result.bytes) +
            ",\"events\":" + std::to_string(result.events) + "}";
  replicas_.push_back(std::move(object));
}

void ResultWriter::finish() {
  close(ranks_);
  close(links_);
  File result{"result.json", {}};
  open(result);
  result.stream << "{\"schema\":\"network-result/1\",\"engine\":{\"name\":\"fast\",\"version\":\"" << version_
                << "\"},\"replicas\":[";
  for (std::size_t i = 0; i < replicas_.size(); ++i) result.stream << (i == 0 ? "\n" : ",\n") << replicas_[i];
  result.stream << "\n]}\n";
  close(result);
}

}  // namespace manynode::fast
