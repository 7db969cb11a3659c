// Context and tag of a message as one tag of firefly, its size as firefly counts it, and ranks as ember numbers them.
//
// firefly knows messages of a job by group, source and a tag of 32 bits. Groups would have to be made by a barrier, so
// all messages go over the group of all ranks, and the tag carries the context. The collectives of SST use that group
// too, with 1 to 6 in the upper four bits; the numbers below leave those alone and never make the tag that means any.
//
//   1 t......  31 bits   point to point in MPI_COMM_WORLD: the tag
//   0111 c t    28 bits  point to point in another communicator: 12 bits of its number, 16 of the tag
//   0000 c n    28 bits  messages of expanded collectives: 16 bits of the communicator, 12 of the collective's number
//
// Collectives of a communicator are numbered one after the other (primitive.hpp); 4,096 of them are never under way at
// once.
#pragma once

#include <cstdint>

#include "manynode/call.hpp"
#include "run_config.hpp"

namespace manynode::sst_element {

// Throws UserError for a tag that does not fit, and for any tag (kAnyTag): firefly would then take messages of other
// communicators and of collectives.
std::uint32_t message_tag(std::uint16_t context, std::int32_t tag);

// Throws UserError above 2147483647 bytes: firefly counts in 32 bits, partly with signs.
std::uint32_t message_size(std::uint64_t bytes, CallKind call);

// ember counts the ranks of a job node by node. Both are the identity where the run orders ranks in blocks.
std::uint32_t ember_rank(const network::JobConfig& job, std::uint32_t rank);
std::uint32_t rank_of_ember(const network::JobConfig& job, std::uint32_t ember_rank);

}  // namespace manynode::sst_element
