// Reading timing profiles: what is taken over, and every way of being malformed that is refused with its place.
#include <gtest/gtest.h>

#include <fstream>

#include "manynode/error_report.hpp"
#include "manynode/timing.hpp"

namespace manynode {
namespace {

constexpr const char* kProfile = R"({
  "schema": "timing-profile/1", "made_by": "a test",
  "classes": [{"name": "0", "share": 1.0, "phases": [
    {"name": "symgs", "count": 21, "mean_s": 2.0,
     "clusters": [
       {"mean_s": 3.0, "count": 6, "weight": 0.3, "cdf": {"time_s": [2, 3, 4], "probability": [0, 0.5, 1]}},
       {"mean_s": 1.0, "count": 14, "weight": 0.7, "cdf": {"time_s": [1], "probability": [1.0]}}],
     "pattern": {"kind": "sequence", "sequence": [0, 1, 0], "repeat": 7},
     "variance": {"between_ranks_s2": 0, "within_rank_s2": 1}},
    {"name": "spmv", "count": 3, "mean_s": 1.0,
     "clusters": [{"mean_s": 1.0, "count": 3, "cdf": {"time_s": [1, 1], "probability": [0, 1]}}],
     "pattern": {"kind": "weights"}}]}]})";

class TimingProfileFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const {
    const std::string path =
        ::testing::TempDir() + "/profile-" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
    std::ofstream(path) << text;
    return path;
  }

  TimingProfile read(const std::string& text, const std::vector<std::string>& phases, bool missing_is_zero = false) {
    return read_timing_profile(write(text), phases, missing_is_zero);
  }

  // The place, without the file's name, of the error in the profile after `what` has been replaced by `with`.
  std::string refused_at(const std::string& what, const std::string& with) {
    std::string text = kProfile;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
    const std::string path = write(text);
    try {
      read_timing_profile(path, {"symgs"}, false);
    } catch (const UserError& error) {
      EXPECT_EQ(error.where.rfind(path, 0), 0U) << error.where;
      EXPECT_FALSE(error.remedy.empty());
      return error.where.substr(std::min(error.where.size(), path.size() + 2));
    }
    return "not refused";
  }
};

TEST_F(TimingProfileFile, IsOrderedAsTheSkeletonsPhases) {
  const TimingProfile profile = read(kProfile, {"spmv", "symgs"});
  EXPECT_EQ(profile.classes, (std::vector<std::string>{"0"}));
  ASSERT_EQ(profile.phases.at(0).size(), 2U);
  const PhaseTiming& spmv = profile.phases[0][0];
  EXPECT_EQ(spmv.clusters.at(0).weight, 1);
  EXPECT_TRUE(spmv.sequence.empty());
  const PhaseTiming& symgs = profile.phases[0][1];
  EXPECT_EQ(symgs.sequence, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_DOUBLE_EQ(symgs.clusters.at(0).weight, 0.3);
  EXPECT_EQ(symgs.clusters[0].time_s, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(symgs.clusters[0].mean_s, 3);
}

TEST_F(TimingProfileFile, AMissingPhaseIsRefusedOrTakesNoTime) {
  try {
    read(kProfile, {"pack"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.found, "spmv, symgs");
    EXPECT_EQ(error.allowed, "pack");
  }
  const TimingProfile profile = read(kProfile, {"pack"}, true);
  EXPECT_EQ(TimingModel(profile, {0}, 1, 0, false).draw(0, 0, 0), 0);
  EXPECT_EQ(TimingModel(profile, {0}, 1, 0, true).draw(0, 0, 0), 0);
}

TEST_F(TimingProfileFile, APhaseThatOneClassLacksIsRefusedWhereARankOfItExecutesIt) {
  const auto phase = [](const std::string& name) {
    return R"({"name": ")" + name +
           R"(", "clusters": [{"mean_s": 1, "count": 1, "cdf": {"time_s": [1], "probability": [1]}}],
               "pattern": {"kind": "weights"}})";
  };
  const std::string text = R"({"schema": "timing-profile/1", "classes": [{"name": "first", "phases": [)" +
                           phase("both") + ", " + phase("read") + R"(]}, {"name": "others", "phases": [)" +
                           phase("both") + "]}]}";
  const TimingProfile profile = read(text, {"both", "read"});
  const TimingModel model(profile, {0, 1}, 1, 0, false, {0, 0}, true);
  EXPECT_EQ(model.draw(0, 1, 0), 1);
  EXPECT_EQ(model.draw(1, 0, 0), 1);
  try {
    model.draw(1, 1, 0);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.found, "rank 1 of class others executes read");
    EXPECT_EQ(error.where, profile.path);
  }
  const TimingProfile lenient = read(text, {"both", "read"}, true);
  EXPECT_EQ(TimingModel(lenient, {0, 1}, 1, 0, false).draw(1, 1, 0), 0);
}

