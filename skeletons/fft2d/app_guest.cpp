// Removes FFTW's AVX variants; compiled only into the guest of a simulator. FFTW chooses its variant by the processor.
// gem5 has no AVX, so a guest must not contain such instructions. The linker finds these empty tables of variants
// before those of libfftw3.a, and links none of the listed functions.
namespace {

// FFTW's solvtab: pairs of function and name; the last has no function.
struct Solver {
  void (*add)(void* planner);
  const char* name;
};

}  // namespace

extern "C" {
extern const Solver fftw_solvtab_dft_avx[];
extern const Solver fftw_solvtab_rdft_avx[];
const Solver fftw_solvtab_dft_avx[] = {{nullptr, nullptr}};
const Solver fftw_solvtab_rdft_avx[] = {{nullptr, nullptr}};
}
