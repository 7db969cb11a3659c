// Applications by name, built in or added by a program.
#include <gtest/gtest.h>

#include <algorithm>

#include "manynode/error_report.hpp"
#include "manynode/skeleton.hpp"

namespace manynode {
namespace {

class Toy : public Application {
 public:
  std::string name() const override { return "toy"; }
  std::vector<std::string> phases() const override { return {}; }
  std::unique_ptr<Skeleton> make(int, int) const override { return nullptr; }
};

const ApplicationRegistration kToy(ApplicationEntry{
    "toy", [](const Parameters&, int) -> std::unique_ptr<Application> { return std::make_unique<Toy>(); }, nullptr});

TEST(Registry, HasTheFoldersAndWhatTheProgramAdds) {
  const std::vector<std::string> names = application_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "hpcg"));
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "toy"));
  EXPECT_EQ(make_application("toy", {}, 1)->name(), "toy");
}

TEST(Registry, RefusesUnknownNamesParametersAndSizes) {
  try {
    make_application("hpgc", {}, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.remedy, "did you mean hpcg?");
  }
  EXPECT_THROW(make_application("hpcg", Parameters({{"size", std::int64_t{1}}}), 1), UserError);
  EXPECT_THROW(make_application("toy", Parameters({{"nx", std::int64_t{1}}}), 1), UserError);
  EXPECT_THROW(make_application("hpcg", {}, 0), UserError);
}

}  // namespace
}  // namespace manynode
