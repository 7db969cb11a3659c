// Messages, bytes and calls of each rank, held against the engine fast.
#include <gtest/gtest.h>

#include "manynode/skeleton.hpp"
#include "played_rank.hpp"
#include "rare_calls.hpp"
#include "simulator.hpp"

namespace manynode::sst_element::testing {
namespace {

void compare(const network::RunConfig& config, const network::Program& program) {
  const network::JobResult expected = network::simulate({program}, config, 0).jobs[0];
  const auto world = world_of(config, program);
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t r = 0; r < config.jobs[0].ranks(); ++r) {
    PlayedRank rank(*world, static_cast<int>(r));
    rank.play();
    messages += rank.program.messages();
    bytes += rank.program.bytes();
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      EXPECT_EQ(rank.program.uses()[kind].calls, expected.ranks[r][kind].calls) << r << " " << kCallNames[kind];
      EXPECT_EQ(rank.program.uses()[kind].bytes, expected.ranks[r][kind].bytes) << r << " " << kCallNames[kind];
    }
  }
  EXPECT_EQ(messages, expected.messages);
  EXPECT_EQ(bytes, expected.bytes);
}

network::Program application(const std::string& name, std::map<std::string, ParameterValue> values,
                             std::uint32_t ranks) {
  return {make_application(name, Parameters(std::move(values)), static_cast<int>(ranks)), std::nullopt};
}

TEST(AgainstFast, EveryCollectiveSendsTheSame) {
  for (const CollectiveField& field : collective_fields()) {
    for (const std::uint32_t nodes : {3u, 8u}) {
      for (const std::int64_t bytes : {8, 100'000}) {
        SCOPED_TRACE(std::string(field.collective) + " " + std::to_string(nodes) + " " + std::to_string(bytes));
        network::RunConfig config = network::testing::small_machine({8}, {1}, {1});
        config.jobs[0].nodes = nodes;
        config.jobs[0].ranks_per_node = 2;
        compare(config, application("patterns",
                                    {{"pattern", std::string("collective")},
                                     {"collective", std::string(field.collective)},
                                     {"bytes", bytes},
                                     {"iterations", std::int64_t{2}}},
                                    config.jobs[0].ranks()));
      }
    }
  }
}

TEST(AgainstFast, RareCallsSendTheSame) {
  for (const std::uint64_t bytes : {8u, 50'000u}) {
    network::RunConfig config = network::testing::small_machine({8}, {1}, {1});
    config.jobs[0].nodes = 5;
    compare(config, network::testing::loaded([=](Mpi& mpi) { manynode::testing::emit_rare_calls(mpi, bytes); }, 2));
  }
}

TEST(AgainstFast, HpcgSendsTheSame) {
  network::RunConfig config = network::testing::small_machine({8}, {1}, {1});
  config.jobs[0].ranks_per_node = 3;
  config.jobs[0].iterations_limit = 3;
  compare(config, application("hpcg", {}, config.jobs[0].ranks()));
}

}  // namespace
}  // namespace manynode::sst_element::testing
