// Reads a timing profile (schema timing-profile/1) and orders it as the skeleton's phases.
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "manynode/error_report.hpp"
#include "manynode/json_text.hpp"
#include "manynode/timing.hpp"
#include "nearest.hpp"

namespace manynode {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "timing-profile/1";
constexpr std::size_t kMaximumEdges = 101;  // 100 bins (Eyerman et al., section 3.4)
constexpr const char* kRemedy = "write the profile again with phase 2";

// A position in the document: "profile.json: classes[0].phases[3]".
struct Place {
  std::string text;

  Place key(const std::string& name) const {
    const bool at_file = text.find(": ") == std::string::npos;
    return {text + (at_file ? ": " : ".") + name};
  }
  Place index(std::size_t i) const { return {text + "[" + std::to_string(i) + "]"}; }
};

std::string excerpt(const json& value) {
  constexpr std::size_t kLength = 60;
  const std::string text = json_text(value);
  return text.size() <= kLength ? text : text.substr(0, kLength) + "...";
}

[[noreturn]] void refuse(const Place& place, const std::string& found, const std::string& allowed) {
  throw UserError("malformed timing profile", place.text, found, allowed, kRemedy);
}

const json& member(const json& object, const char* name, const Place& place) {
  if (!object.is_object() || !object.contains(name)) {
    refuse(place, excerpt(object), std::string("an object with the key \"") + name + "\"");
  }
  return object.at(name);
}

const json& list(const json& object, const char* name, const Place& place) {
  const json& value = member(object, name, place);
  if (!value.is_array() || value.empty()) {
    refuse(place.key(name), excerpt(value), "a list that is not empty");
  }
  return value;
}

double number(const json& value, const Place& place) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
    refuse(place, excerpt(value), "a number, at least 0");
  }
  return value.get<double>();
}

std::string name_of(const json& object, const Place& place) {
  const json& value = member(object, "name", place);
  if (!value.is_string()) {
    refuse(place.key("name"), excerpt(value), "a text");
  }
  return value.get<std::string>();
}

std::vector<double> rising_numbers(const json& object, const char* name, const Place& place) {
  std::vector<double> numbers;
  const json& values = list(object, name, place);
  for (std::size_t i = 0; i < values.size(); ++i) {
    numbers.push_back(number(values[i], place.key(name).index(i)));
    if (i > 0 && numbers[i] < numbers[i - 1]) {
      refuse(place.key(name).index(i), excerpt(values[i]), "a value not below the one before it");
    }
  }
  return numbers;
}

double share(const json& object, const char* name, const Place& place) {
  const double value = number(member(object, name, place), place.key(name));
  if (value > 1) {
    refuse(place.key(name), excerpt(object.at(name)), "a number from 0 to 1");
  }
  return value;
}

Tail read_tail(const json& value, const Place& place) {
  const json& model = member(value, "model", place);
  if (model != "generalised-pareto") {
    refuse(place.key("model"), excerpt(model), "\"generalised-pareto\"");
  }
  Tail tail;
  tail.probability = share(value, "probability", place);
  tail.threshold_s = number(member(value, "threshold_s", place), place.key("threshold_s"));
  tail.scale_s = number(member(value, "scale_s", place), place.key("scale_s"));
  const json& shape = member(value, "shape", place);
  // From a shape of 1 on, the distribution has no mean.
  if (!shape.is_number() || !(std::abs(shape.get<double>()) < 1)) {
    refuse(place.key("shape"), excerpt(shape), "a number above -1 and below 1");
  }
  tail.shape = shape.get<double>();
  return tail;
}

