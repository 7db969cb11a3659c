/* Which data a call moves between this rank and ranks of other nodes. Derived datatypes count as contiguous, and
 * collectives move data directly between the members, whatever the MPI library does. */
#include "markers.h"

bool mk_node_outside(int peer) { return peer >= 0 && peer / mk_state.ranks_per_node != mk_state.node; }

void mk_node_sent(int peer, const void* buffer, uint64_t bytes) {
  if (mk_node_outside(peer)) mk_node_message(buffer, bytes, false);
}

void mk_node_received(int peer, const void* buffer, uint64_t bytes) {
  if (mk_node_outside(peer)) mk_node_message(buffer, bytes, true);
}

/* A single block that crosses the node's border if any member is beyond it. */
void mk_node_own(MPI_Comm comm, const void* buffer, uint64_t bytes, bool received) {
  const int members = mk_members(comm);
  for (int i = 0; i < members; i++) {
    if (!mk_node_outside(mk_peer(comm, i))) continue;
    mk_node_message(buffer, bytes, received);
    return;
  }
}

/* Those of members on other nodes; neighbouring blocks are named together. */
void mk_node_blocks(MPI_Comm comm, const void* buffer, uint64_t bytes, bool received) {
  const int members = mk_members(comm);
  if (buffer == MPI_IN_PLACE) return;
  for (int i = 0, first = 0; i <= members; i++) {
    if (i < members && mk_node_outside(mk_peer(comm, i))) continue;
    if (i > first)
      mk_node_message((const char*)buffer + (uint64_t)first * bytes, (uint64_t)(i - first) * bytes, received);
    first = i + 1;
  }
}
