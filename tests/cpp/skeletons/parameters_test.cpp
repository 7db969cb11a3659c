// Parameters: typed access, defaults and bounds, options and JSON.
#include "manynode/parameters.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "manynode/error_report.hpp"

namespace manynode {
namespace {

const std::vector<ParameterDeclaration>& declared() {
  static const std::vector<ParameterDeclaration> declarations = {
      {"nx", std::int64_t{16}, "points", 1, 64},           {"tolerance", 0.5, "of the solver", 0},
      {"solver", std::string("cg"), "name of the solver"}, {"verbose", false, "say more"},
      {"side", std::int64_t{8}, "of an image", 4, 64, 4},
  };
  return declarations;
}

Parameters from_options(std::vector<const char*> words, std::set<std::string>* switched_on = nullptr) {
  words.insert(words.begin(), "program");
  std::set<std::string> ignored;
  return parameters_from_options("toy", static_cast<int>(words.size()), words.data(), declared(), {"history"},
                                 switched_on ? *switched_on : ignored);
}

template <typename Function>
UserError error_of(const Function& function) {
  try {
    function();
  } catch (const UserError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return UserError("none");
}

TEST(Parameters, WhatIsNotGivenHasItsDefault) {
  const Parameters parameters = complete_parameters("toy", Parameters({{"nx", std::int64_t{8}}}), declared());
  EXPECT_EQ(parameters.integer("nx", 1), 8);
  EXPECT_EQ(parameters.real("tolerance", 0), 0.5);
  EXPECT_EQ(parameters.text("solver"), "cg");
  EXPECT_FALSE(parameters.flag("verbose"));
}

TEST(Parameters, OptionsTakeBothSpellingsAndSwitches) {
  std::set<std::string> switched_on;
  const Parameters parameters =
      from_options({"--nx", "32", "--tolerance=1", "--verbose", "1", "--history", "--solver=x=y"}, &switched_on);
  EXPECT_EQ(parameters.integer("nx", 1), 32);
  EXPECT_EQ(parameters.real("tolerance", 0), 1);
  EXPECT_TRUE(parameters.flag("verbose"));
  EXPECT_EQ(parameters.text("solver"), "x=y");
  EXPECT_TRUE(switched_on.contains("history"));
}

TEST(Parameters, AMisspeltOptionIsRefusedWithTheNearest) {
  const UserError error = error_of([] { from_options({"--tolerence", "1"}); });
  EXPECT_EQ(error.found, "tolerence");
  EXPECT_EQ(error.remedy, "did you mean tolerance?");
}

TEST(Parameters, WrongValuesNameTheParameterAndItsBounds) {
  for (const char* value : {"0", "65", "1.5", "many", "", "99999999999999999999"}) {
    const UserError error = error_of([&] { from_options({"--nx", value}); });
    EXPECT_EQ(error.where, "nx") << value;
    EXPECT_EQ(error.allowed, "integer, at least 1, at most 64");
  }
  EXPECT_EQ(error_of([] { from_options({"--tolerance", "nan"}); }).where, "tolerance");
  EXPECT_EQ(error_of([] { from_options({"--verbose", "2"}); }).where, "verbose");
}

TEST(Parameters, AnIntegerThatIsNoMultipleIsRefused) {
  EXPECT_EQ(from_options({"--side", "12"}).integer("side", 1), 12);
  const UserError error = error_of([] { from_options({"--side", "10"}); });
  EXPECT_EQ(error.where, "side");
  EXPECT_EQ(error.allowed, "integer, at least 4, at most 64, a multiple of 4");
}

TEST(Parameters, WordsThatAreNoOptionsAreRefused) {
  EXPECT_EQ(error_of([] { from_options({"nx"}); }).found, "nx");
  EXPECT_EQ(error_of([] { from_options({"--nx"}); }).where, "--nx");
}

TEST(Parameters, JsonGivesNumbersTextsAndBooleans) {
  const Parameters parameters = parameters_from_json(R"({"a": 1, "b": 2.5, "c": "d", "e": true})", "here");
  EXPECT_EQ(parameters.integer("a", 0), 1);
  EXPECT_EQ(parameters.real("b", 0), 2.5);
  EXPECT_EQ(parameters.text("c"), "d");
  EXPECT_TRUE(parameters.flag("e"));
}

TEST(Parameters, JsonOfAnotherFormIsRefusedWithItsPlace) {
  EXPECT_EQ(error_of([] { parameters_from_json("{", "here"); }).where, "here");
  EXPECT_EQ(error_of([] { parameters_from_json("[]", "here"); }).found, "[]");
  EXPECT_EQ(error_of([] { parameters_from_json(R"({"a": [1]})", "here"); }).where, "here: a");
}

TEST(Parameters, TypedAccessRefusesAbsentAndWrongValues) {
  const Parameters parameters({{"nx", std::int64_t{2}}, {"name", std::string("x")}});
  EXPECT_EQ(error_of([&] { parameters.integer("ny", 0); }).where, "ny");
  EXPECT_EQ(error_of([&] { parameters.integer("nx", 3); }).found, "2");
  EXPECT_EQ(error_of([&] { parameters.integer("name", 0); }).found, "x");
  EXPECT_EQ(error_of([&] { parameters.text("nx"); }).where, "nx");
  EXPECT_EQ(error_of([&] { parameters.flag("nx"); }).where, "nx");
  EXPECT_EQ(parameters.real("nx", 0), 2);
}

}  // namespace
}  // namespace manynode
