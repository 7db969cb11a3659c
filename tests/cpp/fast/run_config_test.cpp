// A case per mistake in a run file.
#include "run_config.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "sim_time.hpp"

namespace manynode::network {
namespace {

using nlohmann::json;

json good() {
  return json::parse(R"({"schema":"network-run/2","jobs":[{"application":{"name":"hpcg","parameters":{"nx":16}},
    "nodes":4,"ranks_per_node":2,"timing_profile":null,"missing_is_zero":true,"constant":false,"iterations_limit":null}],
    "network":{"topology":{"kind":"fat-tree","children":[2,2],"parents":[1,2],"parallel_links":[1,1]},
      "link":{"bandwidth_Bps":1.25e10,"latency_s":9e-8},"switch_latency_s":1e-7,"chunk_bytes":2048,
      "host":{"overhead_send":[{"from_bytes":0,"seconds":3e-7,"seconds_per_byte":0}],
        "overhead_recv":[{"from_bytes":0,"seconds":3e-7,"seconds_per_byte":0}],"gap_s":0,
        "eager_limit_bytes":16384,"nic_bandwidth_Bps":1.25e10,"nic_latency_s":1e-7,"reduce_bandwidth_Bps":5e9},
      "intranode":{"latency_s":4e-7,"bandwidth_Bps":8e9}},
    "collectives":{"allreduce":"ring"},"seed":7,"replicas":[0,1,2]})");
}

// The place that the error names when `change` spoils a good file.
std::string place(const std::function<void(json&)>& change) {
  json file = good();
  change(file);
  try {
    parse_run_config(file.dump());
  } catch (const UserError& error) {
    EXPECT_FALSE(error.remedy.empty());
    return error.where;
  }
  return "no error";
}

TEST(RunConfig, ReadsAGoodFile) {
  const RunConfig config = parse_run_config(good().dump());
  EXPECT_EQ(config.ranks(), 8u);
  EXPECT_EQ(config.jobs[0].parameters.integer("nx", 1), 16);
  EXPECT_EQ(config.collectives.allreduce, "ring");
  EXPECT_EQ(config.collectives.bcast, "auto");
  EXPECT_EQ(config.replicas.size(), 3u);
  EXPECT_EQ(config.seed, 7u);
  EXPECT_FALSE(config.jobs[0].timing_profile.has_value());
  EXPECT_FALSE(config.jobs[0].iterations_limit.has_value());
  EXPECT_EQ(config.network.topology->hosts(), 4u);
}

// Quantities that no run could get to the end with.
TEST(RunConfig, TimesAndRatesBeyondSimulatedTimeAreRefusedByName) {
  const auto with = [](const std::string& pointer, double value) {
    return place([&](json& f) { f[json::json_pointer(pointer)] = value; });
  };
  const double most = kLongestStep_s;
  for (const double seconds : {1e7, 1e300, most * 1.001, -1e-9}) {
    EXPECT_EQ(with("/network/link/latency_s", seconds), "network.link.latency_s");
    EXPECT_EQ(with("/network/switch_latency_s", seconds), "network.switch_latency_s");
    EXPECT_EQ(with("/network/host/gap_s", seconds), "network.host.gap_s");
    EXPECT_EQ(with("/network/host/nic_latency_s", seconds), "network.host.nic_latency_s");
    EXPECT_EQ(with("/network/host/collective_call_s", seconds), "network.host.collective_call_s");
    EXPECT_EQ(with("/network/host/collective_step_s", seconds), "network.host.collective_step_s");
    EXPECT_EQ(with("/network/intranode/latency_s", seconds), "network.intranode.latency_s");
    EXPECT_EQ(with("/network/host/overhead_send/0/seconds", seconds), "network.host.overhead_send[0].seconds");
    EXPECT_EQ(with("/network/host/overhead_recv/0/seconds_per_byte", seconds),
              "network.host.overhead_recv[0].seconds_per_byte");
  }
  for (const double rate : {1e-20, 1e-9, 0.0, 1e300}) {
    EXPECT_EQ(with("/network/link/bandwidth_Bps", rate), "network.link.bandwidth_Bps");
    EXPECT_EQ(with("/network/host/nic_bandwidth_Bps", rate), "network.host.nic_bandwidth_Bps");
    EXPECT_EQ(with("/network/host/reduce_bandwidth_Bps", rate), "network.host.reduce_bandwidth_Bps");
    EXPECT_EQ(with("/network/host/copy_bandwidth_Bps", rate), "network.host.copy_bandwidth_Bps");
    EXPECT_EQ(with("/network/host/fresh_bandwidth_Bps", rate), "network.host.fresh_bandwidth_Bps");
    EXPECT_EQ(with("/network/intranode/bandwidth_Bps", rate), "network.intranode.bandwidth_Bps");
  }
  EXPECT_EQ(with("/jobs/0/start_s", 1e300), "jobs[0].start_s");
  EXPECT_EQ(with("/jobs/0/start_s", 1e6), "no error");
  EXPECT_EQ(with("/network/chunk_bytes", 1e10), "network.chunk_bytes");
  EXPECT_EQ(place([](json& f) { f["counters"] = {{"per", "class"}, {"interval_s", 1e300}}; }), "counters.interval_s");
}

