/* MPI_Wait* and MPI_Test*, by hand: which requests they complete becomes their detail. A completed request may be a
 * receive from any source, whose record then learns the real source, a cancelled one, or one whose data comes from
 * another node. Only while such completions are awaited are ignored statuses replaced. */
#include "wrapping.h"

#include <string.h>
#include <sys/mman.h>

#define ENTRY(name, declaration, ...)                                                \
  int MPI_##name declaration { return wrap_##name(MK_RETURN_ADDRESS, __VA_ARGS__); } \
  int PMPI_##name declaration { return wrap_##name(MK_RETURN_ADDRESS, __VA_ARGS__); }

/* Copies of request handles and room for statuses, on the stack as long as they are few. */
enum { FEW = 256 };
struct scratch {
  uintptr_t few_handles[FEW];
  MPI_Status few_statuses[FEW];
  uintptr_t* handles;
  MPI_Status* statuses;
  size_t mapped;
};

static bool prepare(struct scratch* scratch, int count, const MPI_Request* requests) {
  scratch->mapped = 0;
  scratch->handles = scratch->few_handles;
  scratch->statuses = scratch->few_statuses;
  if (count <= 0) return false;
  if (count > FEW) {
    scratch->mapped = (size_t)count * (sizeof(uintptr_t) + sizeof(MPI_Status));
    scratch->handles = mk_allocate(scratch->mapped);
    if (!scratch->handles) return false;
    scratch->statuses = (MPI_Status*)(scratch->handles + count);
  }
  for (int i = 0; i < count; i++) scratch->handles[i] = MK_HANDLE(requests[i]);
  return true;
}

/* The statuses to pass on: the program's, or own ones where it wants none and some are of interest. */
static MPI_Status* statuses_for(struct scratch* scratch, bool copied, MPI_Status* given) {
  return copied && mk_awaited && given == MPI_STATUSES_IGNORE ? scratch->statuses : given;
}

static void release(const struct scratch* scratch) {
  if (scratch->mapped) munmap(scratch->handles, scratch->mapped);
}

/* The requests at `indices`, or the first `count`; status i belongs to the i-th of them. */
static void complete_all(int count, const int* indices, const struct scratch* scratch, const MPI_Request* requests,
                         const MPI_Status* statuses) {
  for (int i = 0; i < count; i++) {
    const int at = indices ? indices[i] : i;
    mk_note_completed(scratch->handles[at], &requests[at], statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[i]);
  }
}

static int wrap_Wait(void* site, MPI_Request* request, MPI_Status* status) {
  struct mk_record* record = mk_begin(MK_OP_Wait, site);
  const uintptr_t handle = MK_HANDLE(*request);
  MPI_Status own;
  if (record && mk_awaited && status == MPI_STATUS_IGNORE) status = &own;
  const int result = mk_state.polite ? mk_polite_wait(request, status) : mk_real.Wait(request, status);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = 1;
      mk_note_completed(handle, request, status);
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Wait, (MPI_Request * request, MPI_Status* status), request, status)

static int wrap_Test(void* site, MPI_Request* request, int* flag, MPI_Status* status) {
  struct mk_record* record = mk_begin(MK_OP_Test, site);
  const uintptr_t handle = MK_HANDLE(*request);
  MPI_Status own;
  if (record && mk_awaited && status == MPI_STATUS_IGNORE) status = &own;
  const int result = mk_real.Test(request, flag, status);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = *flag ? 1 : 0;
      if (*flag)
        mk_note_completed(handle, request, status);
      else
        record->flags |= MK_RECORD_IN_VAIN;
    }
    mk_end(record);
  }
  return result;
}
ENTRY(Test, (MPI_Request * request, int* flag, MPI_Status* status), request, flag, status)

static int wrap_Waitall(void* site, int count, MPI_Request* requests, MPI_Status* statuses) {
  struct mk_record* record = mk_begin(MK_OP_Waitall, site);
  struct scratch scratch;
  const bool watch = record && prepare(&scratch, count, requests);
  MPI_Status* to = statuses_for(&scratch, watch, statuses);
  const int result = mk_state.polite ? mk_polite_waitall(count, requests, to) : mk_real.Waitall(count, requests, to);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = count;
      if (watch) complete_all(count, NULL, &scratch, requests, to);
    }
    if (watch) release(&scratch);
    mk_end(record);
  }
  return result;
}
ENTRY(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), count, requests, statuses)

