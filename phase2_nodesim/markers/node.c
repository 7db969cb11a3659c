/* Under the engine qemu (phase2_nodesim/qemu): marks around each MPI call, which the plugin sees, and its counters,
 * which it writes to a page of this process at the end of each compute phase. */
#define _GNU_SOURCE
#include "markers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter_math.h"

static struct mn_page* page;
bool mk_node_injects;
static bool blind[MK_OPERATIONS];

static bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/* Calls that may wait inside the MPI library, where nobody can tell when they look for messages. All other calls either
 * return at once or wait politely (polite.c), if this MPI has what that takes. */
static bool waits_blindly(const char* name) {
  for (int i = 0; i < mk_impolite_count; i++)
    if (strcmp(name, mk_impolite_names[i]) == 0) return true;
  static const char* const prefixes[] = {"MPI_Init",       "MPI_Finalize", "MPI_Abort", "MPI_Comm_",
                                         "MPI_Intercomm_", "MPI_Cart_",    "MPI_Graph", "MPI_Dist_",
                                         "MPI_Win_",       "MPI_File_",    "MPI_Bsend"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (starts_with(name, prefixes[i])) return true;
  return false;
}

bool mk_node_open(void) {
  page = mk_allocate(sizeof *page);
  if (!page) return false;
  syscall(MN_CALL, (long)MN_CALL_PAGE, page, (long)mk_state.rank);
  if (page->magic != MN_PAGE_MAGIC || page->version != MN_PAGE_VERSION) {
    page = NULL;
    return false;
  }
  mk_node_injects = mk_state.ranks_per_node && mk_parse_number(getenv("MANYNODE_MARKERS_INJECT"), 0) == 1;
  for (int i = 0; i < MK_OPERATIONS; i++) blind[i] = waits_blindly(mk_operation_names[i]);
  return true;
}

int mk_node_counters(const char** names) {
  for (uint32_t i = 0; i < page->count; i++) names[i] = page->names[i];
  return (int)page->count;
}

void mk_node_stop(int operation, uint64_t* counts) {
  if (blind[operation])
    MN_MARK(MN_MARK_STOP_BLIND);
  else
    MN_MARK(MN_MARK_STOP);
  memcpy(counts, page->values, page->count * sizeof *counts);
}

void mk_node_look(void) {
  if (page) MN_MARK(MN_MARK_LOOK);
}

bool mk_node_in_vain(void) {
  if (!page) return false;
  MN_MARK(MN_MARK_IN_VAIN);
  return true;
}

void mk_node_leave(void) {
  if (page) MN_MARK(MN_MARK_LEAVE);
}

/* The data of a message from or to another node: the network interface writes or reads it while the rank is in MPI. */
void mk_node_message(const void* buffer, uint64_t bytes, bool received) {
  if (buffer && buffer != MPI_IN_PLACE && bytes) syscall(MN_CALL, (long)MN_CALL_INJECT, buffer, bytes, (long)received);
}
