// Expressions and grids of derived skeletons. tests/workflow/test_derived_agreement.py compares them with Python's.
#include <gtest/gtest.h>

#include "derived/expression.hpp"
#include "derived/grid.hpp"
#include "derived_file.hpp"

namespace manynode::test {
namespace {

using namespace derived;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// On a grid of 4 x 3 x 2 ranks, axis 0 the fastest, axis 1 periodic.
class Evaluator {
 public:
  Evaluator() {
    names_.constants = {{"P", 24}, {"nx", 16}, {"d0", 4}, {"d1", 3}, {"d2", 2}};
    names_.slots = {{"rank", kRankSlot}, {"c0", 2}, {"c1", 3}, {"c2", 4}};
    for (const auto& [name, text] : {std::pair("half", "nx // 2"), std::pair("share", "nx // c0")}) {
      const NodeIndex content = parsed(text, "definitions", names_, expressions_);
      names_.definitions[name] = expressions_.add_definition(content);
    }
  }

  NodeIndex node(const std::string& text) { return parsed(text, "here", names_, expressions_); }
  bool folds(const std::string& text) { return expressions_.is_constant(node(text)); }
  std::int64_t value(const std::string& text, std::int64_t rank = 0) {
    const NodeIndex index = node(text);
    Frame frame(expressions_, grid_, rank);
    return expressions_.evaluate(index, frame);
  }

 private:
  Grid grid_{made_grid({4, 3, 2}, {false, true, false}, true)};
  Expressions expressions_{3};
  Names names_;
};

TEST(DerivedExpressions, OperatorsAndFunctionsAreThoseOfPython) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"7 // -2", -4},
      {"-7 % 3", 2},
      {"-7 % -3", -1},
      {"7 % -3", -2},
      {"ceil_div(7, 2)", 4},
      {"ceil_div(-7, 2)", -3},
      {"2 + 3 * 4 - 1", 13},
      {"(2 + 3) * 4", 20},
      {"10 - 2 - 3", 5},
      {"1 << 3 | 1", 9},
      {"6 ^ 3 & 2", 4},
      {"-16 >> 2", -4},
      {"1 < 2 < 3", 1},
      {"1 < 3 < 2", 0},
      {"3 < 2 < 1 // 0", 0},
      {"3 > 2 >= 2 != 1", 1},
      {"not 0", 1},
      {"not 3 == 3", 0},
      {"+5", 5},
      {"--5", 5},
      {"3 and 5", 1},
      {"0 or 7", 1},
      {"0 and 1 // 0", 0},
      {"1 or 1 // 0", 1},
      {"0 or 0", 0},
      {"5 if 0 else 6", 6},
      {"1 if 0 else 2 if 0 else 3", 3},
      {"1 if 1 else 1 // 0", 1},
      {"min(4, 2, 3)", 2},
      {"max(4, 2)", 4},
      {"abs(-3)", 3},
      {"log2(1)", 0},
      {"log2(1023)", 9},
      {"log2(1024)", 10},
      {"root(26, 3)", 2},
      {"root(27, 3)", 3},
      {"root(0, 2)", 0},
      {"root(9223372036854775807, 2)", 3037000499},
      {"root(9223372036854775807, 62)", 2},
      {"smooth(1)", 1},
      {"smooth(7)", 6},
      {"smooth(1009)", 1000},
      {"block(10, 4, 1)", 3},
      {"block(10, 4, 2)", 2},
      {"any", -2},
      {"null", -3},
      {"-9223372036854775807 - 1", kLeast},
      {"(-9223372036854775807 - 1) % -1", 0},
      {"smooth(9223372036854775807)", 9216000000000000000}};
  Evaluator evaluator;
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(evaluator.value(text), expected) << text;
    EXPECT_TRUE(evaluator.folds(text)) << text;
    // The same where nothing is known before a rank evaluates it.
    EXPECT_EQ(evaluator.value(std::string("rank * 0 + (") + text + ")", 5), expected) << text;
  }
}

TEST(DerivedExpressions, WhatHasNoValueIsAMistakeOnlyWhereItIsNeeded) {
  Evaluator evaluator;
  for (const char* text :
       {"1 // 0", "1 % 0", "9223372036854775807 + 1", "-9223372036854775807 - 2", "4294967296 * 2147483648", "1 << 63",
        "(-9223372036854775807 - 1) // -1", "abs(-9223372036854775807 - 1)", "-(-9223372036854775807 - 1)", "1 << 64",
        "1 >> -1", "log2(0)", "root(-1, 2)", "root(1, 0)", "smooth(0)", "block(10, 4, 4)", "block(10, 0, 0)",
        "on(4, 0, 0)", "share"}) {
    EXPECT_THROW(evaluator.value(text), Mistake) << text;
    const std::string guarded = std::string("(") + text + ") if rank == 7 else 5";
    EXPECT_EQ(evaluator.value(guarded, 8), 5) << text;
    if (std::string(text) != "share") {
      EXPECT_THROW(evaluator.value(guarded, 7), Mistake) << text;
    }
  }
  EXPECT_EQ(evaluator.value("share", 2), 8);
  EXPECT_EQ(evaluator.value("share + share * half", 2), 72);
}

