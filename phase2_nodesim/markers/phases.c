/* Names of compute phases: MPI_Pcontrol(1, "name") names the compute phase in which it is called (the last one wins)
 * and opens a region; while the region is open, later phases without a name of their own inherit its name.
 * MPI_Pcontrol(-1, "name") closes it, MPI_Pcontrol(0) closes all. Regions nest. One name has a meaning of its own: what
 * is computed while the region "warm-up" is open does not count as the application's compute time.
 *
 * MPI_Pcontrol is variadic and other tools define it otherwise, so the second argument is read only for the levels 1
 * and -1, only when the call does not come from the Fortran binding (which passes the level alone), and only after the
 * kernel has said that the pointer is readable; what is found must be a short printable string, or the call is ignored.
 * Fortran programs name phases through an interface with bind(C, name="MPI_Pcontrol"). */
#define _GNU_SOURCE
#include "wrapping.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LONGEST_NAME = 200, DEEPEST = 32, PAGE = 4096 };
static uint32_t label; /* named in this phase */
static uint32_t open_regions[DEEPEST];
static int depth;
static bool warming, warmed; /* the region is open; it was, in this phase */
static uint32_t warm_up;     /* its name, once it was given */

static void note_warm_up(const char* text, uint32_t name) {
  if (strcmp(text, "warm-up") == 0) warm_up = name;
  warming = false;
  for (int i = 0; i < depth && warm_up; i++) warming |= open_regions[i] == warm_up;
  warmed |= warming;
}

uint32_t mk_take_phase(uint16_t* flags) {
  if (warmed) *flags |= MK_RECORD_WARM_UP;
  warmed = warming;
  const uint32_t own = label;
  label = 0;
  if (own) return own;
  if (depth == 0) return 0;
  *flags |= MK_RECORD_PHASE_INHERITED;
  return open_regions[depth - 1];
}

/* Pages of string literals are asked for again and again; those found readable are kept in mind. */
static bool page_readable(uintptr_t page) {
  static uintptr_t known[64];
  uintptr_t* slot = &known[(page / PAGE) % 64];
  if (*slot == page && page) return true;
  char byte;
  struct iovec here = {&byte, 1}, there = {(void*)page, 1};
  if (page < 16 * PAGE) return false;
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1 && errno == EFAULT)
    return false; /* any other error: the kernel does not offer the call, and most pointers are good */
  *slot = page;
  return true;
}

static bool copy_name(char* to, const char* from) {
  for (int i = 0; i <= LONGEST_NAME; i++) {
    const uintptr_t at = (uintptr_t)(from + i);
    if ((i == 0 || at % PAGE == 0) && !page_readable(at & ~(uintptr_t)(PAGE - 1))) return false;
    const unsigned char c = (unsigned char)from[i];
    to[i] = (char)c;
    if (c == 0) return i > 0;
    if (c < ' ' || c == 127) return false;
  }
  return false;
}

static void open_region(uint32_t name) {
  label = name;
  for (int i = 0; i < depth; i++)
    if (open_regions[i] == name) depth = i; /* opened again without being closed: what was opened inside it is over */
  if (depth == DEEPEST) depth--;
  open_regions[depth++] = name;
}

static void close_region(uint32_t name) {
  for (int i = depth - 1; i >= 0; i--)
    if (open_regions[i] == name) {
      depth = i;
      return;
    }
}

static int control(void* site, int level, const char* text) {
  char name[LONGEST_NAME + 1];
  if (!mk_state.recording) return MPI_SUCCESS;
  if (level == 0) {
    depth = 0;
    warming = false;
  } else if (text && !mk_inside_fortran(site) && copy_name(name, text)) {
    mk_lock();
    const uint32_t number = mk_intern(name);
    if (level == 1)
      open_region(number);
    else
      close_region(number);
    note_warm_up(name, number);
    mk_unlock();
  }
  return MPI_SUCCESS;
}

#define PCONTROL(symbol)                            \
  int symbol(const int level, ...) {                \
    const char* text = NULL;                        \
    if (level == 1 || level == -1) {                \
      va_list arguments;                            \
      va_start(arguments, level);                   \
      text = va_arg(arguments, const char*);        \
      va_end(arguments);                            \
    }                                               \
    return control(MK_RETURN_ADDRESS, level, text); \
  }
PCONTROL(MPI_Pcontrol)
PCONTROL(PMPI_Pcontrol)
