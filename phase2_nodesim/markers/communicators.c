/* Communicators: small numbers in the order in which this rank created them, and the translation of their ranks to
 * ranks of MPI_COMM_WORLD. The translation is local (groups only) and done once, when a communicator is made or first
 * used. */
#include "markers.h"

#include <sys/mman.h>

struct communicator {
  uintptr_t handle; /* 0: free; a freed communicator's slot is reused by linear probing only after it was cleared */
  MPI_Comm comm;
  int number;
  bool asked, is_inter;
  int members; /* of the local group */
  int peers;   /* of the group that ranks refer to (the remote one of an intercommunicator) */
  int own_rank;
  int* world_ranks; /* NULL: identity */
};

enum { TABLE = 1 << 14 };
static struct communicator* table;
static struct communicator world, self;
static struct communicator* last;
static int next_number = 2;

static struct communicator* slot_of(uintptr_t handle) {
  if (!table && !(table = mk_allocate(TABLE * sizeof *table))) return NULL;
  const uint64_t hash = (uint64_t)handle * 0x9e3779b97f4a7c15u;
  for (unsigned i = 0; i < TABLE; i++) {
    struct communicator* entry = &table[((hash >> 40) + i) & (TABLE - 1)];
    if (!entry->handle || entry->handle == handle) return entry;
  }
  return NULL;
}

static struct communicator* find(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return NULL;
  if (comm == MPI_COMM_WORLD) {
    world.comm = comm;
    return &world;
  }
  if (comm == MPI_COMM_SELF) {
    self.comm = comm;
    self.number = 1;
    return &self;
  }
  const uintptr_t handle = MK_HANDLE(comm);
  if (last && last->handle == handle) return last;
  struct communicator* entry = slot_of(handle);
  if (!entry) return NULL;
  if (!entry->handle) /* created by a call that is not wrapped */
    *entry = (struct communicator){.handle = handle, .comm = comm, .number = next_number++};
  return last = entry;
}

static size_t rank_bytes(int size) { return (size_t)(size > 0 ? size : 1) * sizeof(int); }

int* mk_world_ranks(MPI_Group group, int size) {
  MPI_Group all;
  const size_t bytes = rank_bytes(size);
  int *ranks = mk_allocate(bytes), *from = mk_allocate(bytes);
  const bool translated = ranks && from && mk_real.Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS;
  if (translated) {
    for (int i = 0; i < size; i++) from[i] = i;
    mk_real.Group_translate_ranks(group, size, from, all, ranks);
    for (int i = 0; i < size; i++)
      if (ranks[i] == MPI_UNDEFINED) ranks[i] = MK_UNKNOWN;
    mk_real.Group_free(&all);
  }
  if (from) munmap(from, bytes);
  if (!translated) mk_free_world_ranks(ranks, size);
  return translated ? ranks : NULL;
}

void mk_free_world_ranks(int* ranks, int size) {
  if (ranks) munmap(ranks, rank_bytes(size));
}

static void translate(struct communicator* entry) {
  entry->asked = true;
  MPI_Group group;
  int inter = 0;
  mk_real.Comm_size(entry->comm, &entry->members);
  mk_real.Comm_rank(entry->comm, &entry->own_rank);
  entry->peers = entry->members;
  if (entry == &world) return;
  mk_real.Comm_test_inter(entry->comm, &inter);
  entry->is_inter = inter;
  if ((inter ? mk_real.Comm_remote_group : mk_real.Comm_group)(entry->comm, &group) != MPI_SUCCESS) return;
  mk_real.Group_size(group, &entry->peers);
  entry->world_ranks = mk_world_ranks(group, entry->peers);
  mk_real.Group_free(&group);
}

static struct communicator* find_translated(MPI_Comm comm) {
  struct communicator* entry = find(comm);
  if (entry && !entry->asked) translate(entry);
  return entry;
}

int mk_communicator(MPI_Comm comm) {
  const struct communicator* entry = find(comm);
  return entry ? entry->number : MK_NONE;
}

/* Removes an entry and moves later ones of its probe chain up, so that no search ends too early. */
void mk_forget_communicator(MPI_Comm comm) {
  struct communicator* entry = comm == MPI_COMM_NULL ? NULL : slot_of(MK_HANDLE(comm));
  last = NULL;
  if (!entry || !entry->handle) return;
  mk_free_world_ranks(entry->world_ranks, entry->peers);
  entry->handle = 0;
  for (size_t i = (size_t)(entry - table + 1) & (TABLE - 1); table[i].handle; i = (i + 1) & (TABLE - 1)) {
    const struct communicator moved = table[i];
    table[i].handle = 0;
    *slot_of(moved.handle) = moved;
  }
}

int mk_peer(MPI_Comm comm, int rank) {
  if (rank == MPI_ANY_SOURCE) return MK_ANY;
  if (rank == MPI_PROC_NULL) return MK_PROC_NULL;
  const struct communicator* entry = find_translated(comm);
  if (!entry || rank < 0 || rank >= entry->peers) return MK_UNKNOWN;
  if (!entry->world_ranks) return entry == &world ? rank : MK_UNKNOWN;
  return entry->world_ranks[rank];
}

/* In an intercommunicator the root's own group passes MPI_ROOT at the root. */
int mk_peer_of_root(MPI_Comm comm, int root) { return root == MPI_ROOT ? mk_state.rank : mk_peer(comm, root); }

