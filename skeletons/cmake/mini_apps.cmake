# The runnable mini-apps. Each is compiled for every MPI library present: bin/<name> for MPICH (or whatever mpicxx is),
# bin/<name>.openmpi for Open MPI, and bin/<name>.bridge as a guest of a simulator (phase2_nodesim/bridge). The MPI
# compilers build them, because find_package(MPI) knows only one library at a time. They always use -O2 -g, because their
# times are measured and their symbols name call sites (a tail call would name the caller's caller).
#
# A folder's app.cmake says what its mini-app needs besides MPI: it sets
#   app_libraries, app_guest_libraries   files to link with, shared ones and, for the guest, static ones
#   app_compile_options, app_link_options and app_guest_compile_options, app_guest_link_options
#   app_missing, app_guest_missing       what was not found; that program is then left out by name
#   app_without_mpi                      sources that are compiled once for all of its programs
# and app_guest*.cpp are compiled for the guest only.

find_program(MANYNODE_MPICXX NAMES mpicxx.mpich mpicxx DOC "MPI C++ compiler of the mini-apps")
find_program(MANYNODE_MPICXX_OPENMPI NAMES mpicxx.openmpi DOC "Open MPI's C++ compiler, for bin/<name>.openmpi")

# Compiles `source` to `object` with a compiler and options.
function(manynode_add_mini_app_object object source compiler)
  get_filename_component(name ${object} NAME_WLE)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${compiler} -std=c++20 -O2 -g -fno-optimize-sibling-calls -Wall -Wextra -DOMPI_SKIP_MPICXX
            -DMPICH_SKIP_MPICXX ${ARGN} -I${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include -I${CMAKE_CURRENT_BINARY_DIR}
            -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Compiling ${name} of the mini-apps"
    VERBATIM)
endfunction()

# Objects of sources without MPI are in all variants: gem5's guests have no AVX.
set(mini_app_options_without_mpi "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(mini_app_options_without_mpi -march=x86-64)
endif()

# For each variant its compiler, options, and what all its programs share.
set(mini_app_compiler ${MANYNODE_MPICXX})
set(mini_app_compiler.openmpi ${MANYNODE_MPICXX_OPENMPI})
if(TARGET manynode_bridge)
  set(mini_app_compiler.bridge ${CMAKE_CXX_COMPILER})
  set(mini_app_compile_options.bridge ${MANYNODE_BRIDGE_COMPILE_OPTIONS})
  set(mini_app_link_options.bridge ${MANYNODE_BRIDGE_LINK_OPTIONS})
  set(mini_app_libraries.bridge $<TARGET_FILE:manynode_bridge>)
endif()
set(mini_app_parameters ${CMAKE_CURRENT_BINARY_DIR}/parameters.o)
manynode_add_mini_app_object(${mini_app_parameters} ${CMAKE_CURRENT_SOURCE_DIR}/source/parameters.cpp
  ${CMAKE_CXX_COMPILER} ${mini_app_options_without_mpi})
add_custom_target(manynode_app_parameters DEPENDS ${mini_app_parameters})

function(manynode_add_mini_app folder)
  get_filename_component(name ${folder} NAME)
  file(GLOB app_guest_sources CONFIGURE_DEPENDS ${folder}/app*.cpp)
  if(NOT app_guest_sources)
    return()
  endif()
  set(app_sources ${app_guest_sources})
  list(FILTER app_sources EXCLUDE REGEX "/app_guest[^/]*$")
  foreach(kind app app_guest)
    foreach(what libraries compile_options link_options missing)
      set(${kind}_${what} "")
    endforeach()
  endforeach()
  set(app_without_mpi "")
  include(${folder}/app.cmake OPTIONAL)
  set(once_objects "")
  foreach(source IN LISTS app_without_mpi)
    get_filename_component(stem ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.${stem}.o)
    manynode_add_mini_app_object(${object} ${folder}/${source} ${CMAKE_CXX_COMPILER}
      ${app_compile_options} ${mini_app_options_without_mpi})
    list(APPEND once_objects ${object})
    list(REMOVE_ITEM app_sources ${folder}/${source})
    list(REMOVE_ITEM app_guest_sources ${folder}/${source})
  endforeach()
  # Programs that are made at the same time each wait for this target, and none makes its objects twice.
  add_custom_target(manynode_app_${name}_once DEPENDS ${once_objects})
  add_dependencies(manynode_app_${name}_once manynode_declarations manynode_app_parameters)
  foreach(variant "" ".openmpi" ".bridge")
    set(kind app)
    if(variant STREQUAL ".bridge")
      set(kind app_guest)
    endif()
    if(${kind}_missing)
      message(STATUS "left out: the mini-app ${name}${variant} (needs ${${kind}_missing})")
      continue()
    endif()
    set(compiler ${mini_app_compiler${variant}})
    if(NOT compiler)
      continue()
    endif()
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}${variant})
    set(objects ${mini_app_parameters} ${once_objects})
    foreach(source IN LISTS ${kind}_sources)
      get_filename_component(stem ${source} NAME_WE)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}${variant}.${stem}.o)
      manynode_add_mini_app_object(${object} ${source} ${compiler}
        ${${kind}_compile_options} ${mini_app_compile_options${variant}})
      list(APPEND objects ${object})
    endforeach()
    set(libraries ${${kind}_libraries} ${mini_app_libraries${variant}})
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
      COMMAND ${compiler} ${${kind}_link_options} ${mini_app_link_options${variant}} ${objects} ${libraries}
              -o ${program}
      DEPENDS ${objects} ${libraries}
      COMMENT "Linking mini-app ${name}${variant}"
      VERBATIM)
    add_custom_target(manynode_app_${name}${variant} ALL DEPENDS ${program})
    add_dependencies(manynode_app_${name}${variant} manynode_app_${name}_once)
    if(NOT variant STREQUAL ".bridge")
      manynode_ship(manynode_app_${name}${variant} ${program})
    endif()
  endforeach()
endfunction()
