/* What a program uses and these markers do not follow. Each is a line of the file "not-followed" in the folder of the
 * marker files. It is written when the program does it, because such a program may end badly or leave no marker file.
 * manynode/markers.py reads it. */
#define _GNU_SOURCE
#include "wrapping.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KNOWN = 64 };

void mk_not_followed(const char* what, const char* why) {
  static struct {
    const char *what, *why;
  } known[KNOWN];
  static int count;
  const char* directory = getenv("MANYNODE_MARKERS_DIR");
  if (!directory || !*directory || mk_guest.on) return;
  for (int i = 0; i < count; i++)
    if (known[i].what == what && known[i].why == why) return;
  if (count == KNOWN) return;
  known[count].what = what;
  known[count++].why = why;
  char path[sizeof mk_state.directory + 64], line[1024];
  snprintf(path, sizeof path, "%s/not-followed", directory);
  const int length = snprintf(line, sizeof line, "%s: %s\n", what, why);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  if (length > 0 && (size_t)length < sizeof line && write(file, line, (size_t)length) < 0) (void)0;
  close(file);
}

void mk_not_followed_call(const char* what, const char* why, const void* site) {
  if (!mk_depth && !mk_inside_mpi(site)) mk_not_followed(what, why);
}

/* The library that defines what is at `address`, unless it is this one, one of MPI's, or no definition: an executable
 * at a fixed address has entries for the functions of others. */
static const char* other_tool(void* address) {
  Dl_info found, own;
  const ElfW(Sym)* symbol = NULL;
  if (!address || mk_inside_mpi(address) || mk_inside_fortran(address)) return NULL;
  if (!dladdr1(address, &found, (void**)&symbol, RTLD_DL_SYMENT) || !symbol || symbol->st_shndx == SHN_UNDEF)
    return NULL;
  if (!dladdr((void*)(uintptr_t)&mk_not_followed, &own) || own.dli_fbase == found.dli_fbase) return NULL;
  return found.dli_fname;
}

/* Functions of MPI that the program or another tool defines, too (PMPI): the recorded calls are the tool's, or it sees
 * none of the program's. */
void mk_look_for_other_tools(void) {
  static const char of_its_own[] = "MPI functions of its own, as tools have (PMPI)";
  for (int i = 0; i < MK_OPERATIONS; i++) {
    const char *first = other_tool(dlsym(RTLD_DEFAULT, mk_operation_names[i])),
               *next = other_tool(dlsym(RTLD_NEXT, mk_operation_names[i]));
    if (first) mk_not_followed(first, of_its_own);
    if (next && next != first) mk_not_followed(next, of_its_own);
  }
}

/* Only a program that looks its functions up in the MPI library itself gets past MPI_Init here. */
__attribute__((destructor)) static void at_exit(void) {
  int initialized = 0;
  if (mk_state.directory[0] || !getenv("MANYNODE_MARKERS_DIR")) return;
  int (*ask)(int*) = (int (*)(int*))mk_find_symbol("PMPI_Initialized");
  if (ask && ask(&initialized) == MPI_SUCCESS && initialized)
    mk_not_followed("MPI_Init", "looked up by the program itself (dlopen, dlsym)");
}
