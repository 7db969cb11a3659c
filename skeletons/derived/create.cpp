// The application of a compiled file: a derived skeleton's program, or an approximate skeleton's recorded runs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../recorded/skeleton.hpp"
#include "digest.hpp"
#include "document.hpp"
#include "manynode/error_report.hpp"
#include "manynode/json_text.hpp"
#include "manynode/named_call.hpp"
#include "manynode/parameters.hpp"
#include "program.hpp"
#include "skeleton.hpp"

namespace manynode::derived {
namespace {

constexpr const char* kSchema = "derived-program/1";

std::string content_of(const std::string& file, const std::string& digest) {
  if (file.empty()) {
    throw UserError("a derived skeleton needs its compiled file", "file", "nothing", "the path of a compiled file",
                    "give the parameters file and digest");
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw UserError("the file of a derived skeleton cannot be read", "file", file, "", "check the path");
  const std::string found = digest_of(text.str());
  if (found != digest) {
    throw UserError("the file of a derived skeleton has another content than 'digest' says", "digest",
                    digest.empty() ? "nothing" : digest, found,
                    "compile the file again, or give the digest of " + file);
  }
  return text.str();
}

nlohmann::json compiled_file(const std::string& file, const std::string& digest) {
  std::istringstream text(content_of(file, digest));
  try {
    return parsed_json(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError("the file of a derived skeleton is no JSON", file, error.what(), "",
                    "compile the file again with manynode");
  }
}

recorded::Growth growth_of(const Document& content) {
  content.only({"family", "dimensions", "width", "constant", "scale"});
  return {content["family"].text(), static_cast<int>(content["dimensions"].integer()), content["constant"].real(),
          content["scale"].real(), content["width"].real()};
}

recorded::LiftRules rules_of(const Document& run, const recorded::Stream& stream) {
  recorded::LiftRules rules;
  for (const Document& hub : run["hubs"].entries()) {
    if (hub.integer() < 0 || hub.integer() >= stream.ranks) hub.refuse("a hub is no rank of its run", "a rank");
    rules.hubs.push_back(static_cast<int>(hub.integer()));
  }
  rules.reach = static_cast<int>(run["reach"].integer());
  rules.messages = growth_of(run["messages"]);
  rules.peak = growth_of(run["peak"]);
  rules.bytes = growth_of(run["bytes"]);
  const Document collectives = run["collectives"];
  for (const std::string& name : collectives.keys()) {
    const auto form = call_form(name);
    if (!form) collectives.refuse("there is no collective " + name, "MPI's names");
    rules.collectives[form->kind] = growth_of(collectives[name.c_str()]);
  }
  for (const Document& exponent : run["exponents"].entries()) rules.exponents.push_back(exponent.real());
  return rules;
}

// The largest recorded run of which the job's number of ranks is a multiple.
std::unique_ptr<Application> approximate(const Document& document, const std::string& file, int ranks) {
  document.only({"phases", "only", "runs"});
  std::optional<Document> best;
  std::string known;
  for (const Document& run : document["runs"].entries()) {
    run.only({"ranks", "file", "digest", "hubs", "reach", "messages", "peak", "bytes", "collectives", "exponents"});
    const std::int64_t recorded = run["ranks"].integer();
    known += (known.empty() ? "" : ", ") + std::to_string(recorded);
    if (recorded < 1 || ranks % recorded != 0) continue;
    if (!best || recorded > (*best)["ranks"].integer()) best = run;
  }
  if (!best) {
    throw UserError("an approximate skeleton has no recorded run that divides the number of ranks", "ranks",
                    std::to_string(ranks), "multiples of " + known, "record a number of ranks that divides it");
  }
  const std::filesystem::path path = std::filesystem::path(file).parent_path() / (*best)["file"].text();
  recorded::Stream stream = recorded::read_stream(path.string());
  if (stream.digest != (*best)["digest"].text() || stream.ranks != (*best)["ranks"].integer()) {
    throw UserError("a recorded run is not the one that an approximate skeleton was made of", path.string(),
                    stream.digest, (*best)["digest"].text(), "derive the skeleton again");
  }
  if (stream.ranks == ranks) return std::make_unique<recorded::Recorded>(std::move(stream));
  const recorded::LiftRules rules = rules_of(*best, stream);
  return std::make_unique<recorded::Recorded>(std::move(stream), rules, ranks);
}

// Recorded runs stand for jobs with the same arguments.
void check_recorded(const Document& recorded, const std::string& values) {
  const Parameters given = parameters_from_json(values, "values");
  for (const std::string& name : recorded.keys()) {
    const std::int64_t usual = recorded[name.c_str()].integer();
    const auto value = given.values().find(name);
    if (value != given.values().end() && to_text(value->second) != std::to_string(usual)) {
      throw UserError("a recorded run stands for jobs with its own parameters only", "values: " + name,
                      to_text(value->second), std::to_string(usual),
                      "record the program with this value, or leave this number of ranks out");
    }
  }
}

bool is_for(const Document& approximate, int ranks) {
  if (!approximate.has("only")) return true;
  const std::vector<Document> only = approximate["only"].entries();
  return std::any_of(only.begin(), only.end(), [&](const Document& one) { return one.integer() == ranks; });
}

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  const std::string file = parameters.text("file");
  const nlohmann::json compiled = compiled_file(file, parameters.text("digest"));
  const Document document(compiled, file);
  document["schema"].one_of({kSchema});
  if (document.has("approximate") && is_for(document["approximate"], ranks)) {
    check_recorded(document["parameters"], parameters.text("values"));
    return approximate(document["approximate"], file, ranks);
  }
  return std::make_unique<Derived>(made_program(document, file, parameters.text("values"), ranks),
                                   static_cast<std::uint64_t>(parameters.integer("seed", 0)));
}

}  // namespace manynode::derived
