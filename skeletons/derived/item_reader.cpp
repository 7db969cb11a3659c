#include "item_reader.hpp"

#include <algorithm>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::derived {
namespace {

constexpr int kDeepest = 50;

struct FieldName {
  const char* name;
  Field field;
};
constexpr FieldName kFields[] = {
    {"peer", kPeer},
    {"source", kSource},
    {"bytes", kBytes},
    {"tag", kTag},
    {"receive_tag", kReceiveTag},
    {"receive_bytes", kReceiveBytes},
    {"sent", kSent},
    {"received", kReceived},
    {"sources", kNeighbors},
    {"destinations", kNeighbors},
    {"communicator", kCommunicator},
    {"request", kRequest},
    {"requests", kRequests},
    {"order", kOrder},
    {"take", kTake},
    {"each", kEach},
};

// A call has the keys of its form and no others.
void check_fields(const Document& content, const std::string& name, const CallForm& form) {
  std::vector<std::string> allowed = {"call", "when", "site"};
  for (const auto& [key, field] : kFields) {
    const bool required = (required_fields(form) & field) != 0;
    if (required && !content.has(key)) content.refuse(name + " lacks '" + key + "'", key);
    if (required || (optional_fields(form) & field) != 0) allowed.emplace_back(key);
  }
  for (const std::string& key : content.keys()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      throw UserError(name + " has no such key", content.where(), key, joined(allowed), did_you_mean(key, allowed));
    }
  }
}

}  // namespace

std::vector<Item> ItemReader::items(const Document& list) {
  if (++level_ > kDeepest) list.refuse("a derived skeleton is nested too deeply", std::to_string(kDeepest));
  std::vector<Item> all;
  for (const Document& content : list.entries()) all.push_back(item(content));
  --level_;
  return all;
}

Item ItemReader::item(const Document& content) {
  Item item;
  item.place = text(content.place());
  const int forms =
      int{content.has("compute")} + int{content.has("call")} + int{content.has("do")} + int{content.has("free")};
  if (forms > 1 || (forms == 0 && !content.has("site"))) {
    content.refuse("an item has exactly one form", "compute, call, do, free, or site alone");
  }
  item.when = formula(content, "when");
  if (content.has("call")) {
    item.kind = Item::Kind::Call;
    read_call(content, item);
  } else if (forms == 0) {
    content.only({"site", "when"});
    item.kind = Item::Kind::Pass;
    item.site = site(content);
  } else if (content.has("compute")) {
    content.only({"compute", "when"});
    item.kind = Item::Kind::Compute;
    item.phase = static_cast<std::uint32_t>(content["compute"].one_of(program_.phases));
  } else if (content.has("free")) {
    content.only({"free", "when"});
    item.kind = Item::Kind::Free;
    item.freed = request_names(content["free"]);
  } else {
    content.only({"do", "when", "repeat", "index"});
    if (content.has("repeat")) {
      item.kind = Item::Kind::Loop;
      read_loop(content, item);
    } else {
      item.kind = Item::Kind::Group;
      item.body = items(content["do"]);
    }
  }
  return item;
}

std::int32_t ItemReader::site(const Document& content) const {
  const std::int64_t number = content["site"].integer();
  if (number < 0 || static_cast<std::size_t>(number) >= program_.sites.size()) {
    content["site"].refuse("a derived skeleton has no such site", "0 to " + std::to_string(program_.sites.size() - 1));
  }
  return static_cast<std::int32_t>(number);
}

void ItemReader::read_loop(const Document& content, Item& item) {
  item.count = formula(content["repeat"]);
  const bool outermost = level_ == 1;
  std::string index;
  if (content.has("index")) {
    index = content["index"].text();
    item.slot = program_.expressions.add_slot();
    const bool taken = names_.constants.contains(index) || names_.definitions.contains(index);
    if (taken || !names_.slots.emplace(index, item.slot).second) {
      content["index"].refuse("a loop's index has a name that is taken", "another name");
    }
  }
  if (outermost) {
    outermost_slot_ = item.slot;
    alike_ = true;
  }
  item.body = items(content["do"]);
  if (outermost) {
    item.alike = alike_;
    outermost_slot_ = kNone;
  }
  if (!index.empty()) names_.slots.erase(index);
}