// Absent, and null where one rank was simulated: no difference is known to persist.
void read_persistence(const json& value, const Place& place, PhaseTiming& phase) {
  phase.rank_correlation = share(member(value, "between_ranks", place), "correlation", place.key("between_ranks"));
  const json& nodes = member(value, "between_nodes", place);
  if (!nodes.is_null()) {
    phase.node_correlation = share(nodes, "correlation", place.key("between_nodes"));
  }
  constexpr double kRounding = 1e-9;
  if (phase.node_correlation + phase.rank_correlation > 1 + kRounding) {
    refuse(place, excerpt(value), "correlations that sum to at most 1");
  }
}

Cluster read_cluster(const json& value, const Place& place) {
  Cluster cluster;
  cluster.mean_s = number(member(value, "mean_s", place), place.key("mean_s"));
  const char* const weight = value.contains("weight") ? "weight" : "count";
  cluster.weight = number(member(value, weight, place), place.key(weight));

  const json& cdf = member(value, "cdf", place);
  const Place cdf_place = place.key("cdf");
  cluster.time_s = rising_numbers(cdf, "time_s", cdf_place);
  cluster.probability = rising_numbers(cdf, "probability", cdf_place);
  if (cluster.time_s.size() != cluster.probability.size() || cluster.time_s.size() > kMaximumEdges) {
    refuse(cdf_place,
           std::to_string(cluster.time_s.size()) + " times and " + std::to_string(cluster.probability.size()) +
               " probabilities",
           "as many of one as of the other, at most " + std::to_string(kMaximumEdges));
  }
  // Sums of bin counts divided by their total end at 1 up to rounding.
  constexpr double kRounding = 1e-6;
  if (std::abs(cluster.probability.back() - 1) > kRounding) {
    refuse(cdf_place.key("probability"), std::to_string(cluster.probability.back()), "a last value of 1");
  }
  cluster.probability.back() = 1;
  if (value.contains("tail") && !value.at("tail").is_null()) {
    cluster.tail = read_tail(value.at("tail"), place.key("tail"));
  }
  return cluster;
}

// A simulated rank's place in the distribution of its cluster, in hundredths, for each place of the sequence.
std::vector<std::uint8_t> read_percentiles(const json& row, const Place& place, std::size_t length) {
  if (!row.is_array() || row.size() != length) {
    refuse(place, excerpt(row), "a list of " + std::to_string(length) + " numbers, one for each place of the sequence");
  }
  std::vector<std::uint8_t> found;
  for (std::size_t i = 0; i < length; ++i) {
    if (!row[i].is_number_unsigned() || row[i].get<std::uint64_t>() > 99) {
      refuse(place.index(i), excerpt(row[i]), "a whole number from 0 to 99");
    }
    found.push_back(row[i].get<std::uint8_t>());
  }
  return found;
}

void read_pattern(const json& value, const Place& place, PhaseTiming& phase) {
  const json& kind = member(value, "kind", place);
  if (kind == "weights") {
    return;
  }
  if (kind != "sequence") {
    refuse(place.key("kind"), excerpt(kind), "\"sequence\" or \"weights\"");
  }
  const json& sequence = list(value, "sequence", place);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const json& entry = sequence[i];
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() >= phase.clusters.size()) {
      refuse(place.key("sequence").index(i), excerpt(entry),
             "the index of one of " + std::to_string(phase.clusters.size()) + " clusters");
    }
    phase.sequence.push_back(entry.get<std::uint32_t>());
  }
  if (value.contains("repeat")) {
    const json& repeat = value.at("repeat");
    if (!repeat.is_number_unsigned() || repeat == 0) {
      refuse(place.key("repeat"), excerpt(repeat), "a whole number above 0");
    }
    phase.repeated = repeat > 1;
  }
  if (value.contains("percentiles") && !value.at("percentiles").is_null()) {
    const json& rows = list(value, "percentiles", place);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      phase.percentiles.push_back(read_percentiles(rows[i], place.key("percentiles").index(i), sequence.size()));
    }
  }
}