static int wrap_Testall(void* site, int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  struct mk_record* record = mk_begin(MK_OP_Testall, site);
  struct scratch scratch;
  const bool watch = record && prepare(&scratch, count, requests);
  MPI_Status* to = statuses_for(&scratch, watch, statuses);
  const int result = mk_real.Testall(count, requests, flag, to);
  if (record) {
    if (mk_returned(record, result)) {
      record->requests = *flag ? count : 0;
      if (!*flag) record->flags |= MK_RECORD_IN_VAIN;
      if (watch && *flag) complete_all(count, NULL, &scratch, requests, to);
    }
    if (watch) release(&scratch);
    mk_end(record);
  }
  return result;
}
ENTRY(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status statuses[]), count, requests, flag, statuses)

/* Waitany and Testany differ in `flag` only, which is NULL for the former. */
static int any(void* site, int operation, int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  struct mk_record* record = mk_begin(operation, site);
  struct scratch scratch;
  const bool watch = record && prepare(&scratch, count, requests);
  if (watch && mk_awaited && status == MPI_STATUS_IGNORE) status = &scratch.statuses[0];
  const int result = flag              ? mk_real.Testany(count, requests, index, flag, status)
                     : mk_state.polite ? mk_polite_waitany(count, requests, index, status)
                                       : mk_real.Waitany(count, requests, index, status);
  if (record) {
    if (mk_returned(record, result)) {
      const bool done = (!flag || *flag) && *index != MPI_UNDEFINED;
      record->requests = done ? 1 : 0;
      if (flag && !done) record->flags |= MK_RECORD_IN_VAIN;
      if (watch && done) mk_note_completed(scratch.handles[*index], &requests[*index], status);
    }
    if (watch) release(&scratch);
    mk_end(record);
  }
  return result;
}

static int wrap_Waitany(void* site, int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return any(site, MK_OP_Waitany, count, requests, index, NULL, status);
}
ENTRY(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status), count, requests, index, status)

static int wrap_Testany(void* site, int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return any(site, MK_OP_Testany, count, requests, index, flag, status);
}
ENTRY(Testany, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status), count, requests, index,
      flag, status)

static int some(void* site, int operation, int count, MPI_Request* requests, int* outcount, int* indices,
                MPI_Status* statuses) {
  struct mk_record* record = mk_begin(operation, site);
  struct scratch scratch;
  const bool watch = record && prepare(&scratch, count, requests);
  MPI_Status* to = statuses_for(&scratch, watch, statuses);
  const int result = operation == MK_OP_Testsome ? mk_real.Testsome(count, requests, outcount, indices, to)
                     : mk_state.polite           ? mk_polite_waitsome(count, requests, outcount, indices, to)
                                                 : mk_real.Waitsome(count, requests, outcount, indices, to);
  if (record) {
    if (mk_returned(record, result)) {
      const int done = *outcount == MPI_UNDEFINED ? 0 : *outcount;
      record->requests = done;
      if (operation == MK_OP_Testsome && !done) record->flags |= MK_RECORD_IN_VAIN;
      if (watch) complete_all(done, indices, &scratch, requests, to);
    }
    if (watch) release(&scratch);
    mk_end(record);
  }
  return result;
}

static int wrap_Waitsome(void* site, int count, MPI_Request* requests, int* outcount, int* indices,
                         MPI_Status* statuses) {
  return some(site, MK_OP_Waitsome, count, requests, outcount, indices, statuses);
}
ENTRY(Waitsome, (int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]), count,
      requests, outcount, indices, statuses)

static int wrap_Testsome(void* site, int count, MPI_Request* requests, int* outcount, int* indices,
                         MPI_Status* statuses) {
  return some(site, MK_OP_Testsome, count, requests, outcount, indices, statuses);
}
ENTRY(Testsome, (int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]), count,
      requests, outcount, indices, statuses)
