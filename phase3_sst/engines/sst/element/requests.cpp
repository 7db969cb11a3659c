#include "requests.hpp"

#include <stdexcept>
#include <string>

namespace manynode::sst_element {

std::span<RequestHandle> Requests::take(std::span<const std::uint32_t> ids) {
  bool in_one_piece = true;
  owing_ = 0;
  sum_owed_ = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= states_.size() || states_[ids[i]] == State::None) {
      throw std::runtime_error("waits for request " + std::to_string(ids[i]) +
                               ", which it has not started in this step or waited for before");
    }
    in_one_piece = in_one_piece && states_[ids[i]] == State::Active && ids[i] == ids[0] + i && owed_[ids[i]] == 0;
  }
  taken_.clear();
  if (!in_one_piece) {
    for (const std::uint32_t id : ids) {
      if (states_[id] != State::Active || owed_[id] == 0) continue;
      taken_.push_back(handles_[id]);
      ++owing_;
      sum_owed_ += owed_[id];
    }
  }
  for (const std::uint32_t id : ids) {
    if (!in_one_piece && states_[id] == State::Active && owed_[id] == 0) taken_.push_back(handles_[id]);
    states_[id] = State::None;
  }
  return in_one_piece && !ids.empty() ? std::span(handles_).subspan(ids[0], ids.size()) : std::span(taken_);
}

}  // namespace manynode::sst_element
