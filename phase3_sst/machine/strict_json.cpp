#include "strict_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "manynode/error_report.hpp"
#include "sim_time.hpp"

namespace manynode::network {

namespace {

std::string shortened(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool is_integer_between(const nlohmann::json& value, std::int64_t minimum, std::int64_t maximum) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return false;
  return value.get<std::int64_t>() >= minimum && value.get<std::int64_t>() <= maximum;
}

std::string bounds(std::int64_t minimum, std::int64_t maximum) {
  const std::string least = "at least " + std::to_string(minimum);
  return maximum == INT64_MAX ? least : least + " and at most " + std::to_string(maximum);
}

}  // namespace

nlohmann::json parse_json(const std::string& text) {
  using nlohmann::json;
  std::vector<std::string> path;  // the last key read and its enclosing keys; empty in lists
  const auto follow = [&path](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key) {
      path.resize(static_cast<std::size_t>(depth));
      path.back() = parsed.get<std::string>();
    }
    return true;
  };
  try {
    return json::parse(text, follow);
  } catch (const json::exception& error) {
    std::string place;
    for (const std::string& key : path) place += (place.empty() || key.empty() ? "" : ".") + key;
    const auto* syntax = dynamic_cast<const json::parse_error*>(&error);
    throw UserError("the run file is not JSON", syntax == nullptr ? place : "byte " + std::to_string(syntax->byte),
                    (place.empty() ? "" : "at " + place + ": ") + error.what(), "JSON, in which numbers are finite",
                    "mend the file at this place");
  }
}

StrictObject::StrictObject(const nlohmann::json& value, std::string place) : object_(value), place_(std::move(place)) {
  if (object_.is_object()) return;
  throw UserError("the run file has something else where an object belongs", place_.empty() ? "the file" : place_,
                  shortened(object_), "an object", "write {\"key\": value, ...}");
}

std::string StrictObject::place_of(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

void StrictObject::refuse(const std::string& key, const std::string& allowed) const {
  throw UserError("the run file has a wrong value", place_of(key), shortened(object_.at(key)), allowed,
                  "correct " + place_of(key));
}

bool StrictObject::has(const std::string& key) {
  known_.push_back(key);
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const nlohmann::json& StrictObject::value(const std::string& key) {
  known_.push_back(key);
  const auto found = object_.find(key);
  if (found == object_.end()) {
    throw UserError("the run file lacks a key", place_of(key), "nothing", "", "add " + place_of(key));
  }
  return *found;
}

double StrictObject::number(const std::string& key, bool zero_allowed) {
  const auto& member = value(key);
  const char* allowed = zero_allowed ? "a number, 0 or greater" : "a number greater than 0";
  if (!member.is_number()) refuse(key, allowed);
  const double number = member.get<double>();
  if (!std::isfinite(number) || number < 0 || (number == 0 && !zero_allowed)) refuse(key, allowed);
  return number;
}

double StrictObject::number_between(const std::string& key, double minimum, double maximum) {
  const auto& member = value(key);
  const bool good = member.is_number() && member.get<double>() >= minimum && member.get<double>() <= maximum;
  if (!good) refuse(key, "a number from " + text_of(minimum) + " to " + text_of(maximum));
  return member.get<double>();
}

double StrictObject::seconds(const std::string& key) { return number_between(key, 0, kLongestStep_s); }

double StrictObject::bandwidth(const std::string& key) {
  return number_between(key, kLeastBandwidth_Bps, kMostBandwidth_Bps);
}

double StrictObject::positive(const std::string& key) { return number(key, false); }

double StrictObject::not_negative(const std::string& key) { return number(key, true); }

std::int64_t StrictObject::integer(const std::string& key, std::int64_t minimum, std::int64_t maximum) {
  const auto& member = value(key);
  if (!is_integer_between(member, minimum, maximum)) refuse(key, "an integer, " + bounds(minimum, maximum));
  return member.get<std::int64_t>();
}

std::uint64_t StrictObject::seed(const std::string& key) {
  const auto& member = value(key);
  // The parser stores non-negative integers as unsigned.
  if (!member.is_number_unsigned()) refuse(key, "an integer, 0 to 18446744073709551615");
  return member.get<std::uint64_t>();
}

std::vector<std::int64_t> StrictObject::integers(const std::string& key, std::int64_t minimum, std::int64_t maximum) {
  const auto& member = value(key);
  const bool good = member.is_array() && !member.empty() &&
                    std::all_of(member.begin(), member.end(),
                                [&](const auto& element) { return is_integer_between(element, minimum, maximum); });
  if (!good) refuse(key, "a list of integers, each " + bounds(minimum, maximum));
  return member.get<std::vector<std::int64_t>>();
}

std::string StrictObject::text(const std::string& key) {
  const auto& member = value(key);
  if (!member.is_string()) refuse(key, "a text");
  return member.get<std::string>();
}

std::vector<std::string> StrictObject::texts(const std::string& key) {
  const auto& member = value(key);
  const bool good = member.is_array() &&
                    std::all_of(member.begin(), member.end(), [](const auto& element) { return element.is_string(); });
  if (!good) refuse(key, "a list of texts");
  return member.get<std::vector<std::string>>();
}

bool StrictObject::flag(const std::string& key) {
  const auto& member = value(key);
  if (!member.is_boolean()) refuse(key, "true or false");
  return member.get<bool>();
}

StrictObject StrictObject::object(const std::string& key) { return StrictObject(value(key), place_of(key)); }

std::vector<StrictObject> StrictObject::objects(const std::string& key) {
  const auto& member = value(key);
  if (!member.is_array() || member.empty()) refuse(key, "a list of objects, at least one");
  std::vector<StrictObject> objects;
  for (std::size_t i = 0; i < member.size(); ++i) {
    objects.emplace_back(member[i], place_of(key) + "[" + std::to_string(i) + "]");
  }
  return objects;
}

void StrictObject::finish() const {
  for (const auto& [key, member] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    throw UserError("the run file has an unknown key", place_of(key), key, joined(known_), "remove or correct the key");
  }
}

}  // namespace manynode::network
