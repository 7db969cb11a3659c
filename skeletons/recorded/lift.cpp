#include "lift.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../derived/grid.hpp"
#include "manynode/error_report.hpp"

namespace manynode::recorded {
namespace {

constexpr double kGoldenRatio = 0.6180339887498949;
// Where no rank may have more messages, and there are too few, all may have so many times more.
constexpr double kMoreThanMost = 1.1;

bool sends(CallKind kind) {
  return kind == CallKind::Send || kind == CallKind::Isend || kind == CallKind::Sendrecv || is_remote_operation(kind);
}

// The divisor of `number` whose logarithm is nearest to that of `wanted`.
int nearest_divisor(int number, double wanted) {
  int best = 1;
  for (int one = 1; one <= number; ++one) {
    if (number % one != 0) continue;
    if (std::abs(std::log(one / wanted)) < std::abs(std::log(best / wanted))) best = one;
  }
  return best;
}

int wrapped(int number, int size) { return ((number % size) + size) % size; }

std::uint64_t scaled(std::uint64_t bytes, double factor) {
  return factor == 1 ? bytes : static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) * factor));
}

// Where the copies of a message go: the first to where the shift leads, the others around it.
int around(int number) { return number % 2 == 1 ? (number + 1) / 2 : -number / 2; }

// The volume of the halos of all parts, divided by their width; the faces for width 0. The problem has the volume 1.
double halo(const derived::Extents& extents, double width, bool around) {
  double faces = 0;
  double grown = 1;
  for (const std::int64_t extent : extents) {
    const auto parts = static_cast<double>(extent);
    const double sides = around ? (extent > 1 ? 2 : 0) : 2 * (1 - 1 / parts);
    faces += sides * parts;
    grown *= 1 + width * sides * parts;
  }
  return width == 0 ? faces : (grown - 1) / width;
}

}  // namespace

double Growth::at(int ranks) const {
  if (family == "constant") return constant + scale;
  if (family == "ranks") return constant + scale * (ranks - 1);
  if (family == "levels") return constant + scale * std::log2(ranks);
  if (family == "side") return constant + scale * std::sqrt(ranks);
  if (family == "share") return constant + scale / ranks;
  const derived::Extents extents = derived::extents_of({.name = "least-surface", .dimensions = dimensions}, ranks);
  double faces = 0;       // in how many directions along an axis a rank has a neighbour
  double boxes = 1;       // the same, with edges and corners
  double torus = 0;       // neighbours around the edges, too, where they are others
  double most_faces = 0;  // of the rank that has most
  double most_boxes = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    most_faces += std::min(static_cast<double>(extents[axis] - 1), 2.0);
    most_boxes *= std::min(static_cast<double>(extents[axis]), 3.0);
    const auto extent = static_cast<double>(extents[axis]);
    faces += 2 * (1 - 1 / extent);
    boxes *= 3 - 2 / extent;
    if (extents[axis] > 1) torus += 2;
  }
  if (family == "faces") return constant + scale * faces;
  if (family == "boxes") return constant + scale * (boxes - 1);
  if (family == "level-boxes") return constant + scale * (boxes - 1) * (1 + std::log2(ranks));
  if (family == "torus") return constant + scale * torus;
  if (family == "most-faces") return constant + scale * most_faces;
  if (family == "most-boxes") return constant + scale * (most_boxes - 1);
  if (family == "most-level-boxes") return constant + scale * (most_boxes - 1) * (1 + std::log2(ranks));
  if (family == "divided-faces") return constant + scale * halo(extents, width, false) / ranks;
  if (family == "divided-torus") return constant + scale * halo(extents, width, true) / ranks;
  throw UserError("an approximate skeleton names a growth that does not exist", "growth", family);
}

double Growth::between(int from, int to) const {
  const double before = at(from);
  const double after = at(to);
  if (before > 0 && after > 0) return after / before;
  throw UserError("an approximate skeleton has a mean that is not above 0", "growth: " + family,
                  std::to_string(before) + " and " + std::to_string(after), "", "derive the skeleton again");
}

Lift::Lift(const Stream& stream, const LiftRules& rules, int ranks)
    : stream_(stream), run_(stream.ranks), copies_(ranks / stream.ranks), hub_(stream.ranks, false) {
  for (const int hub : rules.hubs) hub_.at(hub) = true;
  joined_.push_back(copies_);
  for (std::size_t number = 0; number < stream.communicators.size(); ++number) {
    const double exponent = number < rules.exponents.size() ? rules.exponents[number] : 1;
    joined_.push_back(nearest_divisor(copies_, std::pow(copies_, exponent)));
  }
  for (int rank = 0; rank < run_; ++rank) groups_.push_back(stream.groups_of(rank));
  count_messages();
  set_pairs(rules);
  for (const auto& [kind, growth] : rules.collectives) factors_[kind] = growth.between(run_, ranks);
}

