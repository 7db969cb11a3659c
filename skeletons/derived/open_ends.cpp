#include "open_ends.hpp"

#include <algorithm>
#include <unordered_set>

#include "requests.hpp"

namespace manynode::derived {
namespace {

using Items = std::unordered_set<const Item*>;

bool makes_request(const CallForm& form) {
  return form.nonblocking || form.kind == CallKind::Isend || form.kind == CallKind::Irecv;
}

// Adds the items that make, complete or free requests, and those around them.
bool add_concerned(const std::vector<Item>& items, Items& concerned) {
  bool any = false;
  for (const Item& item : items) {
    const bool waits_or_makes = item.call && (makes_request(item.call->form) || is_wait(item.call->form.kind));
    const bool own = waits_or_makes || item.kind == Item::Kind::Free;
    if (!add_concerned(item.body, concerned) && !own) continue;
    concerned.insert(&item);
    any = true;
  }
  return any;
}

// The requests of one rank, without its calls.
class Requests {
 public:
  Requests(const Program& program, const Items& concerned, int rank)
      : program_(program), concerned_(concerned), frame_(program.expressions, program.grid, rank) {}

  void item(const Item& item) {
    if (!happens(item)) return;
    if (item.kind == Item::Kind::Call) {
      call(*item.call, item);
    } else if (item.kind == Item::Kind::Free) {
      open_.take(item.freed, WaitOrder::Made, open_.count(item.freed));
    } else if (item.kind == Item::Kind::Loop) {
      iterations(item);
    } else {
      for (const Item& inside : item.body) this->item(inside);
    }
  }

  // Goes through a loop; says whether a request is open at the end of an iteration.
  bool iterations(const Item& loop) {
    bool open = false;
    const std::int64_t count = value(loop, "repeat", loop.count);
    std::size_t before = open_.size();
    for (std::int64_t number = 0; number < count; ++number) {
      if (loop.slot != kNone) frame_.set(loop.slot, number);
      for (const Item& inside : loop.body) item(inside);
      open = open || !open_.none();
      if (number > 0 && open_.size() == before) break;
      before = open_.size();
    }
    return open;
  }

  bool happens(const Item& item) {
    return concerned_.contains(&item) && (!item.when.given() || value(item, "when", item.when) != 0);
  }

 private:
  std::int64_t value(const Item& item, const char* field, const Formula& formula) {
    return value_of(program_, formula, item.place, field, frame_);
  }

  void call(const CallFields& call, const Item& item) {
    if (makes_request(call.form)) open_.open(call.request, Request{made_++});
    if (!is_wait(call.form.kind)) return;
    const auto open = static_cast<std::int64_t>(open_.count(call.requests));
    const bool one = !call.each && (call.form.kind == CallKind::Wait || call.form.kind == CallKind::Waitany);
    const std::int64_t number = call.take.given() ? value(item, "take", call.take) : one ? 1 : open;
    open_.take(call.requests, call.order, static_cast<std::size_t>(std::clamp<std::int64_t>(number, 0, open)));
  }

  const Program& program_;
  const Items& concerned_;
  Frame frame_;
  OpenRequests open_;
  std::uint32_t made_{0};
};

}  // namespace

std::vector<bool> open_ends(const Program& program) {
  std::vector<bool> found(program.body.size(), false);
  Items concerned;
  if (!add_concerned(program.body, concerned)) return found;
  for (int rank = 0; rank < program.size; ++rank) {
    Requests requests(program, concerned, rank);
    for (std::size_t i = 0; i < program.body.size(); ++i) {
      const Item& item = program.body[i];
      if (item.kind != Item::Kind::Loop) {
        requests.item(item);
      } else if (requests.happens(item) && requests.iterations(item)) {
        found[i] = true;
      }
    }
  }
  return found;
}

}  // namespace manynode::derived