TEST_F(TimingProfileFile, APhaseBetweenTwoCallSitesIsRefusedWhereARankExecutesIt) {
  const std::string name = "MPI_Init@a.c:1 main -> MPI_Finalize@a.c:9 main";
  const std::string text = R"({"schema": "timing-profile/1", "classes": [{"name": "0", "phases": [{"name": "known",
      "clusters": [{"mean_s": 1, "count": 1, "cdf": {"time_s": [1], "probability": [1]}}],
      "pattern": {"kind": "weights"}}]}]})";
  const TimingProfile profile = read(text, {"known", name});
  const TimingModel model(profile, {0}, 1, 0, false, {0}, true);
  EXPECT_EQ(model.draw(0, 0, 0), 1);
  try {
    model.draw(0, 1, 0);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.found, "rank 0 of class 0 executes " + name);
  }
}

TEST_F(TimingProfileFile, AnotherSchemaOrNoJsonIsRefused) {
  EXPECT_EQ(refused_at("timing-profile/1", "timing-profile/2"), "schema");
  EXPECT_EQ(refused_at("\"schema\"", "\"sketch\""), "");
  EXPECT_EQ(refused_at("{", "["), "");
  EXPECT_THROW(read_timing_profile(::testing::TempDir() + "/absent.json", {}, false), UserError);
}

TEST_F(TimingProfileFile, MalformedDistributionsAreRefusedWithTheirPlace) {
  const std::string cluster = "classes[0].phases[0].clusters[0]";
  EXPECT_EQ(refused_at("[2, 3, 4]", "[2, 3]"), cluster + ".cdf");
  EXPECT_EQ(refused_at("[2, 3, 4]", "[2, 5, 4]"), cluster + ".cdf.time_s[2]");
  EXPECT_EQ(refused_at("[2, 3, 4]", "[-2, 3, 4]"), cluster + ".cdf.time_s[0]");
  EXPECT_EQ(refused_at("[2, 3, 4]", "[2, null, 4]"), cluster + ".cdf.time_s[1]");
  EXPECT_EQ(refused_at("[2, 3, 4]", "[]"), cluster + ".cdf.time_s");
  EXPECT_EQ(refused_at("[0, 0.5, 1]", "[0, 0.5, 0.9]"), cluster + ".cdf.probability");
  EXPECT_EQ(refused_at("[0, 0.5, 1]", "[0.6, 0.5, 1]"), cluster + ".cdf.probability[1]");
  EXPECT_EQ(refused_at("\"mean_s\": 3.0, ", ""), cluster);
  EXPECT_EQ(refused_at("\"weight\": 0.3", "\"weight\": -1"), cluster + ".weight");
  EXPECT_EQ(refused_at("\"cdf\"", "\"pdf\""), cluster);
}

TEST_F(TimingProfileFile, TooManyBinsAreRefused) {
  std::string times = "[0";
  std::string probabilities = "[0";
  for (int i = 1; i <= 101; ++i) {
    times += ", " + std::to_string(i);
    probabilities += ", 1";
  }
  std::string text = kProfile;
  text.replace(text.find("[2, 3, 4]"), 9, times + "]");
  text.replace(text.find("[0, 0.5, 1]"), 11, probabilities + "]");
  EXPECT_THROW(read(text, {"symgs"}), UserError);
}

