// The time of a rank's own work within its collectives.
#include "replica.hpp"

namespace manynode::network {

void Replica::work_locally(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  const HostConfig& host = config_.network.host;
  const std::uint64_t bytes = primitive.bytes;
  switch (primitive.kind) {
    case PrimitiveKind::ReduceLocal:
      spend(rank, index, host.reduce_bandwidth_Bps.time(bytes), Spent::Reduce, bytes);
      break;
    case PrimitiveKind::CopyLocal:
      spend(rank, index, host.copy_bandwidth_Bps->time(bytes), Spent::Copy, bytes);
      break;
    case PrimitiveKind::FreshMemory:
      spend(rank, index, host.fresh_bandwidth_Bps->time(bytes), Spent::Fresh, bytes);
      break;
    case PrimitiveKind::CollectiveCall:
      spend(rank, index, collective_call_, Spent::CollectiveCall, 0);
      break;
    default:
      spend(rank, index, collective_step_, Spent::CollectiveStep, 0);
      break;
  }
}

}  // namespace manynode::network
