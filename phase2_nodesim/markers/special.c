/* Wrappers by hand: the life of the program, probes, persistent starts, freed handles. */
#define _GNU_SOURCE
#include "wrapping.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter_math.h"

#define ENTRY(name, declaration, ...)                                                \
  int MPI_##name declaration { return wrap_##name(MK_RETURN_ADDRESS, __VA_ARGS__); } \
  int PMPI_##name declaration { return wrap_##name(MK_RETURN_ADDRESS, __VA_ARGS__); }

static enum mk_counter_mode wanted_counters(void) {
  const char* mode = getenv("MANYNODE_MARKERS_COUNTERS");
  mk_state.on_valgrind = mk_on_valgrind();
  if (mode && strcmp(mode, "time") == 0) return MK_COUNTERS_TIME;
  if (mode && strcmp(mode, "qemu") == 0) return mk_node_open() ? MK_COUNTERS_NODE : MK_COUNTERS_TIME;
  /* under Valgrind hardware counters would count Valgrind's own work */
  if (mk_state.on_valgrind && !(mode && strcmp(mode, "perf") == 0)) return MK_COUNTERS_CALLGRIND;
  if (mode && strcmp(mode, "callgrind") == 0) return MK_COUNTERS_TIME;
  return MK_COUNTERS_PERF;
}

static void begin_program(uint64_t start, void* site, int operation) {
  const char* directory = getenv("MANYNODE_MARKERS_DIR");
  if (!MK_MPI_PRESENT()) return;
  mk_polite_init();
  if (!directory || !*directory || strlen(directory) >= sizeof mk_state.directory) return;
  strcpy(mk_state.directory, directory);
  int length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  mk_real.Comm_rank(MPI_COMM_WORLD, &mk_state.rank);
  mk_real.Comm_size(MPI_COMM_WORLD, &mk_state.world_size);
  mk_real.Query_thread(&mk_state.thread_level);
  if (mk_real.Get_library_version(version, &length) == MPI_SUCCESS && length > 0) {
    version[strcspn(version, "\n")] = 0;
    snprintf(mk_state.library_version, sizeof mk_state.library_version, "%.*s", 255, version);
  }
  const uint64_t per_node = mk_parse_number(getenv("MANYNODE_MARKERS_RANKS_PER_NODE"), 0);
  mk_state.node = per_node ? (int)((uint64_t)mk_state.rank / per_node) : -1;
  mk_state.ranks_per_node = per_node < INT_MAX ? (int)per_node : 0;
  mk_state.max_records = mk_parse_number(getenv("MANYNODE_MARKERS_MAX_RECORDS"), UINT64_MAX);
  mk_state.multiple = mk_state.thread_level == MPI_THREAD_MULTIPLE;
  mk_state.sweep = (int)mk_parse_number(getenv("MANYNODE_MARKERS_SWEEP"), 0);
  mk_state.start = start;
  mk_state.counter_mode = wanted_counters();
  mk_check_prefix();
  mk_turns_init();
  mk_counters_open();
  mk_learn_modules();
  mk_look_for_other_tools();
  mk_watch_endings();
  mk_start_recording(start, site, operation);
}

static int wrap_Init(void* site, int* argc, char*** argv) {
  mk_resolve();
  mk_waiting_before_init();
  mk_clock_start();
  const uint64_t start = mk_now();
  const int result = mk_real.Init(argc, argv);
  if (result == MPI_SUCCESS) begin_program(start, site, MK_OP_Init);
  return result;
}
ENTRY(Init, (int* argc, char*** argv), argc, argv)

static int wrap_Init_thread(void* site, int* argc, char*** argv, int required, int* provided) {
  mk_resolve();
  mk_waiting_before_init();
  mk_clock_start();
  const uint64_t start = mk_now();
  const int result = mk_real.Init_thread(argc, argv, required, provided);
  if (result == MPI_SUCCESS) begin_program(start, site, MK_OP_Init_thread);
  return result;
}
ENTRY(Init_thread, (int* argc, char*** argv, int required, int* provided), argc, argv, required, provided)

static int wrap_Finalize(void* site) {
  mk_stop_recording(site, MK_OP_Finalize);
  mk_write(0);
  return mk_real.Finalize();
}
int MPI_Finalize(void) { return wrap_Finalize(MK_RETURN_ADDRESS); }
int PMPI_Finalize(void) { return wrap_Finalize(MK_RETURN_ADDRESS); }

static int wrap_Abort(void* site, MPI_Comm comm, int errorcode) {
  mk_stop_recording(site, MK_OP_Abort);
  mk_write(MK_FILE_INCOMPLETE);
  return mk_real.Abort(comm, errorcode);
}
ENTRY(Abort, (MPI_Comm comm, int errorcode), comm, errorcode)