void Lift::count_messages() {
  for (int rank = 0; rank < run_; ++rank) {
    for (const std::uint32_t index : stream_.of_rank[rank]) {
      const RecordedCall& call = stream_.calls[index];
      if (!call.form || !sends(call.form->kind) || call.peer < 0) continue;
      const auto* group = call.communicator == 0 ? nullptr : groups_[rank][call.communicator - 1];
      const int other = group == nullptr ? call.peer : (*group)[call.peer];
      if (other == rank) continue;
      Pair& pair = pairs_[std::minmax(rank, other)];
      ++pair.messages;
      pair.bytes += call.bytes;
    }
  }
}

void Lift::set_pairs(const LiftRules& rules) {
  const int ranks = run_ * copies_;
  const auto growth = [&](const Growth& one) { return one.between(run_, ranks); };
  std::vector<Ends> spread;
  for (const auto& [ends, pair] : pairs_) {
    if (!hub_[ends.first] && !hub_[ends.second]) spread.push_back(ends);
  }
  // Evenly over all distances, and over the ranks of each.
  const auto distance = [](const Ends& ends) { return ends.second - ends.first; };
  std::stable_sort(spread.begin(), spread.end(),
                   [&](const Ends& a, const Ends& b) { return distance(a) < distance(b); });
  std::vector<std::pair<double, Ends>> ordered;
  for (const Ends& ends : spread) {
    const double place = static_cast<double>(ordered.size()) * kGoldenRatio;
    ordered.push_back({place - std::floor(place), ends});
    if (distance(ends) > rules.reach) {
      pairs_[ends].shift = static_cast<int>(std::lround(static_cast<double>(distance(ends)) / run_ * copies_));
    }
  }
  std::sort(ordered.begin(), ordered.end());
  std::transform(ordered.begin(), ordered.end(), spread.begin(), [](const auto& one) { return one.second; });
  multiply(spread, growth(rules.messages), growth(rules.peak));
  double before = 0;
  double now = 0;
  for (const auto& [ends, pair] : pairs_) {
    before += static_cast<double>(pair.bytes);
    now += static_cast<double>(pair.bytes) * pair.times;
  }
  if (now > 0) message_factor_ = growth(rules.bytes) * before / now;
}

// So that a rank has as many messages in the mean as it grows to, some pairs become several, or none. A rank has no
// more than the one with most grows to, as long as there are others: in larger jobs more ranks lie inside, and have all
// neighbours.
void Lift::multiply(const std::vector<Ends>& spread, double growth, double peak) {
  std::vector<double> of_rank(hub_.size());
  double total = 0;
  for (const Ends& ends : spread) {
    const auto messages = static_cast<double>(pairs_[ends].messages);
    for (const int end : {ends.first, ends.second}) of_rank[end] += messages;
    total += messages;
  }
  const double wanted = growth * total;
  double limit = peak * *std::max_element(of_rank.begin(), of_rank.end());
  for (const Ends& ends : spread) {
    Pair& pair = pairs_[ends];
    if (total - static_cast<double>(pair.messages) < wanted) continue;
    pair.times = 0;
    total -= static_cast<double>(pair.messages);
  }
  for (bool open = true; open && total < wanted;) {
    bool added = false;
    open = false;
    for (const Ends& ends : spread) {
      Pair& pair = pairs_[ends];
      const auto messages = static_cast<double>(pair.messages);
      if (total >= wanted) return;
      if (pair.times == copies_) continue;
      open = true;
      if (std::max(of_rank[ends.first], of_rank[ends.second]) + messages > limit) continue;
      added = true;
      ++pair.times;
      total += messages;
      for (const int end : {ends.first, ends.second}) of_rank[end] += messages;
    }
    if (!added) limit *= kMoreThanMost;
  }
}

Lift::Together Lift::together(std::size_t communicator, int rank) const {
  const int number = joined_[communicator];
  return {rank / run_ / number * number, number};
}

std::vector<std::vector<int>> Lift::groups_of(int rank) const {
  std::vector<std::vector<int>> found;
  for (std::size_t number = 0; number < stream_.communicators.size(); ++number) {
    std::vector<int>& group = found.emplace_back();
    const std::vector<int>* members = groups_[recorded(rank)][number];
    if (members == nullptr) continue;
    const Together here = together(number + 1, rank);
    for (int copy = here.first; copy < here.first + here.number; ++copy) {
      for (const int member : *members) group.push_back(copy * run_ + member);
    }
  }
  return found;
}

