// Only in the guest of a simulator: FFTW without its AVX variants, as fft2d.
#include "../fft2d/app_guest.cpp"
