// Removes the AVX kernels of OpenBLAS; compiled only into the guest of a simulator. OpenBLAS chooses its kernels by the
// processor when the program starts. gem5 has no AVX, so a guest must not contain such instructions. The linker finds
// these empty tables before those of libopenblas.a, and links none of the listed kernels. The kernels for Prescott
// remain (newest instructions: SSE3). They are always chosen, whatever the processor reports.
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

// Runs before all constructors, because OpenBLAS chooses in one of them.
__attribute__((section(".preinit_array"), used)) void (*const choose_kernels_first)() = choose_kernels;

}  // namespace
