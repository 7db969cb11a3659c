// The one line in which a mistake is reported.
#include "manynode/error_report.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace manynode {
namespace {

std::string printed(const std::exception& error) {
  std::ostringstream out;
  print_error(out, error);
  return out.str();
}

TEST(ErrorReport, HasAllFieldsOnOneLine) {
  EXPECT_EQ(printed(UserError("wrong parameter", "nx", "7", "a multiple of 8", "choose 8")),
            "{\"error\":{\"what\":\"wrong parameter\",\"where\":\"nx\",\"found\":\"7\",\"allowed\":\"a multiple of 8\","
            "\"remedy\":\"choose 8\"}}\n");
}

TEST(ErrorReport, IsJsonWhateverWasTyped) {
  EXPECT_EQ(printed(UserError("a \"b\" \\ c\nd\x01\xff")),
            "{\"error\":{\"what\":\"a \\\"b\\\" \\\\ c\\u000ad\\u0001\\u00ff\",\"where\":\"\",\"found\":\"\","
            "\"allowed\":\"\",\"remedy\":\"\"}}\n");
}

TEST(ErrorReport, ReportsAnyException) {
  EXPECT_EQ(printed(std::runtime_error("lost")),
            "{\"error\":{\"what\":\"lost\",\"where\":\"\",\"found\":\"\",\"allowed\":\"\",\"remedy\":\"\"}}\n");
}

}  // namespace
}  // namespace manynode