// Both ends of a message agree: one is in the other's copies, in the same place of the list.
std::vector<int> Lift::copies(int rank, int other, const Together& here) const {
  const int own = recorded(rank);
  const int copy = rank / run_ - here.first;
  if (own == other) return {here.first + copy};
  if (hub_[own] || hub_[other]) {
    if (hub_[own] && copy != 0) return {};
    if (hub_[other]) return {here.first};
    std::vector<int> all(here.number);
    for (int i = 0; i < here.number; ++i) all[i] = here.first + i;
    return all;
  }
  const auto known = pairs_.find(std::minmax(own, other));
  const Pair pair = known == pairs_.end() ? Pair{} : known->second;
  std::vector<int> found;
  for (int i = 0; i < std::min(pair.times, here.number); ++i) {
    const int shift = pair.shift * here.number / copies_ + around(i);
    found.push_back(here.first + wrapped(own < other ? copy + shift : copy - shift, here.number));
  }
  return found;
}

std::vector<int> Lift::peers(int rank, int peer, const RecordedCall& call) const {
  if (peer < 0) return {peer};
  const auto* group = call.communicator == 0 ? nullptr : groups_[recorded(rank)][call.communicator - 1];
  const int members = group == nullptr ? run_ : static_cast<int>(group->size());
  const Together here = together(call.communicator, rank);
  std::vector<int> found;
  for (const int copy : copies(rank, group == nullptr ? peer : (*group)[peer], here)) {
    found.push_back((copy - here.first) * members + peer);
  }
  return found;
}

// Blocks by rank: those of a copy's ranks follow those of the copy before. What a rank sends to each rank of the
// recorded run goes to all copies of it in equal parts; what all ranks contribute is the same in each copy.
void Lift::expand_blocks(int rank, RecordedCall& call, const Together& here) const {
  const bool divided = call.form->kind == CallKind::Alltoallv || call.form->kind == CallKind::Alltoallw;
  const int copy = rank / run_ - here.first;
  if (call.peer >= 0 && copy != 0 && !(call.sent.empty() && call.received.empty())) {
    call.sent.clear();  // the root is in the first copy
    call.received.clear();
    return;
  }
  const auto part = [&](std::uint64_t bytes, int apart) {
    const auto number = static_cast<std::uint64_t>(here.number);
    const auto place = static_cast<std::uint64_t>(wrapped(apart, here.number));
    return divided ? bytes * (place + 1) / number - bytes * place / number : bytes;
  };
  const auto expanded = [&](const std::vector<std::uint64_t>& blocks, int direction) {
    std::vector<std::uint64_t> all;
    for (int other = 0; !blocks.empty() && other < here.number; ++other) {
      for (const std::uint64_t bytes : blocks) all.push_back(part(bytes, direction * (other - copy)));
    }
    return all;
  };
  call.sent = expanded(call.sent, 1);
  call.received = expanded(call.received, -1);
}

void Lift::expand_neighbors(int rank, RecordedCall& call) const {
  const auto expand = [&](std::vector<int>& ranks, std::vector<std::uint64_t>& blocks) {
    std::vector<int> all;
    std::vector<std::uint64_t> bytes;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const std::vector<int> found = peers(rank, ranks[i], call);
      all.insert(all.end(), found.begin(), found.end());
      if (i < blocks.size()) bytes.insert(bytes.end(), found.size(), blocks[i]);
    }
    ranks = std::move(all);
    blocks = std::move(bytes);
  };
  expand(call.sources, call.received);
  expand(call.destinations, call.sent);
}

std::vector<RecordedCall> Lift::calls(int rank, const RecordedCall& call) const {
  const CallKind kind = call.form->kind;
  const Together here = together(call.communicator, rank);
  RecordedCall one = call;
  one.phases.clear();
  if (is_collective(kind)) {
    const auto factor = factors_.find(kind);
    const double by = is_neighbor_collective(kind) ? message_factor_ : factor == factors_.end() ? 1 : factor->second;
    one.bytes = scaled(call.bytes, by);
    for (auto* blocks : {&one.sent, &one.received}) {
      for (std::uint64_t& bytes : *blocks) bytes = scaled(bytes, by);
    }
    is_neighbor_collective(kind) ? expand_neighbors(rank, one) : expand_blocks(rank, one, here);
    return {one};
  }
  if (has_group(kind)) {
    one.group.clear();
    for (const int member : call.group) {
      const std::vector<int> found = peers(rank, member, call);
      one.group.insert(one.group.end(), found.begin(), found.end());
    }
    return {one};
  }
  one.bytes = scaled(call.bytes, message_factor_);
  one.receive_bytes = scaled(call.receive_bytes, message_factor_);
  const std::vector<int> to = peers(rank, call.peer, call);
  const std::vector<int> from = kind == CallKind::Sendrecv ? peers(rank, call.source, call) : std::vector<int>{};
  std::vector<RecordedCall> found(std::max(to.size(), from.size()), one);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].peer = i < to.size() ? to[i] : kProcNull;
    if (kind == CallKind::Sendrecv) found[i].source = i < from.size() ? from[i] : kProcNull;
  }
  return found;
}

}  // namespace manynode::recorded
