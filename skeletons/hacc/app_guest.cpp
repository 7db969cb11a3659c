// Removes FFTW's AVX variants, as in fft2d; compiled only into the guest of a simulator.
#include "../fft2d/app_guest.cpp"
