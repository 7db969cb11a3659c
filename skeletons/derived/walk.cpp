// Items, and the fields of each call.
#include "walk.hpp"

#include <limits>

#include "manynode/error_report.hpp"

namespace manynode::derived {

void Walk::items(const std::vector<Item>& items) {
  for (const Item& item : items) this->item(item);
}

void Walk::item(const Item& item) {
  switch (item.kind) {
    case Item::Kind::Compute:
      if (happens(item)) {
        mpi_.compute(Phase{item.phase});
        passed_.computed = passed_.site != kNone;
      }
      break;
    case Item::Kind::Call:
      if (happens(item)) {
        for (std::size_t times = item.call->each ? open_.count(item.call->requests) : 1; times > 0; --times) {
          arrive(item);
          call(item);
        }
      }
      break;
    case Item::Kind::Pass:
      if (happens(item)) arrive(item);
      break;
    case Item::Kind::Free:
      if (happens(item)) free(item);
      break;
    case Item::Kind::Group:
      if (happens(item)) items(item.body);
      break;
    case Item::Kind::Loop: {
      const std::int64_t count = iterations(item);
      for (std::int64_t number = 0; number < count; ++number) iteration(item, number);
      break;
    }
  }
}

void Walk::arrive(const Item& item) {
  if (item.site == kNone) return;
  if (passed_.site != kNone && !passed_.computed) {
    const auto sites = program_.sites.size();
    const auto pair = static_cast<std::size_t>(passed_.site) * sites + static_cast<std::size_t>(item.site);
    const std::int32_t phase = program_.phase_between[pair];
    if (phase == kNone) {
      const auto name = [&](std::int32_t site) { return program_.sites[static_cast<std::size_t>(site)]; };
      throw UserError("what a rank computes between two calls was never recorded",
                      program_.file + ": " + place(item) + ", rank " + std::to_string(mpi_.rank()) + " of " +
                          std::to_string(program_.size),
                      name(passed_.site) + " -> " + name(item.site), "",
                      "record a run in which a rank makes these two calls one after the other, and derive again");
    }
    mpi_.compute(Phase{static_cast<std::uint32_t>(phase)});
  }
  passed_ = {.site = item.site, .computed = false};
}

namespace {

UserError wrong_value(const Program& program, const Item& item, const std::string& what, const char* field,
                      std::int64_t found, int rank, const std::string& allowed) {
  return UserError(what, program.file + ": " + program.texts[item.place] + "/" + field,
                   std::to_string(found) + " on rank " + std::to_string(rank) + " of " + std::to_string(program.size),
                   allowed, "correct the expression, or add a 'when' that leaves these ranks out");
}

}  // namespace

std::int64_t checked_repeats(const Program& program, const Item& loop, std::int64_t count, int rank) {
  if (count >= 0) return count;
  throw wrong_value(program, loop, "a loop repeats less often than never", "repeat", count, rank, "at least 0");
}

std::int64_t Walk::iterations(const Item& loop) {
  if (!happens(loop)) return 0;
  const std::int64_t count = value(loop, "repeat", loop.count);
  return checked_repeats(program_, loop, count, mpi_.rank());
}

void Walk::iteration(const Item& loop, std::int64_t number) {
  if (loop.slot != kNone) frame_.set(loop.slot, number);
  items(loop.body);
}

void Walk::check_nothing_open() const {
  if (nothing_open()) return;
  throw UserError("a request is open at the end of a derived skeleton",
                  program_.file + ": rank " + std::to_string(mpi_.rank()) + " of " + std::to_string(program_.size),
                  program_.request_names[open_.oldest_name()], "", "add a wait that completes it");
}

void Walk::free(const Item& item) {
  const auto requests = open_.take(item.freed, WaitOrder::Made, open_.count(item.freed));
  freed_.insert(freed_.end(), requests.begin(), requests.end());
}

void Walk::complete_freed() {
  if (!freed_.empty()) mpi_.waitall(freed_);
  freed_.clear();
}

void Walk::refuse(const Item& item, const std::string& what, const char* field, std::int64_t found,
                  const std::string& allowed) const {
  throw wrong_value(program_, item, what, field, found, mpi_.rank(), allowed);
}

void Walk::call(const Item& item) {
  const CallFields& call = *item.call;
  NamedCall made;
  made.form = call.form;
  made.communicator = communicator(item);
  if (is_wait(call.form.kind)) {
    wait(item, made);
  } else if (is_collective(call.form.kind)) {
    collective(item, made);
  } else {
    message(item, made);
  }
  if (const std::optional<Request> request = emit(mpi_, made); request) open_.open(call.request, *request);
}

void Walk::wait(const Item& item, NamedCall& made) {
  const CallFields& call = *item.call;
  const bool one = call.form.kind == CallKind::Wait || call.form.kind == CallKind::Waitany;
  const std::size_t open = open_.count(call.requests);
  std::size_t number = one ? 1 : open;
  if (call.take.given()) {
    const std::int64_t take = value(item, "take", call.take);
    if (take < 0 || (one && take != 1)) {
      refuse(item, "a wait takes a wrong number of requests", "take", take, one ? "1" : "at least 0");
    }
    number = static_cast<std::size_t>(take);
  }
  if (number > open) {
    refuse(item, "a wait takes more requests than are open", call.take.given() ? "take" : "requests",
           static_cast<std::int64_t>(number), std::to_string(open) + ", as many as are open");
  }
  made.requests = open_.take(call.requests, call.order, number);
}

void Walk::message(const Item& item, NamedCall& made) {
  const CallFields& call = *item.call;
  const CallKind kind = call.form.kind;
  const bool receives = kind == CallKind::Recv || kind == CallKind::Irecv;
  made.peer = peer(item, "peer", call.peer, true, receives);
  made.tag = tag(item, "tag", call.tag, receives);
  const int own = mpi_.rank();
  const int partner = call.draw == kNotDrawn ? made.peer : mpi_.world_rank(made.communicator, made.peer);
  made.bytes = message_size(item, "bytes", call.bytes, call.draw, receives ? partner : own, receives ? own : partner);
  if (kind != CallKind::Sendrecv) return;
  made.source = peer(item, "source", call.source, true, true);
  made.receive_tag = call.receive_tag.given() ? tag(item, "receive_tag", call.receive_tag, true) : made.tag;
  const bool stated = call.receive_bytes.given() || call.receive_draw != kNotDrawn;
  made.receive_bytes =
      message_size(item, "receive_bytes", stated ? call.receive_bytes : call.bytes,
                   stated ? call.receive_draw : call.draw, mpi_.world_rank(made.communicator, made.source), own);
}

void Walk::collective(const Item& item, NamedCall& made) {
  const CallFields& call = *item.call;
  if (call.peer.given()) made.peer = peer(item, "peer", call.peer, false, false);
  if (call.bytes.given()) made.bytes = size(item, "bytes", call.bytes);
  auto sent = static_cast<std::size_t>(mpi_.size(made.communicator));
  std::size_t received = sent;
  if (is_neighbor_collective(call.form.kind)) {
    neighbors(item, "sources", call.sources, sources_);
    neighbors(item, "destinations", call.destinations, destinations_);
    made.neighbors = {sources_, destinations_};
    sent = destinations_.size();
    received = sources_.size();
  } else if (call.peer.given() && made.peer != mpi_.rank(made.communicator)) {
    sent = received = 0;  // away from the root, no rank knows the blocks
  }
  if (call.blocks_draw != kNotDrawn) {
    draw_blocks(call.blocks_draw, made);
    return;
  }
  made.sent = blocks(item, "sent", call.sent, sent, sent_);
  made.received = blocks(item, "received", call.received, received, received_);
}

void Walk::draw_blocks(std::int32_t draw, NamedCall& made) {
  const Distribution& distribution = program_.distributions[static_cast<std::size_t>(draw)];
  const std::uint64_t number = draws_->next_collective(draw);
  sent_.clear();
  received_.clear();
  for (int k = 0; k < mpi_.size(made.communicator); ++k) {
    const int partner = mpi_.world_rank(made.communicator, k);
    sent_.push_back(draws_->block(distribution, number, mpi_.rank(), partner));
    received_.push_back(draws_->block(distribution, number, partner, mpi_.rank()));
  }
  made.sent = sent_;
  made.received = received_;
}

Communicator Walk::communicator(const Item& item) const {
  const std::uint16_t number = item.call->communicator;
  if (number != 0 && program_.communicators[number - 1u].group_of(mpi_.rank()) < 0) {
    refuse(item, "a rank uses a communicator without being in it", "communicator", mpi_.rank(),
           "ranks whose color in " + program_.communicator_names[number - 1u] + " is at least 0");
  }
  return Communicator{number};
}

int Walk::peer(const Item& item, const char* field, const Formula& formula, bool special, bool wild) {
  const std::int64_t world = value(item, field, formula);
  if ((special && world == kProcNull) || (wild && world == kAnySource)) return static_cast<int>(world);
  if (world < 0 || world >= program_.size) {
    refuse(item, "a peer is outside the job", field, world,
           "0 to " + std::to_string(program_.size - 1) + (special ? ", null (-3)" : "") + (wild ? ", any (-2)" : ""));
  }
  const std::uint16_t number = item.call->communicator;
  const auto rank = static_cast<int>(world);
  if (number == 0) return rank;
  const Partition& partition = program_.communicators[number - 1u];
  if (partition.group_of(rank) != partition.group_of(mpi_.rank())) {
    refuse(item, "a peer is not in the communicator", field, world,
           "members of " + program_.communicator_names[number - 1u]);
  }
  return partition.rank_in_group(rank);
}

int Walk::tag(const Item& item, const char* field, const Formula& formula, bool wild) {
  if (!formula.given()) return 0;
  const std::int64_t tag = value(item, field, formula);
  if (tag < (wild ? kAnyTag : 0) || tag > std::numeric_limits<std::int32_t>::max()) {
    refuse(item, "a tag is wrong", field, tag, wild ? "0 to 2^31-1, -1 for any" : "0 to 2^31-1");
  }
  return static_cast<int>(tag);
}

std::uint64_t Walk::size(const Item& item, const char* field, const Formula& formula) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  const std::int64_t bytes = value(item, field, formula);
  if (bytes < 0 || bytes > kMost) refuse(item, "a size is wrong", field, bytes, "0 to 2^50 bytes");
  return static_cast<std::uint64_t>(bytes);
}

std::uint64_t Walk::message_size(const Item& item, const char* field, const Formula& formula, std::int32_t draw,
                                 int sender, int receiver) {
  if (draw == kNotDrawn) return size(item, field, formula);
  if (sender == kProcNull || receiver == kProcNull) return 0;
  if (sender == kAnySource) {
    refuse(item, "the size of a message from any rank cannot be drawn", field, sender, "a rank, null (-3)");
  }
  return draws_->next(program_.distributions[static_cast<std::size_t>(draw)], draw, sender, receiver);
}

Bytes Walk::blocks(const Item& item, const char* field, const Formula& formula, std::size_t count,
                   std::vector<std::uint64_t>& sizes) {
  sizes.clear();
  if (!formula.given()) return sizes;
  sizes.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    frame_.set(kBlockSlot, static_cast<std::int64_t>(k));
    sizes.push_back(size(item, field, formula));
  }
  return sizes;
}

void Walk::neighbors(const Item& item, const char* field, const std::vector<Formula>& formulas,
                     std::vector<int>& ranks) {
  ranks.clear();
  for (const Formula& formula : formulas) ranks.push_back(peer(item, field, formula, true, false));
}

}  // namespace manynode::derived