TEST_F(TimingProfileFile, MalformedPatternsAndPhasesAreRefusedWithTheirPlace) {
  const std::string phase = "classes[0].phases[0]";
  EXPECT_EQ(refused_at("[0, 1, 0]", "[0, 2, 0]"), phase + ".pattern.sequence[1]");
  EXPECT_EQ(refused_at("[0, 1, 0]", "[0, -1, 0]"), phase + ".pattern.sequence[1]");
  EXPECT_EQ(refused_at("[0, 1, 0]", "[]"), phase + ".pattern.sequence");
  const auto percentiles = [this](const std::string& rows) {
    return refused_at("[0, 1, 0]", "[0, 1, 0], \"percentiles\": " + rows);
  };
  EXPECT_EQ(percentiles("[]"), phase + ".pattern.percentiles");
  EXPECT_EQ(percentiles("[[1, 2, 3], [1, 2]]"), phase + ".pattern.percentiles[1]");
  EXPECT_EQ(percentiles("[[1, 2, 100]]"), phase + ".pattern.percentiles[0][2]");
  EXPECT_EQ(percentiles("[[1, -2, 3]]"), phase + ".pattern.percentiles[0][1]");
  EXPECT_EQ(refused_at("\"sequence\", \"sequence\"", "\"circle\", \"sequence\""), phase + ".pattern.kind");
  EXPECT_EQ(refused_at("\"name\": \"spmv\"", "\"name\": \"symgs\""), "classes[0].phases[1].name");
  EXPECT_EQ(refused_at("\"name\": \"spmv\"", "\"name\": 4"), "classes[0].phases[1].name");
  EXPECT_EQ(refused_at("\"count\": 3, \"cdf\"", "\"count\": 0, \"cdf\""), "classes[0].phases[1].clusters");
}

TEST_F(TimingProfileFile, HasTheOrdersOfSimulatedRanksOrKnowsOfNone) {
  EXPECT_TRUE(read(kProfile, {"symgs"}).phases[0][0].percentiles.empty());
  std::string text = kProfile;
  const std::string sequence = "[0, 1, 0]";
  text.replace(text.find(sequence), sequence.size(), sequence + ", \"percentiles\": [[0, 50, 99], [3, 4, 5]]");
  const PhaseTiming phase = read(text, {"symgs"}).phases[0][0];
  EXPECT_EQ(phase.percentiles, (std::vector<std::vector<std::uint8_t>>{{0, 50, 99}, {3, 4, 5}}));
  EXPECT_FALSE(phase.persistent());
}

TEST_F(TimingProfileFile, HasCorrelationsAndTailsOrKnowsOfNone) {
  const PhaseTiming none = read(kProfile, {"symgs"}).phases[0][0];
  EXPECT_FALSE(none.persistent());
  EXPECT_EQ(none.clusters[0].tail.probability, 1);
  std::string text = kProfile;
  const std::string at = "\"variance\"";
  text.replace(text.find(at), 0,
               R"("persistence": {"between_ranks": {"share": 0.4, "correlation": 0.5},
                                   "between_nodes": {"correlation": 0.25}}, )");
  text.replace(text.find("\"cdf\""), 0,
               R"("tail": {"model": "generalised-pareto", "probability": 0.9, "threshold_s": 3.8, "scale_s": 0.1,
                            "shape": -0.2}, )");
  text.replace(text.find("\"phases\""), 0, "\"common\": 0.75, ");
  const PhaseTiming phase = read(text, {"symgs"}).phases[0][0];
  EXPECT_EQ(phase.rank_correlation, 0.5);
  EXPECT_EQ(phase.node_correlation, 0.25);
  EXPECT_EQ(phase.common, 0.75);
  EXPECT_EQ(phase.clusters[0].tail.shape, -0.2);
  EXPECT_EQ(phase.clusters[0].tail.threshold_s, 3.8);
  EXPECT_EQ(phase.clusters[1].tail.probability, 1);
}

TEST_F(TimingProfileFile, MalformedCorrelationsAndTailsAreRefusedWithTheirPlace) {
  const std::string phase = "classes[0].phases[0]";
  const auto persistence = [this](const std::string& value) {
    return refused_at("\"variance\"", "\"persistence\": " + value + ", \"variance\"");
  };
  EXPECT_EQ(persistence("{}"), phase + ".persistence");
  EXPECT_EQ(persistence(R"({"between_ranks": {"correlation": 1.5}, "between_nodes": null})"),
            phase + ".persistence.between_ranks.correlation");
  EXPECT_EQ(persistence(R"({"between_ranks": {"correlation": 0.6}, "between_nodes": {"correlation": 0.6}})"),
            phase + ".persistence");
  const auto tail = [this](const std::string& value) {
    return refused_at("\"cdf\"", "\"tail\": " + value + ", \"cdf\"");
  };
  EXPECT_EQ(tail(R"({"model": "normal"})"), phase + ".clusters[0].tail.model");
  EXPECT_EQ(tail(R"({"model": "generalised-pareto", "probability": 0.9, "threshold_s": 1, "scale_s": 1, "shape": 1})"),
            phase + ".clusters[0].tail.shape");
  EXPECT_EQ(refused_at("\"phases\"", "\"common\": 2, \"phases\""), "classes[0].common");
}

}  // namespace
}  // namespace manynode