void ItemReader::read_call(const Document& content, Item& item) {
  const std::string name = content["call"].text();
  const CallForm form = form_of(name, content["call"].where());
  check_fields(content, name, form);
  if (content.has("site")) item.site = site(content);
  item.call = std::make_unique<CallFields>();
  CallFields& call = *item.call;
  call.form = form;
  if (is_wait(form.kind)) {
    read_wait(content, call);
    return;
  }
  call.peer = formula(content, "peer");
  call.source = formula(content, "source");
  read_size(content, "bytes", call.bytes, call.draw);
  read_size(content, "receive_bytes", call.receive_bytes, call.receive_draw);
  call.tag = formula(content, "tag");
  call.receive_tag = formula(content, "receive_tag");
  read_blocks(content, call);
  call.sources = list(content, "sources");
  call.destinations = list(content, "destinations");
  if (call.draw != kNotDrawn && is_collective(form.kind)) {
    content["bytes"].refuse("only sizes of messages between two ranks are drawn", "an expression");
  }
  if (content.has("communicator")) {
    std::vector<std::string> names = program_.communicator_names;
    names.insert(names.begin(), "world");
    call.communicator = static_cast<std::uint16_t>(content["communicator"].one_of(names));
  }
  if (content.has("request")) call.request = request_name(content["request"].text());
}

void ItemReader::read_wait(const Document& content, CallFields& call) {
  call.requests = request_names(content["requests"]);
  if (content.has("order")) {
    call.order = static_cast<WaitOrder>(content["order"].one_of({"made", "names", "newest"}));
  }
  call.take = formula(content, "take");
  call.each = content.has("each") && content["each"].flag();
  if (call.each && call.take.given()) content["take"].refuse("a wait for each request takes all of them", "no 'take'");
}

// The same text in the same loops has the same value: the second exchange of an iteration costs a look-up.
Formula ItemReader::formula(const Document& expression) {
  const std::string content = expression.text();
  const std::uint32_t number = text(content);
  std::vector<std::int32_t> used;
  const NodeIndex node = parsed(content, expression.where(), names_, program_.expressions, &used);
  // Slots of the rank itself come before those that change while it runs.
  const auto first_loop = kFirstCoordinateSlot + static_cast<std::int32_t>(program_.grid.axes());
  std::vector<std::int32_t> varying;
  for (const std::int32_t slot : used) {
    if (slot == kBlockSlot || slot >= first_loop) varying.push_back(slot);
    if (slot == outermost_slot_) alike_ = false;
  }
  if (program_.expressions.is_constant(node)) return {node, number};
  const auto [known, fresh] = nodes_.try_emplace({number, varying}, kNone);
  if (fresh) known->second = program_.expressions.add_definition(node, !varying.empty());
  return {known->second, number};
}

Formula ItemReader::formula(const Document& content, const char* key) {
  return content.has(key) ? formula(content[key]) : Formula{};
}

void ItemReader::read_blocks(const Document& content, CallFields& call) {
  std::int32_t received = kNotDrawn;
  names_.slots["k"] = kBlockSlot;
  read_size(content, "sent", call.sent, call.blocks_draw);
  read_size(content, "received", call.received, received);
  names_.slots.erase("k");
  const bool drawn = call.form.kind == CallKind::Alltoallv || call.form.kind == CallKind::Alltoallw;
  if (received != call.blocks_draw || (received != kNotDrawn && !drawn)) {
    content.refuse("drawn are the blocks of MPI_Alltoallv and MPI_Alltoallw", "one distribution for sent and received");
  }
}

std::vector<Formula> ItemReader::list(const Document& content, const char* key) {
  std::vector<Formula> all;
  if (content.has(key)) {
    for (const Document& entry : content[key].entries()) all.push_back(formula(entry));
  }
  return all;
}

void ItemReader::read_size(const Document& content, const char* key, Formula& size, std::int32_t& draw) {
  if (!content.has(key)) return;
  const Document given = content[key];
  if (!given.is_object()) {
    size = formula(given);
    return;
  }
  given.only({"draw"});
  std::vector<std::string> names;
  for (const Distribution& distribution : program_.distributions) names.push_back(distribution.name);
  draw = static_cast<std::int32_t>(given["draw"].one_of(names));
  alike_ = false;
}

// Equal texts are kept once.
std::uint32_t ItemReader::text(const std::string& text) {
  const auto [place, fresh] = texts_.emplace(text, static_cast<std::uint32_t>(program_.texts.size()));
  if (fresh) program_.texts.push_back(text);
  return place->second;
}

std::vector<std::uint32_t> ItemReader::request_names(const Document& list) {
  std::vector<std::uint32_t> found;
  for (const Document& name : list.entries()) found.push_back(request_name(name.text()));
  return found;
}

std::uint32_t ItemReader::request_name(const std::string& name) {
  auto& names = program_.request_names;
  const auto number = static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (number == names.size()) names.push_back(name);
  return number;
}

}  // namespace manynode::derived
