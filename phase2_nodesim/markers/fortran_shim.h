/* Fortran entry points. Both MPI libraries' Fortran bindings end in a C entry point (MPI_x or PMPI_x) that this library
 * wraps: a Fortran call is recorded there, once, after the binding has translated handles and sentinels. Only the call
 * site would be lost, because the C wrapper is called from inside the binding. A shim keeps it: it notes its return
 * address and continues to the real symbol without knowing the arguments. Caller and callee have the same (longest)
 * signature: the compiler turns the call into a jump, and all arguments in registers and on the stack stay in place. */
#ifndef MANYNODE_MARKERS_FORTRAN_SHIM_H
#define MANYNODE_MARKERS_FORTRAN_SHIM_H

#include "markers.h"

typedef void mk_shim_function(void*, void*, void*, void*, void*, void*, void*, void*);

#define MK_SHIM(symbol)                                                                                             \
  __attribute__((visibility("default"))) void symbol(void* a, void* b, void* c, void* d, void* e, void* f, void* g, \
                                                     void* h);                                                      \
  void symbol(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h) {                             \
    static mk_shim_function* real;                                                                                  \
    if (__builtin_expect(!real, 0)) {                                                                               \
      real = (mk_shim_function*)mk_find_symbol(#symbol);                                                            \
      if (!real) __builtin_trap(); /* the program was linked against a symbol that no library defines */            \
    }                                                                                                               \
    mk_fortran_site = __builtin_return_address(0);                                                                  \
    real(a, b, c, d, e, f, g, h);                                                                                   \
  }

#endif
