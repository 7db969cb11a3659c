#include "envelopes.hpp"

namespace manynode::smpi_engine {

std::string envelope_text(std::int32_t tag, std::uint64_t bytes, std::uint16_t context) {
  return "tag " + std::to_string(tag) + ", " + std::to_string(bytes) + " bytes, context " + std::to_string(context);
}

int Envelopes::tag_of(std::uint16_t context, std::int32_t tag) {
  const std::uint64_t key = std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag);
  const auto [entry, added] = tags_.try_emplace(key, static_cast<int>(meanings_.size()));
  if (added) meanings_.emplace_back(context, tag);
  return entry->second;
}

void Envelopes::sent(std::size_t job, int source, int destination, int mpi_tag, std::uint64_t bytes) {
  auto& messages = under_way_[{job, source, destination, mpi_tag}];
  ++messages.messages;
  messages.bytes = bytes;
}

void Envelopes::received(std::size_t job, int source, int destination, int mpi_tag) {
  const auto entry = under_way_.find({job, source, destination, mpi_tag});
  if (--entry->second.messages == 0) under_way_.erase(entry);
}

std::vector<std::string> Envelopes::left(std::size_t job, std::size_t most) const {
  std::vector<std::string> lines;
  for (auto entry = under_way_.lower_bound({job, 0, 0, 0}); entry != under_way_.end(); ++entry) {
    const auto& [owner, source, destination, mpi_tag] = entry->first;
    if (owner != job || lines.size() == most) break;
    const auto& [context, tag] = meanings_[static_cast<std::size_t>(mpi_tag)];
    lines.push_back("nobody received " + std::to_string(entry->second.messages) + " of the messages from rank " +
                    std::to_string(source) + " to rank " + std::to_string(destination) + ", " +
                    envelope_text(tag, entry->second.bytes, context));
  }
  return lines;
}

}  // namespace manynode::smpi_engine