TEST(RunConfig, ARateOfTheProcessorIsANumberOrGrowingSegments) {
  const auto host_with = [](const char* key, const json& value) {
    json file = good();
    file["network"]["host"][key] = value;
    return parse_run_config(file.dump()).network.host;
  };
  const json segments = {{{"from_bytes", 0}, {"bandwidth_Bps", 2e10}}, {{"from_bytes", 1024}, {"bandwidth_Bps", 6e9}}};
  const HostConfig host = host_with("reduce_bandwidth_Bps", segments);
  EXPECT_EQ(host.reduce_bandwidth_Bps.of(1023), 2e10);
  EXPECT_EQ(host.reduce_bandwidth_Bps.of(1024), 6e9);
  EXPECT_EQ(host.reduce_bandwidth_Bps.time(2048), std::llrint(2048 / 6e9 * 1e12));
  EXPECT_FALSE(host.copy_bandwidth_Bps) << "copies take no time by default";
  EXPECT_EQ(host_with("copy_bandwidth_Bps", 4e9).copy_bandwidth_Bps->of(1 << 30), 4e9);
  EXPECT_FALSE(host_with("copy_bandwidth_Bps", nullptr).copy_bandwidth_Bps);
  EXPECT_FALSE(host.fresh_bandwidth_Bps);
  EXPECT_EQ(host_with("fresh_bandwidth_Bps", segments).fresh_bandwidth_Bps->of(1024), 6e9);
  for (const char* key : {"reduce_bandwidth_Bps", "copy_bandwidth_Bps", "fresh_bandwidth_Bps"}) {
    const std::string place_of_key = std::string("network.host.") + key;
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = json::array(); }), place_of_key);
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = "fast"; }), place_of_key);
    json wrong = segments;
    wrong[0]["from_bytes"] = 1;
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = wrong; }), place_of_key + "[0].from_bytes");
    wrong = segments;
    wrong[1]["from_bytes"] = 0;
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = wrong; }), place_of_key + "[1].from_bytes");
    wrong = segments;
    wrong[1]["bandwidth_Bps"] = 0;
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = wrong; }), place_of_key + "[1].bandwidth_Bps");
    wrong = segments;
    wrong[1]["seconds"] = 1;
    EXPECT_EQ(place([&](json& f) { f["network"]["host"][key] = wrong; }), place_of_key + "[1].seconds");
  }
}

TEST(RunConfig, AShareThatLeavesALinkWithNextToNothingIsRefused) {
  const json cable = {{"between", {"host-0", "leaf-0"}}, {"bandwidth_share", 1e-300}};
  EXPECT_EQ(place([&](json& f) { f["network"]["slow_links"] = json::array({cable}); }),
            "network.slow_links[0].bandwidth_share");
}

TEST(RunConfig, BuffersThatFollowFromTimesBeyondReasonAreRefused) {
  EXPECT_EQ(place([](json& f) {
              f["network"]["flow_control"] = "credits";
              f["network"]["link"] = {{"bandwidth_Bps", 1e15}, {"latency_s", 1e4}};
            }),
            "network.input_buffer_bytes");
}

// manynode/seeds.py derives seeds of all 64 bits.
TEST(RunConfig, SeedsHave64Bits) {
  json file = good();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 63, UINT64_MAX}) {
    file["seed"] = seed;
    EXPECT_EQ(parse_run_config(file.dump()).seed, seed);
  }
  EXPECT_EQ(place([](json& f) { f["seed"] = 1.5; }), "seed");
}

