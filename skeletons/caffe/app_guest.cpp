// Only in the guest of a simulator: OpenBLAS without AVX. OpenBLAS chooses among the kernels of many processors when
// the program starts; gem5 has no AVX, and a guest must not hold such instructions. These empty tables stand before
// those of libopenblas.a, so that the linker takes none of the kernels that they list. Prescott's remain, whose newest
// instructions are SSE3, and are chosen whatever the processor says of itself.
#include <cstdlib>

extern "C" {
#define MANYNODE_LEFT_OUT(name)        \
  extern const char gotoblas_##name[]; \
  const char gotoblas_##name[8192] = {}

MANYNODE_LEFT_OUT(ATOM);
MANYNODE_LEFT_OUT(BARCELONA);
MANYNODE_LEFT_OUT(BOBCAT);
MANYNODE_LEFT_OUT(BULLDOZER);
MANYNODE_LEFT_OUT(COOPERLAKE);
MANYNODE_LEFT_OUT(CORE2);
MANYNODE_LEFT_OUT(DUNNINGTON);
MANYNODE_LEFT_OUT(EXCAVATOR);
MANYNODE_LEFT_OUT(HASWELL);
MANYNODE_LEFT_OUT(NANO);
MANYNODE_LEFT_OUT(NEHALEM);
MANYNODE_LEFT_OUT(OPTERON);
MANYNODE_LEFT_OUT(OPTERON_SSE3);
MANYNODE_LEFT_OUT(PENRYN);
MANYNODE_LEFT_OUT(PILEDRIVER);
MANYNODE_LEFT_OUT(SANDYBRIDGE);
MANYNODE_LEFT_OUT(SKYLAKEX);
MANYNODE_LEFT_OUT(STEAMROLLER);
MANYNODE_LEFT_OUT(ZEN);

#undef MANYNODE_LEFT_OUT
}

namespace {

void choose_kernels() { setenv("OPENBLAS_CORETYPE", "Prescott", 1); }

// Before all constructors: OpenBLAS chooses in one of them.
__attribute__((section(".preinit_array"), used)) void (*const choose_kernels_first)() = choose_kernels;

}  // namespace
