#include "requests.hpp"

#include <algorithm>

namespace manynode::derived {
namespace {

std::ptrdiff_t place_of(std::uint32_t name, RequestNames names) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

bool is_among(std::uint32_t name, RequestNames names) {
  return place_of(name, names) < static_cast<std::ptrdiff_t>(names.size());
}

}  // namespace

std::size_t OpenRequests::count(RequestNames names) const {
  return static_cast<std::size_t>(
      std::count_if(open_.begin(), open_.end(), [&](const Open& open) { return is_among(open.name, names); }));
}

std::span<const Request> OpenRequests::take(RequestNames names, WaitOrder order, std::size_t number) {
  const auto made_before = [](const Open& a, const Open& b) { return a.request.id < b.request.id; };
  chosen_.clear();
  std::size_t kept = 0;
  for (const Open& open : open_) {
    if (is_among(open.name, names)) {
      chosen_.push_back(open);
    } else {
      open_[kept++] = open;
    }
  }
  open_.resize(kept);
  if (order == WaitOrder::Names) {
    std::stable_sort(chosen_.begin(), chosen_.end(),
                     [&](const Open& a, const Open& b) { return place_of(a.name, names) < place_of(b.name, names); });
  } else if (order == WaitOrder::Newest) {
    std::reverse(chosen_.begin(), chosen_.end());
  }
  taken_.clear();
  for (std::size_t i = 0; i < number; ++i) taken_.push_back(chosen_[i].request);
  // What is not taken stays open, in the order in which it was made.
  if (number < chosen_.size()) {
    open_.insert(open_.end(), chosen_.begin() + static_cast<std::ptrdiff_t>(number), chosen_.end());
    std::sort(open_.begin(), open_.end(), made_before);
  }
  return taken_;
}

}  // namespace manynode::derived
