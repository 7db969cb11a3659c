# FFTW, double precision, as fft2d.
include(${CMAKE_CURRENT_LIST_DIR}/../fft2d/app.cmake)
