// Reads the items of a derived skeleton's body.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "document.hpp"
#include "program.hpp"

namespace manynode::derived {

class ItemReader {
 public:
  // `names` are those that every expression may use.
  ItemReader(Program& program, Names names) : program_(program), names_(std::move(names)) {}

  // The items of the whole program.
  std::vector<Item> body(const Document& items) { return this->items(items); }

  Formula formula(const Document& expression);

  // The number of a text in Program::texts.
  std::uint32_t text(const std::string& text);

 private:
  std::vector<Item> items(const Document& list);
  Item item(const Document& content);
  std::int32_t site(const Document& content) const;
  void read_loop(const Document& content, Item& item);
  void read_call(const Document& content, Item& item);
  void read_wait(const Document& content, CallFields& call);
  Formula formula(const Document& content, const char* key);
  void read_blocks(const Document& content, CallFields& call);
  std::vector<Formula> list(const Document& content, const char* key);
  // A size: an expression, or one that is drawn.
  void read_size(const Document& content, const char* key, Formula& size, std::int32_t& draw);
  std::uint32_t request_name(const std::string& name);
  std::vector<std::uint32_t> request_names(const Document& list);

  Program& program_;
  Names names_;
  std::map<std::string, std::uint32_t> texts_;                                      // number in Program::texts
  std::map<std::pair<std::uint32_t, std::vector<std::int32_t>>, NodeIndex> nodes_;  // by text and slots that vary
  int level_{0};
  // Of the loop of the program's body that is read at the moment.
  std::int32_t outermost_slot_{kNone};
  bool alike_{true};
};

}  // namespace manynode::derived
