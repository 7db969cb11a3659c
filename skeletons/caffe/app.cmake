# OpenBLAS with OpenMP: called by a thread of a rank, it computes in that thread alone, and several threads may call it.
# (In Debian 12 the variant without threads gives wrong products when several threads call it.) Static in every program:
# the shared one is whichever variant the machine has chosen.
find_path(MANYNODE_OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp
  DOC "OpenBLAS with OpenMP, for the mini-app caffe")
find_library(MANYNODE_OPENBLAS_STATIC_LIBRARY libopenblas.a PATH_SUFFIXES openblas-openmp
  DOC "OpenBLAS with OpenMP, for the mini-app caffe")
find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT MANYNODE_OPENBLAS_INCLUDE_DIR OR NOT MANYNODE_OPENBLAS_STATIC_LIBRARY MATCHES "openmp")
  set(app_missing "OpenBLAS with OpenMP: libopenblas-openmp-dev")
elseif(NOT OpenMP_CXX_FOUND)
  set(app_missing "a compiler with OpenMP")
endif()
set(app_without_mpi app_codec.cpp app_images.cpp app_layers.cpp app_network.cpp)
set(app_libraries ${MANYNODE_OPENBLAS_STATIC_LIBRARY})
set(app_compile_options ${OpenMP_CXX_FLAGS} -isystem ${MANYNODE_OPENBLAS_INCLUDE_DIR})
set(app_link_options ${OpenMP_CXX_FLAGS})
foreach(what missing libraries compile_options link_options)
  set(app_guest_${what} ${app_${what}})
endforeach()
