// Only in the guest of a simulator: FFTW without its AVX variants. FFTW chooses among its variants by what the
// processor can do; gem5 has no AVX, and a guest must not hold such instructions. These empty tables of variants stand
// before those of libfftw3.a, so that the linker takes none of what they list.
namespace {

// fftw's solvtab: pairs of function and name up to one without a function.
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
