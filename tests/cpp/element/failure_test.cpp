#include "failure.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "progress.hpp"

namespace manynode::sst_element {
namespace {

TEST(Failure, TellsMistakesApartByTheirExitCode) {
  EXPECT_EQ(exit_code(UserError("a run file")), kExitUsage);
  EXPECT_EQ(exit_code(InputError(UserError("a timing profile"))), 3);
  EXPECT_EQ(exit_code(std::runtime_error("a deadlock")), kExitFailed);
}

TEST(FailureDeathTest, EndsTheProcessWithOneLineOfJson) {
  EXPECT_EXIT(fail(UserError("what", "where", "found", "allowed", "remedy")), ::testing::ExitedWithCode(kExitUsage),
              "\\{\"error\":\\{\"what\":\"what\",\"where\":\"where\"");
}

TEST(Progress, IsALineOfJson) {
  EXPECT_EQ(progress_line(1'500'000, 3, 50), "manynode-progress {\"simulated_s\":1.5e-06,\"steps\":3,\"of\":50}");
  EXPECT_EQ(progress_line(0, 0, std::nullopt), "manynode-progress {\"simulated_s\":0,\"steps\":0,\"of\":null}");
}

TEST(Progress, IsNotDueInTheFirstSecondsNorWhereNobodyWantsIt) {
  Progress progress(true);
  Progress unwanted(false);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(progress.due() || unwanted.due());
}

}  // namespace
}  // namespace manynode::sst_element
