// Makes the program of a compiled file for one number of ranks. The body's items are read by item_reader.cpp.
#include <cmath>
#include <limits>

#include "../source/nearest.hpp"
#include "document.hpp"
#include "item_reader.hpp"
#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"
#include "program.hpp"

namespace manynode::derived {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Grid grid_of(const Document& document, int ranks) {
  if (!document.has("grid")) return made_grid({}, {}, false);
  const Document grid = document["grid"];
  grid.only({"rule", "dimensions", "order", "ties", "layout", "periodic", "extents"});
  Extents extents;
  const std::string key = std::to_string(ranks);
  if (grid.has("extents") && grid["extents"].has(key.c_str())) {
    const Document stated = grid["extents"][key.c_str()];
    std::int64_t product = 1;
    for (const Document& extent : stated.entries()) {
      extents.push_back(extent.integer());
      product = extents.back() < 1 || extents.back() > ranks ? 0 : product * extents.back();
      if (product < 1 || product > ranks) break;
    }
    if (product != ranks) stated.refuse("the extents of a grid do not hold all ranks", key + " ranks");
  } else if (grid.has("rule")) {
    GridRule rule;
    rule.name = grid["rule"].text();
    const std::int64_t dimensions = grid["dimensions"].integer();
    const std::int64_t only = rule.name == "squarest" ? 2 : rule.name == "hpcg" ? 3 : 0;
    if (dimensions < 1 || dimensions > kMostDimensions || (only != 0 && dimensions != only)) {
      grid["dimensions"].refuse("a grid cannot have so many dimensions", only ? std::to_string(only) : "1 to 8");
    }
    rule.dimensions = static_cast<int>(dimensions);
    rule.order = static_cast<Order>(grid["order"].one_of({"descending", "ascending", "unsorted"}));
    rule.ties_last = grid["ties"].one_of({"first", "last"}) == 1;
    extents = extents_of(rule, ranks);
  } else {
    grid.refuse("the grid of a derived skeleton has no extents for this number of ranks", key + " ranks, or a rule");
  }
  std::vector<bool> periodic(extents.size());
  if (grid.has("periodic")) {
    const std::vector<Document> flags = grid["periodic"].entries();
    if (flags.size() != extents.size()) {
      grid["periodic"].refuse("a grid needs a flag for each axis", std::to_string(extents.size()) + " flags");
    }
    for (std::size_t axis = 0; axis < flags.size(); ++axis) periodic[axis] = flags[axis].flag();
  }
  const bool first_fastest = grid["layout"].one_of({"first-fastest", "last-fastest"}) == 0;
  return made_grid(std::move(extents), std::move(periodic), first_fastest);
}

// The problem's parameters: the given ones, and the file's defaults for the rest.
std::map<std::string, std::int64_t, std::less<>> parameters_of(const Document& document, const std::string& values) {
  std::map<std::string, std::int64_t, std::less<>> parameters;
  std::vector<std::string> names;
  const Document defaults = document["parameters"];
  for (const std::string& name : defaults.keys()) {
    parameters[name] = defaults[name.c_str()].integer();
    names.push_back(name);
  }
  const Parameters given = parameters_from_json(values, "values");
  for (const auto& [name, value] : given.values()) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
      throw UserError("a derived skeleton has no such parameter", "values", name, joined(names),
                      did_you_mean(name, names));
    }
    if (integer == nullptr) {
      throw UserError("a parameter of a derived skeleton is wrong", "values: " + name, to_text(value),
                      "a whole number");
    }
    found->second = *integer;
  }
  return parameters;
}

Names names_of(const Program& program, const Document& document, const std::string& values) {
  Names names;
  names.constants = parameters_of(document, values);
  names.constants["P"] = program.size;
  names.slots["rank"] = kRankSlot;
  for (std::size_t axis = 0; axis < program.grid.axes(); ++axis) {
    names.constants["d" + std::to_string(axis)] = program.grid.extents[axis];
    names.slots["c" + std::to_string(axis)] = kFirstCoordinateSlot + static_cast<std::int32_t>(axis);
  }
  return names;
}

// Scales the values so that their average is the mean of a job of this size.
void scale(Distribution& distribution, const Document& mean, const Program& program, ItemReader& reader) {
  const Formula formula = reader.formula(mean);
  Frame frame(program.expressions, program.grid, 0);  // the same on all ranks
  const std::int64_t wanted = value_of(program, formula, reader.text(mean.place()), "mean", frame);
  if (wanted < 0 || wanted > kMostBytes)
    mean.refuse("the mean of a distribution is " + std::to_string(wanted), "0 to 2^50 bytes");
  double average{0};
  for (const std::uint64_t value : distribution.values) average += static_cast<double>(value);
  average /= static_cast<double>(distribution.values.size());
  if (average == 0 && wanted > 0) mean.refuse("sizes of 0 bytes have another mean", "0");
  for (std::uint64_t& value : distribution.values) {
    const double scaled = average > 0 ? static_cast<double>(value) * (static_cast<double>(wanted) / average) : 0;
    value = static_cast<std::uint64_t>(std::llround(scaled));
  }
}