TEST(RunConfig, SlowLinks) {
  const auto place_with = [](const json& cable) {
    return place([&](json& f) { f["network"]["slow_links"] = json::array({cable}); });
  };
  const json cable = {{"between", {"host-0", "leaf-0"}}, {"bandwidth_share", 0.5}};
  json file = good();
  file["network"]["slow_links"] = json::array({cable});
  const RunConfig config = parse_run_config(file.dump());
  EXPECT_EQ(config.network.link_of_class("host-up-slow0").bandwidth_Bps, 6.25e9);
  EXPECT_EQ(config.network.topology->link_classes().size(), 6u);
  const auto changed = [&](const char* key, const json& value) {
    json other = cable;
    other[key] = value;
    return place_with(other);
  };
  EXPECT_EQ(changed("bandwidth_share", 1.5), "network.slow_links[0].bandwidth_share");
  EXPECT_EQ(changed("bandwidth_share", 0), "network.slow_links[0].bandwidth_share");
  EXPECT_EQ(changed("between", json::array({"host-0"})), "network.slow_links[0].between");
  EXPECT_EQ(changed("between", json::array({"host-0", "leaf-9"})), "network.slow_links");
  EXPECT_EQ(changed("factor", 2), "network.slow_links[0].factor");
}

TEST(RunConfig, BuffersHaveRoomForAChunk) {
  const auto place_with = [](const char* key, const json& value) {
    return place([&](json& f) {
      f["network"]["flow_control"] = "credits";
      f["network"][key] = value;
    });
  };
  EXPECT_EQ(place_with("input_buffer_bytes", 2047), "network.input_buffer_bytes");
  EXPECT_EQ(place_with("output_buffer_bytes", 2047), "network.output_buffer_bytes");
  EXPECT_EQ(place_with("input_buffer_bytes", 2048), "no error");
  EXPECT_EQ(place_with("contention", false), "network.flow_control");
  EXPECT_EQ(place([](json& f) {
              f["network"]["flow_control"] = "credits";
              f["network"]["host"]["receive"] = "on-arrival";
            }),
            "network.flow_control");
}

TEST(RunConfig, AMessageHasAtMost128Chunks) {
  const auto place_with = [](const json& most) { return place([&](json& f) { f["network"]["most_chunks"] = most; }); };
  EXPECT_EQ(place_with(0), "network.most_chunks");
  EXPECT_EQ(place_with(129), "network.most_chunks");
  json file = good();
  EXPECT_EQ(parse_run_config(file.dump()).network.most_chunks, 64u);
  file["network"]["most_chunks"] = 128;
  EXPECT_EQ(parse_run_config(file.dump()).network.most_chunks, 128u);
}

TEST(RunConfig, BuffersAreThoseOfTheEngineSst) {
  // tests/unit/phase3/test_sst_machine_parameters.py has the same figures.
  json file = good();
  EXPECT_EQ(parse_run_config(file.dump()).network.buffers().input_bytes, (5 + 128) * 2048u);
  file["network"]["link_classes"] = {{"leaf-up", {{"bandwidth_Bps", 5e10}, {"latency_s", 9e-8}}},
                                     {"leaf-down", {{"bandwidth_Bps", 5e10}, {"latency_s", 9e-8}}}};
  EXPECT_EQ(parse_run_config(file.dump()).network.buffers().output_bytes, (19 + 128) * 2048u);
  file["network"]["input_buffer_bytes"] = 65536;
  EXPECT_EQ(parse_run_config(file.dump()).network.buffers().input_bytes, 65536u);
}

