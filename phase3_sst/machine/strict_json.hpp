// Reading JSON objects without forgiveness: each member is asked for by name, type and bound, and what nobody asked for
// is an error, because a misspelt key that is silently ignored changes a projection without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace manynode::network {

// Throws UserError that names the key at which `text` is no JSON: numbers without end (Infinity, NaN, 1e400), too.
nlohmann::json parse_json(const std::string& text);

class StrictObject {
 public:
  // `place` is the key of the object in the file, empty for the file itself. Throws UserError, as all members do, when
  // `value` is not an object. `value` outlives this object.
  StrictObject(const nlohmann::json& value, std::string place);

  // True when the member is there and not null; either way it is known from now on.
  bool has(const std::string& key);

  double positive(const std::string& key);
  double not_negative(const std::string& key);
  // Quantities within what simulated time can hold (sim_time.hpp): a time [s], 0 allowed, and a rate [B/s].
  double seconds(const std::string& key);
  double bandwidth(const std::string& key);
  double number_between(const std::string& key, double minimum, double maximum);
  std::int64_t integer(const std::string& key, std::int64_t minimum, std::int64_t maximum = INT64_MAX);
  std::uint64_t seed(const std::string& key);  // any 64 bits
  std::vector<std::int64_t> integers(const std::string& key, std::int64_t minimum, std::int64_t maximum = INT64_MAX);
  std::string text(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key);
  StrictObject object(const std::string& key);
  std::vector<StrictObject> objects(const std::string& key);  // of a list
  const nlohmann::json& value(const std::string& key);

  // To be called last: throws for the first member that was not asked for.
  void finish() const;

  std::string place_of(const std::string& key) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& allowed) const;

 private:
  double number(const std::string& key, bool zero_allowed);

  const nlohmann::json& object_;
  std::string place_;
  std::vector<std::string> known_;
};

}  // namespace manynode::network
