// The files of one process.
#include "parts.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "played_rank.hpp"

namespace manynode::sst_element::testing {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Parts, TellOfAllRanksEvenOfThoseThatWait) {
  const std::string folder = ::testing::TempDir() + "parts_test";
  std::filesystem::remove_all(folder);
  network::RunConfig config = ranks_on(4);
  config.network.host.overhead_recv = {{}};  // rank 3 sends to itself
  config.jobs.push_back(config.jobs[0]);
  config.jobs[1].background = true;
  const auto program = network::testing::loaded(
      [](Mpi& mpi) {
        mpi.send(1, 64, 2);
        mpi.recv(3, 32, 4);
      },
      2);
  World world({"", folder, false, 5}, config, {program, program});
  PlayedRank last(world, 3);
  PlayedRank first(world, 0);
  PlayedRank background(world, 1, 1);
  last.play();
  first.play(2);
  background.play(3);
  world.write_parts();
  world.write_parts();  // only once

  EXPECT_EQ(text_of(folder + "/ranks-5.csv"),
            "job,rank,operation,seconds,calls,bytes\n"
            "0,0,MPI_Send,1e-06,1,64\n"
            "0,3,MPI_Send,2e-06,2,128\n"
            "0,3,MPI_Recv,2e-06,2,0\n"
            "1,1,MPI_Send,1e-06,1,64\n"
            "1,1,MPI_Recv,1e-06,1,0\n");
  const auto part = nlohmann::json::parse(text_of(folder + "/part-5.json"));
  EXPECT_EQ(part, nlohmann::json::parse(R"({"jobs": [
    {"job": 0, "ranks": 2, "finished": 1, "makespan_s": 4e-6, "iteration_end_s": [2e-6, 4e-6], "messages": 3,
     "bytes": 192},
    {"job": 1, "ranks": 1, "finished": 0, "makespan_s": 2e-6, "iteration_end_s": [], "messages": 2, "bytes": 128}],
    "unfinished": [{"job": 0, "rank": 0, "operation": "MPI_Recv", "peer": 3, "tag": 4, "bytes": 32, "since_s": 1e-6}],
    "unfinished_count": 1})"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/part-5.json.part"));
}

TEST(Parts, AreWrittenWhenTheLastRankHasFinished) {
  const std::string folder = ::testing::TempDir() + "parts_test_last";
  std::filesystem::remove_all(folder);
  World world({"", folder, false, 0}, ranks_on(4), {network::testing::loaded([](Mpi&) {})});
  world.join();
  world.join();
  PlayedRank first(world, 0);
  first.play();
  world.rank_finished();
  EXPECT_FALSE(std::filesystem::exists(folder + "/part-0.json"));
  PlayedRank second(world, 1);
  second.play();
  world.rank_finished();
  EXPECT_TRUE(std::filesystem::exists(folder + "/part-0.json"));
}

TEST(Parts, ThatCannotBeWrittenAreAnError) {
  EXPECT_THROW(write_file("/dev/null/nowhere", "part-0.json", "{}"), UserError);
}

}  // namespace
}  // namespace manynode::sst_element::testing
