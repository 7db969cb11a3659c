/* Calls of a guest: a bridge proxy (phase2_nodesim/bridge) makes the MPI calls of a simulated rank in its place. What
 * is recorded are its calls, but when they were entered and left, from where in which program, only the guest knows:
 * the proxy says so before it makes a call. Its other MPI calls are not recorded. */
#include "wrapping.h"

struct mk_guest mk_guest;

#define EXPORTED __attribute__((visibility("default")))

static struct mk_record* last_record(void) {
  const uint64_t records = mk_record_slots();
  return records ? mk_record_at(records - 1) : NULL;
}

/* After the proxy's own MPI_Init: the record of that call becomes the guest's. */
EXPORTED void manynode_markers_guest_init(const char* program, uint64_t entry_ns, uint64_t site, int threaded) {
  struct mk_record* record = last_record();
  mk_guest.on = true;
  mk_guest.program = mk_intern(program);
  if (!record) return;
  mk_state.start = entry_ns;
  record->operation = threaded ? MK_OP_Init_thread : MK_OP_Init;
  record->time_in_ns = entry_ns;
  record->time_out_ns = entry_ns;
  record->call_site = mk_site_number((void*)(uintptr_t)site);
}

/* Before each call that is made for the guest. The end of a call is only known when the next one begins. */
EXPORTED void manynode_markers_guest_call(uint64_t last_exit_ns, uint64_t entry_ns, uint64_t site) {
  struct mk_record* record = last_record();
  if (record && mk_state.recording) record->time_out_ns = last_exit_ns;
  mk_guest.announced = true;
  mk_guest.entry_ns = entry_ns;
  mk_guest.site = site;
}
