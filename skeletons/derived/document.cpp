#include "document.hpp"

#include <algorithm>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"
#include "manynode/json_text.hpp"

namespace manynode::derived {

Document::Document(const nlohmann::json& value, const Document& parent, const std::string& key)
    : value_(&value), where_(parent.where_), place_(parent.place_.empty() ? key : parent.place_ + "/" + key) {}

void Document::refuse(const std::string& what, const std::string& allowed) const {
  constexpr std::size_t kLength = 80;
  const std::string found = json_text(*value_);
  throw UserError(what, where(), found.size() <= kLength ? found : found.substr(0, kLength) + "...", allowed,
                  "compile the file again with manynode");
}

Document Document::operator[](const char* key) const {
  if (!has(key)) refuse(std::string("a derived skeleton lacks the key '") + key + "'", key);
  return Document(value_->at(key), *this, key);
}

std::vector<Document> Document::entries() const {
  if (!value_->is_array()) refuse("a derived skeleton has something else in place of a list", "a list");
  std::vector<Document> all;
  for (std::size_t i = 0; i < value_->size(); ++i) all.push_back(Document((*value_)[i], *this, std::to_string(i)));
  return all;
}

std::vector<std::string> Document::keys() const {
  if (!value_->is_object()) refuse("a derived skeleton has something else in place of an object", "an object");
  std::vector<std::string> all;
  for (const auto& [key, value] : value_->items()) all.push_back(key);
  return all;
}

void Document::only(std::initializer_list<const char*> keys) const {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const std::string& key : this->keys()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw UserError("a derived skeleton has an unknown key", where(), key, joined(known), did_you_mean(key, known));
    }
  }
}

std::string Document::text() const {
  if (!value_->is_string()) refuse("a derived skeleton has something else in place of a text", "a text");
  return value_->get<std::string>();
}

std::int64_t Document::integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) refuse("a derived skeleton has something else in place of a whole number", "a number of 64 bits");
  return value_->get<std::int64_t>();
}

double Document::real() const {
  if (!value_->is_number()) refuse("a derived skeleton has something else in place of a number", "a number");
  return value_->get<double>();
}

bool Document::flag() const {
  if (!value_->is_boolean()) refuse("a derived skeleton has something else in place of a flag", "true, false");
  return value_->get<bool>();
}

std::size_t Document::one_of(const std::vector<std::string>& names) const {
  const std::string found = text();
  const auto place = std::find(names.begin(), names.end(), found);
  if (place == names.end()) {
    throw UserError("a derived skeleton uses a name that it does not have", where(), found,
                    names.empty() ? "none" : joined(names), did_you_mean(found, names));
  }
  return static_cast<std::size_t>(place - names.begin());
}

}  // namespace manynode::derived