/* Probes name the source that they found. */
static void fill_probe(struct mk_record* record, int source, int tag, MPI_Comm comm, const MPI_Status* status) {
  record->communicator = mk_communicator(comm);
  record->peer = mk_peer(comm, status ? status->MPI_SOURCE : source);
  record->tag = status ? status->MPI_TAG : tag;
  if (source == MPI_ANY_SOURCE) record->flags |= MK_RECORD_ANY_SOURCE;
}

static int wrap_Probe(void* site, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  struct mk_record* record = mk_begin(MK_OP_Probe, site);
  MPI_Status own;
  MPI_Status* to = status == MPI_STATUS_IGNORE ? &own : status;
  const int result = mk_state.polite ? mk_polite_probe(source, tag, comm, to) : mk_real.Probe(source, tag, comm, to);
  if (record) {
    if (mk_returned(record, result)) fill_probe(record, source, tag, comm, to);
    mk_end(record);
  }
  return result;
}
ENTRY(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), source, tag, comm, status)

static int wrap_Mprobe(void* site, int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  struct mk_record* record = mk_begin(MK_OP_Mprobe, site);
  MPI_Status own;
  MPI_Status* to = status == MPI_STATUS_IGNORE ? &own : status;
  const int result = mk_state.polite ? mk_polite_mprobe(source, tag, comm, message, to)
                                     : mk_real.Mprobe(source, tag, comm, message, to);
  if (record) {
    if (mk_returned(record, result)) {
      fill_probe(record, source, tag, comm, to);
      mk_note_message(*message, record);
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status), source, tag, comm,
      message, status)

static int wrap_Improbe(void* site, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                        MPI_Status* status) {
  struct mk_record* record = mk_begin(MK_OP_Improbe, site);
  MPI_Status own;
  MPI_Status* to = status == MPI_STATUS_IGNORE ? &own : status;
  const int result = mk_real.Improbe(source, tag, comm, flag, message, to);
  if (record) {
    if (mk_returned(record, result)) {
      fill_probe(record, source, tag, comm, *flag ? to : NULL);
      if (*flag)
        mk_note_message(*message, record);
      else
        record->flags |= MK_RECORD_IN_VAIN;
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Improbe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status), source, tag,
      comm, flag, message, status)

static int wrap_Start(void* site, MPI_Request* request) {
  struct mk_record* record = mk_begin(MK_OP_Start, site);
  const int result = mk_real.Start(request);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = 1;
      mk_note_started(request, record);
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Start, (MPI_Request * request), request)

static int wrap_Startall(void* site, int count, MPI_Request* requests) {
  struct mk_record* record = mk_begin(MK_OP_Startall, site);
  const int result = mk_real.Startall(count, requests);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = count;
      for (int i = 0; i < count; i++) mk_note_started(&requests[i], record);
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Startall, (int count, MPI_Request requests[]), count, requests)

/* What cannot be cancelled any more is complete, or its message is under way: one look tells. */
static int wrap_Request_free(void* site, MPI_Request* request) {
  struct mk_record* record = mk_begin(MK_OP_Request_free, site);
  const uintptr_t handle = MK_HANDLE(*request);
  MPI_Status status;
  int known = 0;
  if (record && mk_awaited && mk_real.Request_get_status(*request, &known, &status) != MPI_SUCCESS) known = 0;
  const int result = mk_real.Request_free(request);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = 1;
      mk_note_freed(handle, request, known ? &status : NULL);
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Request_free, (MPI_Request * request), request)

static int wrap_Cancel(void* site, MPI_Request* request) {
  struct mk_record* record = mk_begin(MK_OP_Cancel, site);
  const int result = mk_real.Cancel(request);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = 1;
      if (!mk_note_cancelled(request, record)) mk_not_followed("MPI_Cancel", "of a message that is no receive");
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Cancel, (MPI_Request * request), request)

static int free_communicator(void* site, int operation, int (*real)(MPI_Comm*), MPI_Comm* comm) {
  struct mk_record* record = mk_begin(operation, site);
  const MPI_Comm freed = *comm;
  const int number = record ? mk_communicator(freed) : MK_NONE;
  const int result = real(comm);
  if (record) {
    if (mk_returned(record, result)) {
      record->communicator = number;
      mk_forget_communicator(freed);
    }
    mk_end(record);
  }
  return result;
}

static int wrap_Comm_free(void* site, MPI_Comm* comm) {
  return free_communicator(site, MK_OP_Comm_free, mk_real.Comm_free, comm);
}
ENTRY(Comm_free, (MPI_Comm * comm), comm)

static int wrap_Comm_disconnect(void* site, MPI_Comm* comm) {
  return free_communicator(site, MK_OP_Comm_disconnect, mk_real.Comm_disconnect, comm);
}
ENTRY(Comm_disconnect, (MPI_Comm * comm), comm)