std::vector<Distribution> distributions_of(const Document& document, const Program& program, ItemReader& reader) {
  std::vector<Distribution> all;
  const Document distributions = document["distributions"];
  for (const std::string& name : distributions.keys()) {
    const Document content = distributions[name.c_str()];
    Distribution& one = all.emplace_back(name, content["persistence"].real());
    if (!(one.persistence >= 0 && one.persistence <= 1)) {
      content["persistence"].refuse("a persistence is a probability", "0 to 1");
    }
    for (const Document& value : content["values"].entries()) {
      if (value.integer() < 0 || value.integer() > kMostBytes) value.refuse("a size is wrong", "0 to 2^50 bytes");
      one.values.push_back(static_cast<std::uint64_t>(value.integer()));
    }
    if (one.values.empty()) content["values"].refuse("a distribution needs sizes", "at least one");
    if (content.has("mean")) scale(one, content["mean"], program, reader);
  }
  return all;
}

// Phases named by two sites: "before -> after", where both names may contain the arrow.
std::vector<std::int32_t> phases_between(const std::vector<std::string>& sites,
                                         const std::vector<std::string>& phases) {
  constexpr std::string_view kArrow = " -> ";
  std::map<std::string, std::size_t, std::less<>> numbers;
  for (std::size_t site = 0; site < sites.size(); ++site) numbers.emplace(sites[site], site);
  std::vector<std::int32_t> found(sites.size() * sites.size(), kNone);
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const std::string_view name = phases[phase];
    for (std::size_t at = name.find(kArrow); at != std::string_view::npos; at = name.find(kArrow, at + 1)) {
      const auto before = numbers.find(name.substr(0, at));
      const auto after = numbers.find(name.substr(at + kArrow.size()));
      if (before != numbers.end() && after != numbers.end()) {
        found[before->second * sites.size() + after->second] = static_cast<std::int32_t>(phase);
      }
    }
  }
  return found;
}

Partition partition_of(const Document& content, Program& program, ItemReader& reader) {
  const Formula color = reader.formula(content["color"]);
  const Formula key = reader.formula(content["key"]);
  const std::uint32_t place = reader.text(content.place());
  const auto number = [&](const Formula& formula, const char* field, Frame& frame) {
    const std::int64_t value = value_of(program, formula, place, field, frame);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
      content[field].refuse("a communicator has a " + std::string(field) + " of " + std::to_string(value),
                            "a number of 32 bits");
    }
    return static_cast<int>(value);
  };
  return Partition(program.size, [&](int rank) {
    Frame frame(program.expressions, program.grid, rank);
    const int colored = number(color, "color", frame);
    return std::pair(colored, colored < 0 ? 0 : number(key, "key", frame));
  });
}

}  // namespace

std::int64_t value_of(const Program& program, const Formula& formula, std::uint32_t place, const char* field,
                      Frame& frame) {
  try {
    return program.expressions.evaluate(formula.node, frame);
  } catch (const Mistake& mistake) {
    throw UserError("an expression of a derived skeleton has no value",
                    program.file + ": " + program.texts[place] + "/" + field,
                    program.texts[formula.text] + ": " + mistake.what() + " on rank " +
                        std::to_string(frame.slot(kRankSlot)) + " of " + std::to_string(program.size),
                    "", "correct the expression, or add a 'when' that leaves these ranks out");
  }
}

std::unique_ptr<Program> made_program(const Document& document, const std::string& file, const std::string& values,
                                      int ranks) {
  document.only({"schema", "name", "parameters", "grid", "communicators", "definitions", "phases", "sites",
                 "distributions", "body", "approximate"});
  auto program = std::make_unique<Program>(grid_of(document, ranks), ranks);
  program->file = file;
  Names names = names_of(*program, document, values);
  for (const Document& definition : document["definitions"].entries()) {
    const std::vector<Document> pair = definition.entries();
    if (pair.size() != 2) definition.refuse("a definition is a name and an expression", "[name, expression]");
    const std::string where = file + ": definitions/" + pair[0].text();
    const NodeIndex content = parsed(pair[1].text(), where, names, program->expressions);
    names.definitions[pair[0].text()] = program->expressions.add_definition(content);
  }
  for (const Document& phase : document["phases"].entries()) program->phases.push_back(phase.text());
  for (const Document& site : document["sites"].entries()) program->sites.push_back(site.text());
  program->phase_between = phases_between(program->sites, program->phases);
  ItemReader reader(*program, std::move(names));
  program->distributions = distributions_of(document, *program, reader);
  for (const Document& communicator : document["communicators"].entries()) {
    program->communicator_names.push_back(communicator["name"].text());
    program->communicators.push_back(partition_of(communicator, *program, reader));
  }
  program->body = reader.body(document["body"]);
  return program;
}

}  // namespace manynode::derived
