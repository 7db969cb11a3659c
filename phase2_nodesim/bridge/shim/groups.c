/* Groups: lists of ranks of MPI_COMM_WORLD. */
#include "communicators.h"

struct mb_group {
  bool used;
  int size;
  int* world_ranks;
};
static struct mb_table groups = {.slot_bytes = sizeof(struct mb_group)};

static bool group_is_free(const void* slot) { return !((const struct mb_group*)slot)->used; }

void mb_make_first_groups(void) {
  /* MPI_GROUP_NULL and MPI_GROUP_EMPTY */
  *(struct mb_group*)mb_slot(&groups, mb_new_slot(&groups, group_is_free)) = (struct mb_group){.used = true};
  *(struct mb_group*)mb_slot(&groups, mb_new_slot(&groups, group_is_free)) =
      (struct mb_group){.used = true, .world_ranks = mb_new_ranks(0)};
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  MB_ENTER(Comm_create);
  FIND(comm, "MPI_Comm_create");
  const struct mb_group* members = mb_slot(&groups, group);
  if (!members || !members->used || group == MPI_GROUP_NULL)
    return mb_wrong("MPI_Comm_create", MPI_ERR_GROUP, "no such group (%d)", group);
  int64_t* list = mb_list_room(0, members->size);
  for (int i = 0; i < members->size; i++) list[i] = members->world_ranks[i];
  call.request.word[0] = comm;
  mb_request(&call, list, members->size, NULL);
  mb_reply(&call);
  mb_comm_from_reply(&call, newcomm);
  return mb_leave(&call);
}

static MPI_Group new_group(int size, int* world_ranks) {
  const int number = mb_new_slot(&groups, group_is_free);
  *(struct mb_group*)mb_slot(&groups, number) =
      (struct mb_group){.used = true, .size = size, .world_ranks = world_ranks};
  return number;
}

#define FIND_GROUP(handle, name)                                \
  struct mb_group* members = mb_slot(&groups, handle);          \
  if (!members || !members->used || (handle) == MPI_GROUP_NULL) \
  return mb_wrong(name, MPI_ERR_GROUP, "no such group (%d)", handle)

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  FIND(comm, "MPI_Comm_group");
  *group = new_group(found->size, mb_copy_ints(found->world_ranks, found->size));
  return MPI_SUCCESS;
}

int MPI_Group_size(MPI_Group group, int* size) {
  FIND_GROUP(group, "MPI_Group_size");
  *size = members->size;
  return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int* rank) {
  FIND_GROUP(group, "MPI_Group_rank");
  *rank = mb_position(members->world_ranks, members->size, mb_guest.rank);
  return MPI_SUCCESS;
}

static int chosen(const char* name, MPI_Group group, int n, const int* ranks, bool include, MPI_Group* newgroup) {
  FIND_GROUP(group, name);
  for (int i = 0; i < n; i++)
    if (ranks[i] < 0 || ranks[i] >= members->size)
      return mb_wrong(name, MPI_ERR_RANK, "rank %d in a group of %d", ranks[i], members->size);
  const int size = include ? n : members->size - n;
  if (size <= 0) {
    *newgroup = MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
  }
  int* of_world = mb_new_ranks(size);
  int used = 0;
  for (int i = 0; include && i < n; i++) of_world[used++] = members->world_ranks[ranks[i]];
  for (int i = 0; !include && i < members->size && used < size; i++)
    if (mb_position(ranks, n, i) == MPI_UNDEFINED) of_world[used++] = members->world_ranks[i];
  *newgroup = new_group(used, of_world);
  return MPI_SUCCESS;
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return chosen("MPI_Group_incl", group, n, ranks, true, newgroup);
}

int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return chosen("MPI_Group_excl", group, n, ranks, false, newgroup);
}

int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  FIND_GROUP(group1, "MPI_Group_translate_ranks");
  const struct mb_group* other = mb_slot(&groups, group2);
  if (!other || !other->used) return mb_wrong("MPI_Group_translate_ranks", MPI_ERR_GROUP, "no such group (%d)", group2);
  for (int i = 0; i < n; i++)
    ranks2[i] = ranks1[i] == MPI_PROC_NULL
                    ? MPI_PROC_NULL
                    : mb_position(other->world_ranks, other->size, members->world_ranks[ranks1[i]]);
  return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group* group) {
  FIND_GROUP(*group, "MPI_Group_free");
  if (*group != MPI_GROUP_EMPTY) {
    mb_free_ranks(members->world_ranks, members->size);
    members->used = false;
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