TEST(RunConfig, NamesThePlaceOfEachMistake) {
  EXPECT_EQ(place([](json& f) { f["schema"] = "network-run/1"; }), "schema");
  EXPECT_EQ(place([](json& f) { f["nods"] = 4; }), "nods");
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["gap"] = 0; }), "network.host.gap");
  EXPECT_EQ(place([](json& f) { f["network"]["link"]["bandwidth_Bps"] = 0; }), "network.link.bandwidth_Bps");
  EXPECT_EQ(place([](json& f) { f["network"]["link"]["latency_s"] = -1e-9; }), "network.link.latency_s");
  EXPECT_EQ(place([](json& f) { f["network"]["host"].erase("gap_s"); }), "network.host.gap_s");
  EXPECT_EQ(place([](json& f) { f["network"]["intranode"] = 3; }), "network.intranode");
  EXPECT_EQ(place([](json& f) { f["network"]["topology"]["kind"] = "mobius"; }), "network.topology.kind");
  EXPECT_EQ(place([](json& f) { f["network"]["topology"]["children"] = {2, 0}; }), "network.topology.children");
  EXPECT_EQ(place([](json& f) { f["network"]["topology"]["children"] = {2}; }), "network.topology");
  EXPECT_EQ(place([](json& f) { f["network"]["topology"]["taper"] = 2; }), "network.topology.taper");
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["rails"] = 3; }), "network.host.rails");  // 4 hosts
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["rail_choice"] = "any"; }), "network.host.rail_choice");
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["receive"] = "later"; }), "network.host.receive");
  EXPECT_EQ(place([](json& f) { f["network"]["contention"] = 1; }), "network.contention");
  EXPECT_EQ(place([](json& f) { f["network"]["flow_control"] = "pause"; }), "network.flow_control");
  EXPECT_EQ(place([](json& f) { f["network"]["link_classes"]["spine"]["latency_s"] = 1e-7; }),
            "network.link_classes.spine");
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["overhead_send"] = json::array(); }),
            "network.host.overhead_send");
  EXPECT_EQ(place([](json& f) { f["network"]["host"]["overhead_send"][0]["from_bytes"] = 8; }),
            "network.host.overhead_send[0].from_bytes");
  EXPECT_EQ(place([](json& f) { f["counters"] = {{"interval_s", 0}, {"per", "class"}}; }), "counters.interval_s");
  EXPECT_EQ(place([](json& f) { f["counters"] = {{"interval_s", 1}, {"per", "node"}}; }), "counters.per");
  EXPECT_EQ(place([](json& f) { f["collectives"]["allreduces"] = "ring"; }), "collectives.allreduces");
  EXPECT_EQ(place([](json& f) { f["collectives"]["segment_bytes"] = 0; }), "collectives.segment_bytes");
  EXPECT_EQ(place([](json& f) { f["collectives"]["bcast"] = "node_leader"; }), "no error");
  EXPECT_EQ(place([](json& f) {
              f["collectives"]["bcast"] = "node_leader";
              f["jobs"][0]["rank_order"] = "cyclic";
            }),
            "collectives.bcast");
  EXPECT_EQ(place([](json& f) { f["replicas"] = {1, 1}; }), "replicas");
  EXPECT_EQ(place([](json& f) { f["replicas"] = json::array(); }), "replicas");
  EXPECT_EQ(place([](json& f) { f["seed"] = -1; }), "seed");
}

// As `place`, of a mistake in the only job.
std::string place_in_job(const std::function<void(json&)>& change) {
  return place([&](json& file) { change(file["jobs"][0]); });
}

TEST(RunConfig, NamesThePlaceOfEachMistakeInAJob) {
  EXPECT_EQ(place([](json& f) { f["jobs"] = json::array(); }), "jobs");
  EXPECT_EQ(place_in_job([](json& job) { job["nodes"] = 0; }), "jobs[0].nodes");
  EXPECT_EQ(place_in_job([](json& job) { job["nodes"] = 4.5; }), "jobs[0].nodes");
  EXPECT_EQ(place_in_job([](json& job) { job["nodes"] = 5; }), "jobs[0].nodes");  // the machine has 4 hosts
  EXPECT_EQ(place_in_job([](json& job) { job["ranks_per_node"] = "2"; }), "jobs[0].ranks_per_node");
  EXPECT_EQ(place_in_job([](json& job) { job["hosts"] = {0, 1, 2}; }), "jobs[0].hosts");     // one too few
  EXPECT_EQ(place_in_job([](json& job) { job["hosts"] = {0, 1, 2, 2}; }), "jobs[0].hosts");  // one twice
  EXPECT_EQ(place_in_job([](json& job) { job["hosts"] = {0, 1, 2, 4}; }), "jobs[0].hosts");  // one too many
  EXPECT_EQ(place_in_job([](json& job) { job["rank_order"] = "snake"; }), "jobs[0].rank_order");
  EXPECT_EQ(place_in_job([](json& job) { job["rank_order"] = "listed"; }), "jobs[0].slots");
  EXPECT_EQ(place_in_job([](json& job) { job["slots"] = {0, 1, 2, 3}; }), "jobs[0].slots");  // without listed
  EXPECT_EQ(place_in_job([](json& job) {
              job["rank_order"] = "listed";
              job["slots"] = json::array();
              for (int i = 0; i < job["nodes"].get<int>() * job["ranks_per_node"].get<int>(); ++i) {
                job["slots"].push_back(0);
              }
            }),
            "jobs[0].slots");
  EXPECT_EQ(place_in_job([](json& job) { job["start_s"] = -1; }), "jobs[0].start_s");
  EXPECT_EQ(place_in_job([](json& job) { job["background"] = true; }), "jobs");  // none would end
  EXPECT_EQ(place_in_job([](json& job) { job["application"]["parameters"]["nx"] = {1}; }),
            "jobs[0].application.parameters.nx");
  EXPECT_EQ(place_in_job([](json& job) { job["class_of_rank"] = {"0", "0"}; }), "jobs[0].class_of_rank");
  EXPECT_EQ(place_in_job([](json& job) { job["constant"] = 1; }), "jobs[0].constant");
  EXPECT_EQ(place_in_job([](json& job) { job["iterations_limit"] = 0; }), "jobs[0].iterations_limit");
}

