// The run file: a complete one is read, and errors name the file and what is wrong.
#include "run_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace manynode::node {
namespace {

using Json = nlohmann::json;

// Each number is different, so that no two can be exchanged.
Json complete() {
  return Json::parse(R"({
    "schema": "node-run/1", "ranks": 2, "threads": 3, "first_rank": 7, "directory": "/reports",
    "shared_memory": "/dev/shm/x", "shares": false,
    "last_level_of_slot": [0, 0, 0, 1, 1, 1], "domain_of_slot": [0, 1, 2, 3, 2, 1],
    "node": {
      "core": {"width": 5, "sustained_width": 4.25, "reorder_buffer": 300, "scheduler": 97, "load_queue": 59, "store_queue": 60, "integer_units": 3,
               "load_ports": 8, "store_ports": 9, "vector_load_ports": 6, "vector_store_ports": 7, "float_units": 10, "multiply_latency": 11, "divide_latency": 22,
               "divide_interval": 13, "float_latency": 14, "float_add_latency": 23, "float_divide_latency": 15, "float_divide_interval": 16,
               "frontend_depth": 17, "fetch_bits": 18, "vector_bytes": 64, "float_add_units": 20, "float_issue": 28.5, "transfer_latency": 2.5,
               "vector_load_latency": 6.5, "forward_latency": 0.5,
               "vector_forward_latency": 8.5, "predictor": "gshare"},
      "l1i": {"sets": 32, "ways": 18, "latency_cycles": 2.5, "line_interval": 1.25, "write_interval": 3.25, "line_fill": 0.25, "prefetcher": "next-line"},
      "l1d": {"sets": 64, "ways": 19, "latency_cycles": 5, "line_interval": 1.5, "write_interval": 3.5, "line_fill": 0.75, "prefetcher": "stride"},
      "l2": {"sets": 128, "ways": 20, "latency_cycles": 15.5, "line_interval": 2.25, "write_interval": 3.75, "line_fill": 0.5, "prefetcher": "stream"},
      "line_bits": 7, "fill_buffers": 12, "l2_fill_buffers": 48,
      "tlbs": {"page_bits": 16, "l1i": {"sets": 4, "ways": 1}, "l1d": {"sets": 8, "ways": 2},
               "l2": {"sets": 256, "ways": 6}, "l2_cycles": 7.5, "walk_cycles": 31},
      "last_level": {"sets": 1000, "ways": 21, "latency_cycles": 70, "line_interval": 4.5, "others": 0.375, "replacement": "random", "inclusion": "victim"},
      "memory": {"latency_cycles": 250, "remote_cycles": 350, "line_cycles": 1.75, "channels": 23,
                 "injection_to_last_level": true},
      "last_levels": 2, "domains": 4, "quantum_cycles": 3000, "seed": 99, "frames_by_hash": true
    }
  })");
}

class RunFiles : public ::testing::Test {
 protected:
  ~RunFiles() override { std::remove(path_.c_str()); }