/* Entries of count arrays in collectives: one per member of the group at the other side. */
int mk_members(MPI_Comm comm) {
  const struct communicator* entry = find_translated(comm);
  return entry ? entry->peers : 0;
}

int mk_own_rank(MPI_Comm comm) {
  const struct communicator* entry = find_translated(comm);
  return entry ? entry->own_rank : 0;
}

bool mk_is_root(MPI_Comm comm, int root) {
  if (root == MPI_ROOT) return true;
  const struct communicator* entry = find_translated(comm);
  return entry && !entry->is_inter && entry->own_rank == root;
}

int mk_neighbors(MPI_Comm comm, bool outgoing) {
  int kind = MPI_UNDEFINED, in = 0, out = 0, weighted;
  mk_real.Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    mk_real.Cartdim_get(comm, &in);
    return 2 * in;
  }
  if (kind == MPI_GRAPH) {
    mk_real.Graph_neighbors_count(comm, mk_own_rank(comm), &in);
    return in;
  }
  if (kind == MPI_DIST_GRAPH) mk_real.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  return outgoing ? out : in;
}

static void put_all(const int* values, int count) {
  for (int i = 0; i < count; i++) mk_put(values[i]);
}

/* What the detail of a new communicator ends with. */
static void put_topology(MPI_Comm comm, int kind) {
  int in = 0, out = 0, weighted;
  if (kind == MPI_CART) {
    mk_real.Cartdim_get(comm, &in);
    int* values = mk_allocate(3 * (size_t)(in + 1) * sizeof(int));
    if (!values) return;
    mk_real.Cart_get(comm, in, values, values + in, values + 2 * in);
    mk_put(in);
    for (int i = in; i < 2 * in; i++) values[i] = values[i] != 0; /* periods */
    put_all(values, 3 * in);
    munmap(values, 3 * (size_t)(in + 1) * sizeof(int));
    return;
  }
  if (kind == MPI_GRAPH)
    in = out = mk_neighbors(comm, false);
  else if (kind == MPI_DIST_GRAPH)
    mk_real.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  else
    return;
  const size_t bytes = 2 * (size_t)(in + out + 1) * sizeof(int);
  int* ranks = mk_allocate(bytes);
  if (!ranks) return;
  if (kind == MPI_GRAPH) {
    mk_real.Graph_neighbors(comm, mk_own_rank(comm), in, ranks);
    mk_real.Graph_neighbors(comm, mk_own_rank(comm), in, ranks + in);
  } else {
    mk_real.Dist_graph_neighbors(comm, in, ranks, ranks + in + out, out, ranks + in, ranks + in + out + in);
  }
  mk_put(in);
  mk_put(out);
  put_all(ranks, in + out);
  munmap(ranks, bytes);
}

static void put_members(const struct communicator* entry) {
  bool as_world = entry->peers == mk_state.world_size;
  for (int i = 0; as_world && entry->world_ranks && i < entry->peers; i++) as_world = entry->world_ranks[i] == i;
  mk_put(entry->peers);
  mk_put(as_world ? 0 : entry->peers);
  for (int i = 0; !as_world && i < entry->peers; i++) mk_put(entry->world_ranks ? entry->world_ranks[i] : MK_UNKNOWN);
}

void mk_put_members(MPI_Comm comm) {
  const struct communicator* entry = find_translated(comm);
  if (entry) put_members(entry);
}

/* Numbers a communicator that the call has made. Of one that is not ready yet (MPI_Comm_idup) nothing can be asked: its
 * group is that of `pending_copy_of`, else MPI_COMM_NULL. */
void mk_new_communicator(MPI_Comm comm, MPI_Comm pending_copy_of) {
  if (comm == MPI_COMM_NULL) {
    mk_put(MK_NONE);
    return;
  }
  mk_forget_communicator(comm); /* the handle of a communicator that was freed behind our back */
  const int number = mk_communicator(comm);
  const MPI_Comm asked = pending_copy_of == MPI_COMM_NULL ? comm : pending_copy_of;
  const struct communicator* entry = find_translated(asked);
  int kind = MPI_UNDEFINED;
  mk_put(number);
  if (entry && !entry->is_inter) mk_real.Topo_test(asked, &kind);
  mk_put(!entry || entry->is_inter ? MK_TOPOLOGY_INTER
         : kind == MPI_CART        ? MK_TOPOLOGY_CARTESIAN
         : kind == MPI_UNDEFINED   ? MK_TOPOLOGY_NONE
                                   : MK_TOPOLOGY_GRAPH);
  if (entry) put_members(entry);
  put_topology(asked, kind);
}

int mk_win_peer(MPI_Win win, int rank) {
  MPI_Group group, all;
  int result = MK_UNKNOWN;
  if (rank == MPI_PROC_NULL) return MK_PROC_NULL;
  if (mk_real.Win_get_group(win, &group) != MPI_SUCCESS) return MK_UNKNOWN;
  if (mk_real.Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
    mk_real.Group_translate_ranks(group, 1, &rank, all, &result);
    mk_real.Group_free(&all);
  }
  mk_real.Group_free(&group);
  return result == MPI_UNDEFINED ? MK_UNKNOWN : result;
}
