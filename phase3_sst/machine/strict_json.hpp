// Reads JSON objects strictly: each member is requested by name, type and bounds, and any other member is an error. A
// misspelt key that is silently ignored would change a projection unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace manynode::network {

// Throws UserError with the key at which `text` is not valid JSON; this includes Infinity, NaN and 1e400.
nlohmann::json parse_json(const std::string& text);

class StrictObject {
 public:
  // `place` is the key of the object in the file, empty for the file itself. Throws UserError, as all members do, if
  // `value` is not an object. `value` outlives this object.
  StrictObject(const nlohmann::json& value, std::string place);

  // True if the member exists and is not null; in any case it counts as requested.
  bool has(const std::string& key);

  double positive(const std::string& key);
  double not_negative(const std::string& key);
  // Quantities within the range of simulated time (sim_time.hpp): a time [s], 0 allowed, and a rate [B/s].
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

  // Call this last: throws for the first member that was not requested.
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
