/* Where the real MPI functions are, and which library an address belongs to. A call that comes from inside the MPI
 * library (its file I/O uses MPI_Bcast and the like) is not the application's and is not recorded; a call that comes
 * from the Fortran bindings is, with the call site that the Fortran shim noted. */
#define _GNU_SOURCE
#include "markers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct range {
  uintptr_t from, to;
};
enum { MAX_RANGES = 16 };
static struct range mpi_ranges[MAX_RANGES], fortran_ranges[MAX_RANGES];
static int mpi_count, fortran_count;

static bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

static int learn(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  const char* slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  const char* name = slash ? slash + 1 : info->dlpi_name ? info->dlpi_name : "";
  const bool fortran = starts_with(name, "libmpichfort") || starts_with(name, "libmpifort") ||
                       starts_with(name, "libmpi_mpifh") || starts_with(name, "libmpi_usempi") ||
                       starts_with(name, "libfmpich");
  const bool mpi = starts_with(name, "libmpich.") || starts_with(name, "libmpi.") || starts_with(name, "libopen-") ||
                   starts_with(name, "mca_");
  if (!fortran && !mpi) return 0;
  struct range* list = fortran ? fortran_ranges : mpi_ranges;
  int* count = fortran ? &fortran_count : &mpi_count;
  for (int i = 0; i < info->dlpi_phnum && *count < MAX_RANGES; i++) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    const uintptr_t from = (uintptr_t)(info->dlpi_addr + header->p_vaddr);
    list[(*count)++] = (struct range){from, from + header->p_memsz};
  }
  return 0;
}

void mk_learn_modules(void) {
  mpi_count = fortran_count = 0;
  dl_iterate_phdr(learn, NULL);
}

static bool inside(const struct range* ranges, int count, const void* address) {
  for (int i = 0; i < count; i++)
    if ((uintptr_t)address >= ranges[i].from && (uintptr_t)address < ranges[i].to) return true;
  return false;
}

bool mk_inside_mpi(const void* address) { return inside(mpi_ranges, mpi_count, address); }

bool mk_inside_fortran(const void* address) { return inside(fortran_ranges, fortran_count, address); }

/* The next definition of a symbol after this library; for programs that load MPI late and privately (Python's mpi4py),
 * the one in the MPI library that is already in the process. */
void* mk_find_symbol(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  static const char* const libraries[] = {"libmpich.so.12",     "libmpi.so.12",       "libmpi.so.40",
                                          "libmpichfort.so.12", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"};
  for (size_t i = 0; !symbol && i < sizeof libraries / sizeof *libraries; i++) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library) symbol = dlsym(library, name);
  }
  return symbol;
}

void mk_resolve(void) {
  void** functions = (void**)&mk_real;
  for (int i = 0; i < mk_real_count; i++)
    if (!functions[i]) functions[i] = dlsym(RTLD_NEXT, mk_real_names[i]);
  if (mk_real.Init && mk_real.Send) return;
  for (int i = 0; i < mk_real_count; i++)
    if (!functions[i]) functions[i] = mk_find_symbol(mk_real_names[i]);
}

/* Before any MPI call can happen: some programs ask MPI_Comm_rank-like things of communicators before recording starts.
 */
__attribute__((constructor)) static void at_load(void) { mk_resolve(); }
