// JSON to and from text. One file instantiates the library's parser and printer, which take seconds to compile.
#pragma once

#include <istream>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace manynode {

// Throws nlohmann::json::parse_error.
nlohmann::json parsed_json(std::istream& in);

// On one line.
std::string json_text(const nlohmann::json& value);

}  // namespace manynode
