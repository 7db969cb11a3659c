#include "message_tags.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "manynode/error_report.hpp"
#include "manynode/primitive.hpp"

namespace manynode::sst_element {
namespace {

constexpr std::uint32_t kWorld = 0x80000000u;
constexpr std::uint32_t kMostWorldTag = 0x7ffffffeu;  // the next one would be firefly's AnyTag
constexpr std::uint32_t kOther = 0x70000000u;
constexpr unsigned kOtherTagBits = 16;
constexpr std::uint32_t kMostOtherTag = (1u << kOtherTagBits) - 1;
constexpr std::uint32_t kMostOtherCommunicator = (1u << 12) - 1;
constexpr unsigned kCollectiveBits = 12;
constexpr std::uint32_t kWindow = 1u << (kCollectiveBits - 1);
constexpr std::uint32_t kCollectiveMask = kWindow - 1;
constexpr unsigned kRemoteBits = 14;
constexpr std::uint32_t kRemoteMask = (1u << kRemoteBits) - 1;

[[noreturn]] void refuse(const char* what, std::uint32_t found, std::uint32_t most) {
  throw UserError(what, "skeleton", std::to_string(found), "at most " + std::to_string(most),
                  "choose smaller numbers in the skeleton, or the engine fast");
}

}  // namespace

std::uint32_t message_tag(std::uint16_t context, std::int32_t tag) {
  if (tag == kAnyTag) {
    throw UserError("the engine sst cannot receive a message of any tag", "skeleton", "MPI_ANY_TAG", "a tag",
                    "name the tag in the skeleton, or use the engine fast");
  }
  const auto number = static_cast<std::uint32_t>(tag);
  const std::uint32_t communicator = context / 2u;
  if (context % 2 == 1) {
    const std::uint32_t window = tag >= kFirstWindowTag ? kWindow : 0;
    return (communicator << kCollectiveBits) | window | (number & kCollectiveMask);
  }
  if (communicator == 0) {
    if (number > kMostWorldTag) refuse("a tag is too large for the engine sst", number, kMostWorldTag);
    return kWorld | number;
  }
  if (communicator > kMostOtherCommunicator) {
    refuse("there are too many communicators with messages for the engine sst", communicator, kMostOtherCommunicator);
  }
  if (number > kMostOtherTag) {
    refuse("a tag of a communicator other than MPI_COMM_WORLD is too large for the engine sst", number, kMostOtherTag);
  }
  return kOther | (communicator << kOtherTagBits) | number;
}

std::uint32_t remote_tag(RemotePart part, std::uint32_t number) {
  return kOther | static_cast<std::uint32_t>(part) << kRemoteBits | (number & kRemoteMask);
}

std::uint32_t message_size(std::uint64_t bytes, CallKind call) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (bytes > kMost) {
    throw UserError("a message is too long for the engine sst", std::string(call_name(call)), std::to_string(bytes),
                    "at most " + std::to_string(kMost) + " bytes",
                    "send it in several messages, or use the engine fast");
  }
  return static_cast<std::uint32_t>(bytes);
}

std::uint32_t ember_rank(const network::JobConfig& job, std::uint32_t rank) { return job.slot_of(rank); }

std::uint32_t rank_of_ember(const network::JobConfig& job, std::uint32_t ember_rank) {
  if (job.rank_order == network::RankOrder::Block) return ember_rank;
  if (job.rank_order == network::RankOrder::Cyclic) {
    return ember_rank % job.ranks_per_node * job.nodes + ember_rank / job.ranks_per_node;
  }
  // Called once by each rank; lists come from mappings, which have at most thousands of ranks.
  const auto found = std::find(job.slots.begin(), job.slots.end(), ember_rank);
  return static_cast<std::uint32_t>(found - job.slots.begin());
}

}  // namespace manynode::sst_element
