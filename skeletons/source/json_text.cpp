#include "manynode/json_text.hpp"

#include <nlohmann/json.hpp>

namespace manynode {

nlohmann::json parsed_json(std::istream& in) { return nlohmann::json::parse(in); }

std::string json_text(const nlohmann::json& value) { return value.dump(); }

}  // namespace manynode
