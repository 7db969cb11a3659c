#include "run_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace manynode::node {
namespace {

using Json = nlohmann::json;

template <typename Value>
Value named(const std::string& name, std::initializer_list<std::pair<const char*, Value>> known) {
  for (const auto& [word, value] : known) {
    if (name == word) return value;
  }
  throw std::runtime_error("unknown word '" + name + "'");
}

Prefetch prefetch(const Json& json) {
  return named<Prefetch>(json.at("prefetcher").get<std::string>(), {{"none", Prefetch::kNone},
                                                                    {"next-line", Prefetch::kNextLine},
                                                                    {"stride", Prefetch::kStride},
                                                                    {"stream", Prefetch::kStream}});
}

CacheSettings cache(const Json& json) {
  return {json.at("sets"),          json.at("ways"),           json.at("latency_cycles"), prefetch(json),
          json.at("line_interval"), json.at("write_interval"), json.at("line_fill")};
}

TlbSettings tlb(const Json& json) { return {json.at("sets"), json.at("ways")}; }

CoreSettings core(const Json& json) {
  CoreSettings to;
  for (const auto& [key, value] : {std::pair<const char*, std::uint32_t*>{"width", &to.width},
                                   {"reorder_buffer", &to.reorder_buffer},
                                   {"scheduler", &to.scheduler},
                                   {"load_queue", &to.load_queue},
                                   {"store_queue", &to.store_queue},
                                   {"integer_units", &to.integer_units},
                                   {"load_ports", &to.load_ports},
                                   {"store_ports", &to.store_ports},
                                   {"vector_load_ports", &to.vector_load_ports},
                                   {"vector_store_ports", &to.vector_store_ports},
                                   {"float_units", &to.float_units},
                                   {"float_add_units", &to.float_add_units},
                                   {"multiply_latency", &to.multiply_latency},
                                   {"divide_latency", &to.divide_latency},
                                   {"divide_interval", &to.divide_interval},
                                   {"float_latency", &to.float_latency},
                                   {"float_add_latency", &to.float_add_latency},
                                   {"float_divide_latency", &to.float_divide_latency},
                                   {"float_divide_interval", &to.float_divide_interval},
                                   {"frontend_depth", &to.frontend_depth},
                                   {"fetch_bits", &to.fetch_bits},
                                   {"vector_bytes", &to.vector_bytes}}) {
    json.at(key).get_to(*value);
  }
  json.at("sustained_width").get_to(to.sustained_width);
  json.at("float_issue").get_to(to.float_issue);
  json.at("transfer_latency").get_to(to.transfer_latency);
  json.at("vector_load_latency").get_to(to.vector_load_latency);
  json.at("forward_latency").get_to(to.forward_latency);
  json.at("vector_forward_latency").get_to(to.vector_forward_latency);
  to.predictor = named<Predictor>(json.at("predictor").get<std::string>(),
                                  {{"gshare", Predictor::kGshare}, {"tage", Predictor::kTage}});
  return to;
}

TranslationSettings translation(const Json& json) {
  TranslationSettings to;
  if (json.is_null()) return to;
  to.present = true;
  json.at("page_bits").get_to(to.page_bits);
  to.code = tlb(json.at("l1i"));
  to.data = tlb(json.at("l1d"));
  to.second = tlb(json.at("l2"));
  json.at("l2_cycles").get_to(to.second_cycles);
  json.at("walk_cycles").get_to(to.walk_cycles);
  return to;
}

LastLevelSettings last_level(const Json& json) {
  LastLevelSettings to;
  json.at("sets").get_to(to.sets);
  json.at("ways").get_to(to.ways);
  json.at("latency_cycles").get_to(to.latency_cycles);
  json.at("line_interval").get_to(to.line_interval);
  json.at("others").get_to(to.others);
  to.replacement = named<Replacement>(
      json.at("replacement").get<std::string>(),
      {{"lru", Replacement::kLru}, {"random", Replacement::kRandom}, {"adaptive", Replacement::kAdaptive}});
  to.inclusion = named<Inclusion>(
      json.at("inclusion").get<std::string>(),
      {{"inclusive", Inclusion::kInclusive}, {"victim", Inclusion::kVictim}, {"neither", Inclusion::kNeither}});
  return to;
}

MemorySettings memory(const Json& json) {
  return {json.at("latency_cycles"), json.at("remote_cycles"), json.at("line_cycles"), json.at("channels"),
          json.at("injection_to_last_level")};
}

NodeSettings node(const Json& json) {
  NodeSettings to;
  to.core = core(json.at("core"));
  to.l1i = cache(json.at("l1i"));
  to.l1d = cache(json.at("l1d"));
  to.has_l2 = !json.at("l2").is_null();
  if (to.has_l2) to.l2 = cache(json.at("l2"));
  json.at("line_bits").get_to(to.line_bits);
  json.at("fill_buffers").get_to(to.fill_buffers);
  json.at("l2_fill_buffers").get_to(to.l2_fill_buffers);
  to.translation = translation(json.at("tlbs"));
  to.last_level = last_level(json.at("last_level"));
  to.memory = memory(json.at("memory"));
  json.at("last_levels").get_to(to.last_levels);
  json.at("domains").get_to(to.domains);
  json.at("quantum_cycles").get_to(to.quantum_cycles);
  json.at("seed").get_to(to.seed);
  json.at("frames_by_hash").get_to(to.frames_by_hash);
  return to;
}

}  // namespace

RunFile read_run_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  try {
    const Json json = Json::parse(file);
    if (json.at("schema") != "node-run/1") throw std::runtime_error("schema is not node-run/1");
    RunFile to;
    json.at("ranks").get_to(to.ranks);
    json.at("threads").get_to(to.threads);
    json.at("first_rank").get_to(to.first_rank);
    json.at("directory").get_to(to.directory);
    to.counts_only = json.at("node").is_null();
    if (to.counts_only) return to;
    to.node = node(json.at("node"));
    to.node.slots = to.ranks * to.threads;
    json.at("shares").get_to(to.shares);
    json.at("shared_memory").get_to(to.shared_memory);
    json.at("last_level_of_slot").get_to(to.last_level_of_slot);
    json.at("domain_of_slot").get_to(to.domain_of_slot);
    if (to.last_level_of_slot.size() != to.node.slots || to.domain_of_slot.size() != to.node.slots) {
      throw std::runtime_error("last_level_of_slot and domain_of_slot need one entry per rank and thread");
    }
    return to;
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace manynode::node
