// A mistake of the user, with the facts needed to correct it. Every C++ program of the toolkit reports it in one line,
// {"error":{"what","where","found","allowed","remedy"}} on stderr, which manynode/errors.py reads.
#pragma once

#include <exception>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

namespace manynode {

// Exit codes, the same as in manynode/errors.py.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailed = 5;

class UserError : public std::invalid_argument {
 public:
  // `what`: what failed. `where`: file and line, config key or option. `found`: the wrong value. `allowed`: the valid
  // values. `remedy`: how to correct it. Fields that do not apply stay empty.
  explicit UserError(const std::string& what, std::string where = {}, std::string found = {}, std::string allowed = {},
                     std::string remedy = {})
      : std::invalid_argument(what),
        where(std::move(where)),
        found(std::move(found)),
        allowed(std::move(allowed)),
        remedy(std::move(remedy)) {}

  std::string where;
  std::string found;
  std::string allowed;
  std::string remedy;
};

namespace error_report_detail {

// Control characters and bytes outside ASCII become \u00XX: the line is valid JSON for any input.
inline std::string json_text(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace error_report_detail

// The line, with its end. Exceptions other than UserError have only a `what`.
inline std::string error_line(const std::exception& error) {
  const auto* user = dynamic_cast<const UserError*>(&error);
  std::string line = "{\"error\":{\"what\":" + error_report_detail::json_text(error.what());
  const auto field = [&](const char* name, const std::string& value) {
    line += std::string(",\"") + name + "\":" + error_report_detail::json_text(value);
  };
  const std::string none;
  field("where", user ? user->where : none);
  field("found", user ? user->found : none);
  field("allowed", user ? user->allowed : none);
  field("remedy", user ? user->remedy : none);
  return line + "}}\n";
}

inline void print_error(std::ostream& out, const std::exception& error) { out << error_line(error) << std::flush; }

}  // namespace manynode