TEST(DerivedExpressions, NamesOfOneRank) {
  Evaluator evaluator;
  EXPECT_EQ(evaluator.value("c0 + 10 * c1 + 100 * c2", 23), 123);
  EXPECT_EQ(evaluator.value("at(-1, 0, 0)", 5), 4);
  EXPECT_EQ(evaluator.value("at(-1, 0, 0)", 4), -3);
  EXPECT_EQ(evaluator.value("at(0, -1, 0)", 1), 9);
  EXPECT_EQ(evaluator.value("at(0, 4, 1)", 1), 17);
  EXPECT_EQ(evaluator.value("on(c0, 0, 1)", 3), 15);
  EXPECT_FALSE(evaluator.folds("rank"));
  EXPECT_TRUE(evaluator.folds("nx * nx if P > 1 else rank"));
  EXPECT_TRUE(evaluator.folds("0 and rank"));
}

TEST(DerivedExpressions, WhatIsOutsideTheLanguageIsRefused) {
  Evaluator evaluator;
  const auto refused = [&](const std::string& text) { return error_of([&] { evaluator.node(text); }); };
  for (const char* text : {"",          "a.b",         "1, 2", "2 ** 3",   "0x10",
                           "012",       "1_000",       "[1]",  "min(1,)",  "True",
                           "not",       "1 + not 2",   "at",   "min",      "min(1)",
                           "min()",     "log2(1, 2)",  "f(1)", "a\nb",     "1 #",
                           "1 / 2",     "~1",          "'a'",  "1 is 1",   "1 <> 2",
                           "1 if 2",    "1 if 2 else", "(1",   "1)",       "9223372036854775808",
                           "(rank)(1)", "1 2",         "k",    "at(1, 2)", "on(1, 2, 3, 4)",
                           "1 = 2",     "1 ! 2"}) {
    EXPECT_NE(refused(text), "no error") << text;
    EXPECT_NE(refused(text).find(" | here | "), std::string::npos) << refused(text);
  }
  EXPECT_NE(refused("iterations").find("not known here: iterations"), std::string::npos);
  EXPECT_NE(refused("hafl").find("did you mean half?"), std::string::npos);
  EXPECT_NE(refused("ceildiv(1, 2)").find("did you mean ceil_div?"), std::string::npos);
  EXPECT_NE(refused(std::string(200, '(') + "1" + std::string(200, ')')).find("more than 100 levels"),
            std::string::npos);
  EXPECT_NE(refused(std::string(200, '-') + "1").find("more than 100 levels"), std::string::npos);
  EXPECT_NE(refused(std::string(5000, ' ')).find("longer than 4000 characters"), std::string::npos);
}

TEST(DerivedGrids, RulesGiveTheExtentsOfTheirDefinition) {
  const auto extents = [](const char* name, int ranks, int dimensions, Order order = Order::Descending,
                          bool ties_last = false) { return extents_of({name, dimensions, order, ties_last}, ranks); };
  EXPECT_EQ(extents("least-surface", 64, 3), (Extents{4, 4, 4}));
  EXPECT_EQ(extents("least-surface", 12, 3, Order::Ascending), (Extents{2, 2, 3}));
  EXPECT_EQ(extents("least-surface", 7, 3), (Extents{7, 1, 1}));
  EXPECT_EQ(extents("dealt", 72, 2), (Extents{12, 6}));
  EXPECT_EQ(extents("dealt", 24, 3, Order::Unsorted), (Extents{3, 4, 2}));
  EXPECT_EQ(extents("dealt", 24, 3, Order::Unsorted, true), (Extents{2, 4, 3}));
  EXPECT_EQ(extents("dims-create-mpich", 72, 2), (Extents{9, 8}));
  EXPECT_EQ(extents("dims-create-mpich", 360, 3), (Extents{10, 6, 6}));
  EXPECT_EQ(extents("dims-create-openmpi", 72, 2), (Extents{12, 6}));
  EXPECT_EQ(extents("line", 13, 2, Order::Unsorted), (Extents{13, 1}));
  EXPECT_EQ(extents("squarest", 12, 2, Order::Ascending), (Extents{3, 4}));
}

}  // namespace
}  // namespace manynode::test
