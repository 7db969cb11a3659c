// A JSON document with places: what is missing or has another form is a UserError that names its place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace manynode::derived {

class Document {
 public:
  // `where` names the file; the place of the whole document is empty.
  Document(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  // "<file>: body/5/do/0/bytes"
  std::string where() const { return place_.empty() ? where_ : where_ + ": " + place_; }
  const std::string& place() const { return place_; }

  [[noreturn]] void refuse(const std::string& what, const std::string& allowed) const;

  bool has(const char* key) const { return value_->is_object() && value_->contains(key); }
  // The value of a key, which must be there.
  Document operator[](const char* key) const;
  // The entries of a list.
  std::vector<Document> entries() const;
  // The keys of an object, in alphabetical order.
  std::vector<std::string> keys() const;
  // Refuses keys of an object that are not among these.
  void only(std::initializer_list<const char*> keys) const;

  std::string text() const;
  std::int64_t integer() const;
  double real() const;
  bool flag() const;
  bool is_object() const { return value_->is_object(); }
  // An entry of `names`; returns its number.
  std::size_t one_of(const std::vector<std::string>& names) const;

 private:
  Document(const nlohmann::json& value, const Document& parent, const std::string& key);

  const nlohmann::json* value_;
  std::string where_;
  std::string place_;
};

}  // namespace manynode::derived
