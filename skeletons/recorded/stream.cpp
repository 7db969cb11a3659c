// From JSON to a Stream. The file is written by manynode: what is wrong in it is damage, and is named as such.
#include "stream.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "manynode/json_text.hpp"

namespace manynode::recorded {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "recorded-stream/2";
constexpr const char* kRemedy = "delete the file; manynode makes it again of the marker files";

[[noreturn]] void refuse(const std::string& file, const std::string& found) {
  throw UserError("a recorded stream cannot be used", file, found, kSchema, kRemedy);
}

template <class T>
std::vector<T> list(const json& object, const char* name) {
  return object.value(name, std::vector<T>{});
}

RecordedCall read_call(const json& value, const std::string& file) {
  RecordedCall call;
  if (const auto name = value.find("call"); name != value.end()) {
    call.form = call_form(name->get<std::string>());
    if (!call.form) {
      throw UserError("skeletons do not have a call of the recording", file, name->get<std::string>(), "",
                      "a run without this call can be replayed");
    }
  }
  call.communicator = value.value("communicator", std::uint16_t{0});
  call.peer = value.value("peer", kNoPeer);
  call.source = value.value("source", kNoPeer);
  call.tag = value.value("tag", kAnyTag);
  call.receive_tag = value.value("receive_tag", kAnyTag);
  call.bytes = value.value("bytes", std::uint64_t{0});
  call.receive_bytes = value.value("receive_bytes", std::uint64_t{0});
  call.sent = list<std::uint64_t>(value, "sent");
  call.received = list<std::uint64_t>(value, "received");
  call.sources = list<int>(value, "sources");
  call.destinations = list<int>(value, "destinations");
  call.requests = list<std::uint32_t>(value, "requests");
  call.phases = list<std::uint32_t>(value, "phases");
  call.window = value.value("window", 0);
  call.group = list<int>(value, "group");
  return call;
}

void check(const Stream& stream, const std::string& file) {
  if (stream.ranks < 1 || stream.of_rank.size() != static_cast<std::size_t>(stream.ranks)) {
    refuse(file, std::to_string(stream.of_rank.size()) + " streams for " + std::to_string(stream.ranks) + " ranks");
  }
  for (const RecordedCall& call : stream.calls) {
    for (const std::uint32_t phase : call.phases) {
      if (phase >= stream.phases.size()) refuse(file, "phase " + std::to_string(phase));
    }
    if (call.communicator > stream.communicators.size()) {
      refuse(file, "communicator " + std::to_string(call.communicator));
    }
  }
  for (const auto& calls : stream.of_rank) {
    for (const std::uint32_t index : calls) {
      if (index >= stream.calls.size()) refuse(file, "call " + std::to_string(index));
    }
  }
}

}  // namespace

std::vector<const std::vector<int>*> Stream::groups_of(int rank) const {
  std::vector<const std::vector<int>*> found;
  for (const auto& groups : communicators) {
    const auto own = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& members) {
      return std::find(members.begin(), members.end(), rank) != members.end();
    });
    found.push_back(own == groups.end() ? nullptr : &*own);
  }
  return found;
}

Stream read_stream(const std::string& file) {
  std::ifstream in(file);
  if (!in) {
    throw UserError("a recorded stream cannot be read", "file", file.empty() ? "no file" : file, kSchema,
                    "give the folder of a recording as application: recorded");
  }
  Stream stream;
  try {
    const json document = parsed_json(in);
    if (document.value("schema", "") != kSchema) refuse(file, json_text(document.value("schema", json())));
    stream.ranks = document.at("ranks").get<int>();
    stream.digest = document.at("digest").get<std::string>();
    document.at("phases").get_to(stream.phases);
    document.at("communicators").get_to(stream.communicators);
    document.at("streams").get_to(stream.of_rank);
    for (const json& call : document.at("calls")) stream.calls.push_back(read_call(call, file));
  } catch (const json::exception& error) {
    refuse(file, error.what());
  }
  check(stream, file);
  return stream;
}

}  // namespace manynode::recorded