  RunFile read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_run_file(path_);
  }
  RunFile read_json(const Json& json) { return read(json.dump()); }

  // What the error says; it must name the file.
  std::string error_of(const std::string& text) {
    try {
      read(text);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  void expect_error(const Json& json, const std::string& part) {
    const std::string error = error_of(json.dump());
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }

  const std::string path_ = ::testing::TempDir() + "node-run." + std::to_string(::getpid()) + "." +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(RunFiles, AreReadWhole) {
  const RunFile run = read_json(complete());
  EXPECT_FALSE(run.counts_only);
  EXPECT_FALSE(run.shares);
  EXPECT_EQ(run.ranks, 2u);
  EXPECT_EQ(run.threads, 3u);
  EXPECT_EQ(run.first_rank, 7u);
  EXPECT_EQ(run.directory, "/reports");
  EXPECT_EQ(run.shared_memory, "/dev/shm/x");
  EXPECT_EQ(run.last_level_of_slot, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(run.domain_of_slot, (std::vector<std::uint32_t>{0, 1, 2, 3, 2, 1}));
  const NodeSettings& node = run.node;
  EXPECT_EQ(node.slots, 6u);
  EXPECT_EQ(node.last_levels, 2u);
  EXPECT_EQ(node.domains, 4u);
  EXPECT_EQ(node.quantum_cycles, 3000u);
  EXPECT_EQ(node.seed, 99u);
  EXPECT_TRUE(node.frames_by_hash);
  EXPECT_EQ(node.line_bits, 7u);
  EXPECT_EQ(node.fill_buffers, 12u);
  EXPECT_EQ(node.l2_fill_buffers, 48u);
}

TEST_F(RunFiles, HaveTheCore) {
  const CoreSettings core = read_json(complete()).node.core;
  EXPECT_EQ(core.width, 5u);
  EXPECT_EQ(core.reorder_buffer, 300u);
  EXPECT_EQ(core.sustained_width, 4.25);
  EXPECT_EQ(core.scheduler, 97u);
  EXPECT_EQ(core.store_queue, 60u);
  EXPECT_EQ(core.integer_units, 3u);
  EXPECT_EQ(core.load_ports, 8u);
  EXPECT_EQ(core.store_ports, 9u);
  EXPECT_EQ(core.vector_load_ports, 6u);
  EXPECT_EQ(core.vector_store_ports, 7u);
  EXPECT_EQ(core.float_units, 10u);
  EXPECT_EQ(core.multiply_latency, 11u);
  EXPECT_EQ(core.divide_latency, 22u);
  EXPECT_EQ(core.divide_interval, 13u);
  EXPECT_EQ(core.float_latency, 14u);
  EXPECT_EQ(core.float_add_latency, 23u);
  EXPECT_EQ(core.float_divide_latency, 15u);
  EXPECT_EQ(core.float_divide_interval, 16u);
  EXPECT_EQ(core.frontend_depth, 17u);
  EXPECT_EQ(core.fetch_bits, 18u);
  EXPECT_EQ(core.load_queue, 59u);
  EXPECT_EQ(core.float_add_units, 20u);
  EXPECT_EQ(core.float_issue, 28.5);
  EXPECT_EQ(core.transfer_latency, 2.5);
  EXPECT_EQ(core.vector_load_latency, 6.5);
  EXPECT_EQ(core.forward_latency, 0.5);
  EXPECT_EQ(core.vector_forward_latency, 8.5);
  EXPECT_EQ(core.vector_bytes, 64u);
  EXPECT_EQ(core.predictor, Predictor::kGshare);
}

TEST_F(RunFiles, HaveCachesAndMemory) {
  const NodeSettings node = read_json(complete()).node;
  const auto expect_cache = [](const CacheSettings& cache, std::uint32_t sets, std::uint32_t ways, double latency,
                               Prefetch prefetch, double interval, double write, double fill) {
    EXPECT_EQ(cache.sets, sets);
    EXPECT_EQ(cache.ways, ways);
    EXPECT_EQ(cache.latency_cycles, latency);
    EXPECT_EQ(cache.prefetch, prefetch);
    EXPECT_EQ(cache.line_interval, interval);
    EXPECT_EQ(cache.write_interval, write);
    EXPECT_EQ(cache.line_fill, fill);
  };
  expect_cache(node.l1i, 32, 18, 2.5, Prefetch::kNextLine, 1.25, 3.25, 0.25);
  expect_cache(node.l1d, 64, 19, 5, Prefetch::kStride, 1.5, 3.5, 0.75);
  expect_cache(node.l2, 128, 20, 15.5, Prefetch::kStream, 2.25, 3.75, 0.5);
  EXPECT_TRUE(node.has_l2);
  EXPECT_EQ(node.last_level.sets, 1000u);
  EXPECT_EQ(node.last_level.ways, 21u);
  EXPECT_EQ(node.last_level.latency_cycles, 70);
  EXPECT_EQ(node.last_level.line_interval, 4.5);
  EXPECT_EQ(node.last_level.others, 0.375);
  EXPECT_EQ(node.last_level.replacement, Replacement::kRandom);
  EXPECT_EQ(node.last_level.inclusion, Inclusion::kVictim);
  EXPECT_EQ(node.memory.latency_cycles, 250);
  EXPECT_EQ(node.memory.remote_cycles, 350);
  EXPECT_EQ(node.memory.line_cycles, 1.75);
  EXPECT_EQ(node.memory.channels, 23u);
  EXPECT_TRUE(node.memory.injection_to_last_level);
}

TEST_F(RunFiles, HaveAReplacementPolicyByName) {
  Json json = complete();
  for (const auto& [name, policy] : {std::pair<const char*, Replacement>{"lru", Replacement::kLru},
                                     {"random", Replacement::kRandom},
                                     {"adaptive", Replacement::kAdaptive}}) {
    json["node"]["last_level"]["replacement"] = name;
    EXPECT_EQ(read_json(json).node.last_level.replacement, policy) << name;
  }
}

TEST_F(RunFiles, HaveTlbs) {
  const TranslationSettings tlbs = read_json(complete()).node.translation;
  EXPECT_TRUE(tlbs.present);
  EXPECT_EQ(tlbs.page_bits, 16u);
  EXPECT_EQ(tlbs.code.sets, 4u);
  EXPECT_EQ(tlbs.code.ways, 1u);
  EXPECT_EQ(tlbs.data.sets, 8u);
  EXPECT_EQ(tlbs.data.ways, 2u);
  EXPECT_EQ(tlbs.second.sets, 256u);
  EXPECT_EQ(tlbs.second.ways, 6u);
  EXPECT_EQ(tlbs.second_cycles, 7.5);
  EXPECT_EQ(tlbs.walk_cycles, 31);
}

TEST_F(RunFiles, MayHaveNoSecondLevelAndNoTlbs) {
  Json json = complete();
  json["node"]["l2"] = json["node"]["tlbs"] = nullptr;
  const RunFile run = read_json(json);
  EXPECT_FALSE(run.node.has_l2);
  EXPECT_FALSE(run.node.translation.present);
}

TEST_F(RunFiles, WithoutANodeOnlyCount) {
  const RunFile run = read(R"({"schema": "node-run/1", "ranks": 4, "threads": 1, "first_rank": 8,
                               "directory": "/reports", "node": null})");
  EXPECT_TRUE(run.counts_only);
  EXPECT_EQ(run.ranks, 4u);
  EXPECT_EQ(run.first_rank, 8u);
}

TEST_F(RunFiles, NameEachMissingKey) {
  const Json whole = complete();
  for (const auto& [place, object] : {std::pair<std::string, Json>{"", whole},
                                      {"/node", whole["node"]},
                                      {"/node/core", whole["node"]["core"]},
                                      {"/node/l1d", whole["node"]["l1d"]},
                                      {"/node/tlbs", whole["node"]["tlbs"]},
                                      {"/node/last_level", whole["node"]["last_level"]},
                                      {"/node/memory", whole["node"]["memory"]}}) {
    for (const auto& [key, value] : object.items()) {
      Json json = whole;
      json[Json::json_pointer(place)].erase(key);
      SCOPED_TRACE(place);
      expect_error(json, "'" + key + "'");
    }
  }
}

TEST_F(RunFiles, NameUnknownWords) {
  for (const char* place :
       {"/node/core/predictor", "/node/l2/prefetcher", "/node/last_level/replacement", "/node/last_level/inclusion"}) {
    Json json = complete();
    json[Json::json_pointer(place)] = "wonderful";
    expect_error(json, "unknown word 'wonderful'");
  }
}

TEST_F(RunFiles, OfAnotherSchemaOrWithWrongListsAreErrors) {
  Json json = complete();
  json["schema"] = "node-run/2";
  expect_error(json, "schema is not node-run/1");
  json = complete();
  json["domain_of_slot"].erase(0);
  expect_error(json, "one entry per rank and thread");
  EXPECT_NE(error_of("no json").find("parse error"), std::string::npos);
}

TEST_F(RunFiles, ThatDoNotExistAreErrors) {
  try {
    read_run_file("/does/not/exist.json");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "/does/not/exist.json cannot be read");
  }
}

}  // namespace
}  // namespace manynode::node