TEST(RunConfig, InjectionControl) {
  const json held = {{"kind", "static"}, {"share", 0.5}};
  const json aimd = {{"kind", "aimd"},    {"window_s", 1e-5}, {"gain", 0.25}, {"sensitivity", 3},
                     {"threshold", 0.02}, {"increase", 0.05}, {"least", 0.1}};
  json file = good();
  file["jobs"][0]["injection"] = {{"kind", "none"}};
  EXPECT_FALSE(parse_run_config(file.dump()).controls_injection());
  file["jobs"][0]["injection"] = held;
  EXPECT_EQ(parse_run_config(file.dump()).jobs[0].injection.share, 0.5);
  file["jobs"][0]["injection"] = aimd;
  file["network"]["flow_control"] = "credits";
  const InjectionConfig read = parse_run_config(file.dump()).jobs[0].injection;
  EXPECT_EQ(read.kind, InjectionKind::Aimd);
  EXPECT_EQ(read.sensitivity, 3);
  EXPECT_EQ(read.least, 0.1);

  const auto with = [](const json& injection, const std::string& key, const json& value) {
    json changed = injection;
    changed[key] = value;
    return place([&](json& f) {
      f["network"]["flow_control"] = "credits";
      f["jobs"][0]["injection"] = changed;
    });
  };
  EXPECT_EQ(with(held, "kind", "fast"), "jobs[0].injection.kind");
  EXPECT_EQ(with(held, "share", 0), "jobs[0].injection.share");
  EXPECT_EQ(with(held, "share", 1.5), "jobs[0].injection.share");
  EXPECT_EQ(with(held, "gain", 0.5), "jobs[0].injection.gain");  // of the other kind
  EXPECT_EQ(with(aimd, "window_s", 1e-10), "jobs[0].injection.window_s");
  EXPECT_EQ(with(aimd, "gain", 2), "jobs[0].injection.gain");
  EXPECT_EQ(with(aimd, "sensitivity", -1), "jobs[0].injection.sensitivity");
  EXPECT_EQ(with(aimd, "least", 0), "jobs[0].injection.least");
  // No stalls to follow, whole messages, nodes that are shared.
  EXPECT_EQ(place_in_job([&](json& job) { job["injection"] = aimd; }), "jobs[0].injection");
  EXPECT_EQ(place([&](json& f) {
              f["jobs"][0]["injection"] = held;
              f["network"]["host"]["receive"] = "on-arrival";
            }),
            "network.host.receive");
  EXPECT_EQ(place([&](json& f) {
              f["jobs"].push_back(f["jobs"][0]);
              f["jobs"][1]["nodes"] = 1;
              f["jobs"][1]["injection"] = held;
            }),
            "jobs[1].injection");
}

TEST(RunConfig, TextThatIsNotJsonNamesItsByte) {
  try {
    parse_run_config("{\"schema\": ");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, "byte 12");
  }
}

TEST(RunConfig, FileThatIsNotThere) { EXPECT_THROW(read_run_config("/nowhere/run.json"), UserError); }

}  // namespace
}  // namespace manynode::network
