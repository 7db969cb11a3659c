// Maps context and tag of a message to one firefly tag, its size to firefly's count, and ranks to ember's numbers.
//
// firefly identifies messages of a job by group, source and a tag of 32 bits. Groups would have to be made by a
// barrier; therefore all messages use the group of all ranks, and the tag contains the context. SST's collectives use
// that group too, with 1 to 6 in the upper four bits; the tags below avoid these values and the tag that means any.
//
//   1 t......  31 bits   point to point in MPI_COMM_WORLD: the tag
//   0111 c t    28 bits  point to point in another communicator: 12 bits of its number, 16 of the tag
//   0111 0 p n  28 bits  remote operations: 2 bits of the part, 14 of the operation's number
//   0000 c 0 n  28 bits  messages of expanded collectives: 16 bits of the communicator, 11 of the collective's number
//   0000 c 1 n  28 bits  posts and completes of windows: 16 bits of the communicator, 11 of the window's tag
//
// Collectives of a communicator are numbered one after the other (primitive.hpp); 2,048 are never in progress at once.
#pragma once

#include <cstdint>

#include "manynode/call.hpp"
#include "run_config.hpp"

namespace manynode::sst_element {

// Throws UserError for a tag that does not fit, and for kAnyTag, with which firefly would take messages of other
// communicators and of collectives.
std::uint32_t message_tag(std::uint16_t context, std::int32_t tag);

// Of the messages of a remote operation (one_sided.hpp). Numbers count the operations of an origin.
enum class RemotePart : std::uint8_t { Request, Data, Reply };
std::uint32_t remote_tag(RemotePart part, std::uint32_t number);

// Throws UserError above 2147483647 bytes: firefly counts in 32 bits, partly with signs.
std::uint32_t message_size(std::uint64_t bytes, CallKind call);

// ember counts the ranks of a job node by node. Both functions are the identity if the run orders ranks in blocks.
std::uint32_t ember_rank(const network::JobConfig& job, std::uint32_t rank);
std::uint32_t rank_of_ember(const network::JobConfig& job, std::uint32_t ember_rank);

}  // namespace manynode::sst_element
