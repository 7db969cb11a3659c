#include "steps.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace manynode::recorded {
namespace {

// A step is long enough that its begin and end cost little.
constexpr std::uint32_t kCallsOfAStep = 64;

struct Place {
  std::uint32_t rank{0};
  std::uint32_t call{0};
};

// The step that has the call `from` of a rank has the call `to`, too.
struct Link {
  std::uint32_t from{0};
  Place to;
};

// What tells messages apart that may not overtake each other. Ranks are those of the world. Posts and completes of
// one-sided epochs are messages to the starts and waits of their group.
struct Envelope {
  CallKind kind{CallKind::Send};
  int communicator{0};
  int tag{0};  // or the window
  std::uint32_t sender{0};
  std::uint32_t receiver{0};

  bool operator==(const Envelope&) const = default;
};

struct EnvelopeHash {
  std::size_t operator()(const Envelope& one) const {
    std::size_t hash = static_cast<std::size_t>(one.kind);
    for (const auto part : {static_cast<std::uint32_t>(one.communicator), static_cast<std::uint32_t>(one.tag),
                            one.sender, one.receiver}) {
      hash = hash * 1'000'003 + part;
    }
    return hash;
  }
};

// Ends of messages whose other ends come later, the oldest at `next`.
struct Unmatched {
  std::vector<Place> places;
  std::size_t next{0};
  bool sends{false};
};

// The collectives of one communicator in order: the first call of each that was seen, and the last.
struct Collectives {
  std::vector<Place> first;
  std::vector<Place> last;
};

class Links {
 public:
  explicit Links(const Stream& stream) : stream_(stream), links_(stream.of_rank.size()) {
    for (here_.rank = 0; here_.rank < links_.size(); ++here_.rank) add_rank();
    for (const auto& [communicator, all] : collectives_) {
      for (std::size_t i = 0; i < all.first.size(); ++i) add(all.last[i], all.first[i]);
    }
    for (auto& links : links_) {
      std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.from < b.from; });
    }
  }

  const std::vector<Link>& of(std::uint32_t rank) const { return links_[rank]; }

 private:
  void add(Place from, Place to) { links_[from.rank].push_back({from.call, to}); }

  void add_rank() {
    groups_ = stream_.groups_of(static_cast<int>(here_.rank));
    groups_.insert(groups_.begin(), nullptr);
    requests_.clear();
    made_.assign(stream_.communicators.size() + 1, 0);
    const auto& calls = stream_.of_rank[here_.rank];
    for (here_.call = 0; here_.call < calls.size(); ++here_.call) {
      const RecordedCall& call = stream_.calls[calls[here_.call]];
      if (call.form) add_call(call, call.form->kind);
    }
  }

  void add_call(const RecordedCall& call, CallKind kind) {
    // A wait for a request that is not open is an error of the rank that makes it.
    for (const std::uint32_t back : call.requests) {
      if (back > 0 && back <= requests_.size()) add({here_.rank, requests_[requests_.size() - back]}, here_);
    }
    if (makes_request(*call.form)) requests_.push_back(here_.call);
    if (is_collective(kind) || kind == CallKind::WinFence) add_collective(call.communicator);
    if (kind == CallKind::Send || kind == CallKind::Isend || kind == CallKind::Sendrecv) {
      add_end(CallKind::Send, true, call.peer, call.tag, call);
    }
    if (kind == CallKind::Sendrecv) add_end(CallKind::Send, false, call.source, call.receive_tag, call);
    if (kind == CallKind::Recv || kind == CallKind::Irecv) add_end(CallKind::Send, false, call.peer, call.tag, call);
    if (!has_group(kind)) return;
    const bool sends = kind == CallKind::WinPost || kind == CallKind::WinComplete;
    const CallKind of =
        kind == CallKind::WinPost || kind == CallKind::WinStart ? CallKind::WinPost : CallKind::WinComplete;
    for (const int member : call.group) add_end(of, sends, member, call.window, call);
  }

  void add_end(CallKind kind, bool sends, int peer, int tag, const RecordedCall& call) {
    if (peer < 0) return;
    std::uint32_t other = static_cast<std::uint32_t>(peer);
    if (const auto* group = groups_[call.communicator]) {
      if (other >= group->size()) return;
      other = static_cast<std::uint32_t>((*group)[other]);
    }
    const Envelope envelope{kind, call.communicator, tag, sends ? here_.rank : other, sends ? other : here_.rank};
    Unmatched& unmatched = unmatched_[envelope];
    if (unmatched.next == unmatched.places.size() || unmatched.sends == sends) {
      unmatched.sends = sends;
      unmatched.places.push_back(here_);
      return;
    }
    const Place partner = unmatched.places[unmatched.next++];
    add(partner, here_);
    add(here_, partner);
  }

  void add_collective(std::uint16_t communicator) {
    const auto* group = groups_[communicator];
    Collectives& all = collectives_[{communicator, group == nullptr ? 0 : group->front()}];
    const std::size_t number = made_[communicator]++;
    if (number == all.first.size()) {
      all.first.push_back(here_);
      all.last.push_back(here_);
      return;
    }
    add(all.last[number], here_);
    all.last[number] = here_;
  }

  const Stream& stream_;
  std::vector<std::vector<Link>> links_;
  std::unordered_map<Envelope, Unmatched, EnvelopeHash> unmatched_;
  std::map<std::pair<std::uint16_t, int>, Collectives> collectives_;
  // Of the rank whose calls are added: the next one; by communicator its group (null: the world) and its number of
  // collectives; the calls that made requests.
  Place here_;
  std::vector<const std::vector<int>*> groups_;
  std::vector<std::size_t> made_;
  std::vector<std::uint32_t> requests_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> step_ends(const Stream& stream) {
  const Links links(stream);
  const std::size_t ranks = stream.of_rank.size();
  std::vector<std::vector<std::uint32_t>> steps;
  std::vector<std::uint32_t> ends(ranks, 0);
  std::vector<std::size_t> followed(ranks, 0);
  std::vector<std::uint32_t> grown(ranks);
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ends[rank] = std::min(ends[rank] + kCallsOfAStep, static_cast<std::uint32_t>(stream.of_rank[rank].size()));
    }
    grown.resize(ranks);
    std::iota(grown.begin(), grown.end(), 0u);
    while (!grown.empty()) {
      const std::uint32_t rank = grown.back();
      grown.pop_back();
      const std::vector<Link>& own = links.of(rank);
      for (std::size_t& next = followed[rank]; next < own.size() && own[next].from < ends[rank]; ++next) {
        const Place& to = own[next].to;
        if (to.call < ends[to.rank]) continue;
        ends[to.rank] = to.call + 1;
        if (to.rank != rank) grown.push_back(to.rank);
      }
    }
    steps.push_back(ends);
    for (std::size_t rank = 0; rank < ranks; ++rank) more = more || ends[rank] < stream.of_rank[rank].size();
  }
  return steps;
}

}  // namespace manynode::recorded