PhaseTiming read_phase(const json& value, const Place& place) {
  PhaseTiming phase;
  const json& clusters = list(value, "clusters", place);
  double total = 0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    phase.clusters.push_back(read_cluster(clusters[i], place.key("clusters").index(i)));
    total += phase.clusters.back().weight;
  }
  if (!(total > 0)) {
    refuse(place.key("clusters"), "weights that sum to 0", "at least one cluster with a weight above 0");
  }
  for (Cluster& cluster : phase.clusters) {
    cluster.weight /= total;
  }
  if (value.contains("pattern")) {
    read_pattern(value.at("pattern"), place.key("pattern"), phase);
  }
  if (value.contains("persistence") && !value.at("persistence").is_null()) {
    read_persistence(value.at("persistence"), place.key("persistence"), phase);
  }
  return phase;
}

// What stands for a phase that was never executed: one cluster, always 0 s.
PhaseTiming no_time() {
  PhaseTiming phase;
  phase.clusters.push_back({.mean_s = 0, .weight = 1, .time_s = {0}, .probability = {1}});
  return phase;
}

// The phases of one class.
std::map<std::string, PhaseTiming> read_phases(const json& one_class, const Place& place) {
  const double common = one_class.contains("common") ? share(one_class, "common", place) : 0;
  std::map<std::string, PhaseTiming> by_name;
  const json& phases = member(one_class, "phases", place);
  for (std::size_t p = 0; p < phases.size(); ++p) {
    const Place phase_place = place.key("phases").index(p);
    const std::string name = name_of(phases[p], phase_place);
    PhaseTiming phase = read_phase(phases[p], phase_place);
    phase.common = common;
    if (!by_name.emplace(name, std::move(phase)).second) {
      refuse(phase_place.key("name"), name, "each phase once");
    }
  }
  return by_name;
}

// Phases between two call sites are those of recorded runs. A job may execute some of them only, so that they are
// missed when a rank draws one (TimingModel::refuse).
constexpr const char* kBetweenCalls = " -> ";

void check_known(const std::string& path, const std::vector<std::string>& needed, const std::set<std::string>& known) {
  for (const std::string& name : needed) {
    if (!known.contains(name) && name.find(kBetweenCalls) == std::string::npos) {
      throw UserError("the timing profile lacks a compute phase of the skeleton", path,
                      joined(std::vector<std::string>(known.begin(), known.end())), name,
                      "run phase 2 with the application that the skeleton describes, at a number of nodes at which it "
                      "executes this phase, or let missing phases take no time (technique no-ext)");
    }
  }
}

json parse(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw UserError("cannot read the timing profile", path, "", "", "check the path; phase 2 writes the profile");
  }
  try {
    return parsed_json(file);
  } catch (const json::exception& error) {
    throw UserError("the timing profile is not valid JSON", path, error.what(), kSchema, kRemedy);
  }
}

}  // namespace

TimingProfile read_timing_profile(const std::string& path, const std::vector<std::string>& phase_names,
                                  bool missing_is_zero) {
  const json document = parse(path);
  const Place root{path};
  const json& schema = member(document, "schema", root);
  if (schema != kSchema) {
    refuse(root.key("schema"), excerpt(schema), kSchema);
  }

  TimingProfile profile;
  profile.path = path;
  profile.phase_names = phase_names;
  const json& classes = list(document, "classes", root);
  std::set<std::string> known;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const Place place = root.key("classes").index(c);
    profile.classes.push_back(name_of(classes[c], place));
    const std::map<std::string, PhaseTiming> by_name = read_phases(classes[c], place);
    std::vector<PhaseTiming>& ordered = profile.phases.emplace_back();
    for (const std::string& name : phase_names) {
      const auto found = by_name.find(name);
      ordered.push_back(found != by_name.end() ? found->second : missing_is_zero ? no_time() : PhaseTiming{});
    }
    for (const auto& [name, phase] : by_name) known.insert(name);
  }
  if (!missing_is_zero) {
    check_known(path, phase_names, known);
  }
  return profile;
}

}  // namespace manynode
