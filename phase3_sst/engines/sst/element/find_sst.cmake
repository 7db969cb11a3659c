# Finds an SST whose element libraries can be built outside its tree, and tries whether its headers compile.

# One value of sst-config; empty when it has none.
function(manynode_ask_sst variable)
  execute_process(COMMAND ${sst_config} ${ARGN} OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    set(answer "")
  endif()
  string(STRIP "${answer}" answer)
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

# Sets MANYNODE_SST_INCLUDES, _DEFINITIONS, _EMBER_LIBRARY and _MPI_INCLUDES (empty: SST without MPI), and writes
# built-against.json beside the objects. `missing`: what lacks, else empty.
function(manynode_find_sst missing)
  set(${missing} "" PARENT_SCOPE)
  if(MANYNODE_SANITIZE)
    set(${missing} "sst itself is built without AddressSanitizer" PARENT_SCOPE)
    return()
  endif()
  set(sst_config ${MANYNODE_SST_CONFIG})
  if(NOT sst_config)
    find_program(sst_config_on_path sst-config NO_CACHE)
    set(sst_config ${sst_config_on_path})
  endif()
  if(NOT sst_config)
    set(${missing} "needs SST: no sst-config on PATH; name it in MANYNODE_SST_CONFIG" PARENT_SCOPE)
    return()
  endif()
  manynode_ask_sst(prefix --prefix)
  if(NOT prefix)
    set(${missing} "${sst_config} tells no prefix; name another one in MANYNODE_SST_CONFIG" PARENT_SCOPE)
    return()
  endif()
  set(ember ${MANYNODE_EMBER_SOURCES})
  if(NOT ember)
    manynode_ask_sst(ember SST_ELEMENT_SOURCE ember)
  endif()
  if(NOT ember)
    set(${missing} "${sst_config} knows no ember: needs sst-elements, or its sources in MANYNODE_EMBER_SOURCES"
      PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS ${ember}/mpi/embermpigen.h)
    set(${missing} "no mpi/embermpigen.h in ${ember}; name the folder of ember's sources in MANYNODE_EMBER_SOURCES"
      PARENT_SCOPE)
    return()
  endif()

  # Directories and definitions; the standard is our own.
  manynode_ask_sst(flags --ELEMENT_CXXFLAGS)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(includes "")
  set(definitions "")
  foreach(flag IN LISTS flags)
    if(flag MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1} ${CMAKE_MATCH_1}/sst/core)
    elseif(flag MATCHES "^-D")
      list(APPEND definitions ${flag})
    endif()
  endforeach()
  get_filename_component(sources ${ember}/../../.. ABSOLUTE)
  list(APPEND includes ${ember} ${sources})

  set(try ${CMAKE_CURRENT_BINARY_DIR}/try_ember.cpp)
  file(WRITE ${try} "#include <sst_config.h>\n#include <mpi/embermpigen.h>\nint tried() { return 0; }\n")
  # Tried anew only for another SST.
  set(tried "${includes};${definitions}")
  if(NOT "${MANYNODE_SST_TRIED}" STREQUAL "${tried}")
    unset(MANYNODE_SST_COMPILES CACHE)
  endif()
  set(MANYNODE_SST_TRIED "${tried}" CACHE INTERNAL "")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(MANYNODE_SST_COMPILES ${CMAKE_CURRENT_BINARY_DIR}/try_ember ${try}
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${includes}" COMPILE_DEFINITIONS ${definitions}
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON OUTPUT_VARIABLE output)
  if(NOT MANYNODE_SST_COMPILES)
    string(REGEX MATCH "[^\n]*error[^\n]*" first_error "${output}")
    set(${missing} "ember's headers in ${ember} do not compile with those of ${prefix}: ${first_error}" PARENT_SCOPE)
    return()
  endif()

  manynode_ask_sst(libraries SST_ELEMENT_LIBRARY SST_ELEMENT_LIBRARY_LIBDIR)
  set(ember_library "")
  if(EXISTS ${libraries}/libember.so)
    set(ember_library ${libraries}/libember.so)
  endif()
  manynode_ask_sst(mpi_flags --MPI_CPPFLAGS)
  separate_arguments(mpi_flags UNIX_COMMAND "${mpi_flags}")
  set(mpi_includes "")
  foreach(flag IN LISTS mpi_flags)
    string(REGEX REPLACE "^-I" "" include "${flag}")
    if(EXISTS ${include}/mpi.h)
      list(APPEND mpi_includes ${include})
    endif()
  endforeach()
  manynode_write_built_against(${prefix} ${ember} ${sst_config} "${ember_library}" "${mpi_includes}")
  set(MANYNODE_SST_EMBER_LIBRARY "${ember_library}" PARENT_SCOPE)
  set(MANYNODE_SST_MPI_INCLUDES "${mpi_includes}" PARENT_SCOPE)
  set(MANYNODE_SST_INCLUDES ${includes} PARENT_SCOPE)
  set(MANYNODE_SST_DEFINITIONS ${definitions} PARENT_SCOPE)
endfunction()

# What the library was built against, so that a run with another SST can be told apart: version and prefix are for
# people; the digests of SST's program and of libember.so differ even between two builds of the same version.
function(manynode_write_built_against prefix ember sst_config ember_library mpi)
  manynode_ask_sst(bindir --bindir)
  set(preload "")
  if(mpi)
    set(preload ${CMAKE_BINARY_DIR}/lib/libmanynode_sst_mpi.so)
  endif()
  execute_process(COMMAND ${bindir}/sst --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "[^\n]*" version "${version}")
  # The program behind bin/sst, which only starts it.
  get_filename_component(program ${bindir}/../libexec/sstsim.x ABSOLUTE)
  if(NOT EXISTS ${program})
    set(program ${bindir}/sst)
  endif()
  set(digests "")
  foreach(file IN ITEMS ${program} "${ember_library}")
    set(digest "")
    if(EXISTS "${file}")
      file(SHA256 ${file} digest)
    endif()
    list(APPEND digests "${digest}")
  endforeach()
  list(GET digests 0 sst_digest)
  list(GET digests 1 ember_digest)
  # Left alone where nothing has changed, because the library is built anew when it does.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/built-against.json @ONLY CONTENT
"{\"schema\": \"sst-element/1\",
 \"version\": \"${version}\",
 \"prefix\": \"${prefix}\",
 \"sst_config\": \"${sst_config}\",
 \"ember_sources\": \"${ember}\",
 \"sst\": \"${program}\",
 \"sst_sha256\": \"${sst_digest}\",
 \"ember_library\": \"${ember_library}\",
 \"ember_library_sha256\": \"${ember_digest}\",
 \"mpi_preload\": \"${preload}\"}
")
endfunction()
