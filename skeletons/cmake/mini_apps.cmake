# The runnable mini-apps. Each is compiled once for every MPI library present: bin/<name> for MPICH (or whatever mpicxx
# is), bin/<name>.openmpi for Open MPI, and bin/<name>.bridge as a guest of a simulator (phase2_nodesim/bridge). They are built by the MPI compilers themselves, because find_package(MPI) knows
# only one library at a time, and always with -O2 -g, because their times are measured and their symbols name call sites (a tail call would name the caller's caller).
#
# A folder's app.cmake says what its mini-app needs besides MPI: it sets
#   app_libraries, app_guest_libraries   files to link with, shared ones and, for the guest, static ones
#   app_compile_options, app_link_options and app_guest_compile_options, app_guest_link_options
#   app_missing, app_guest_missing       what was not found; that program is then left out by name
# and app_guest*.cpp are compiled for the guest only.

find_program(MANYNODE_MPICXX NAMES mpicxx.mpich mpicxx DOC "MPI C++ compiler of the mini-apps")
find_program(MANYNODE_MPICXX_OPENMPI NAMES mpicxx.openmpi DOC "Open MPI's C++ compiler, for bin/<name>.openmpi")

function(manynode_add_mini_app folder)
  get_filename_component(name ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/app*.cpp)
  if(NOT sources)
    return()
  endif()
  set(guest_sources ${sources})
  list(FILTER sources EXCLUDE REGEX "/app_guest[^/]*$")
  list(APPEND sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../source/parameters.cpp)
  list(APPEND guest_sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../source/parameters.cpp)
  foreach(kind app app_guest)
    foreach(what libraries compile_options link_options missing)
      set(${kind}_${what} "")
    endforeach()
  endforeach()
  include(${folder}/app.cmake OPTIONAL)
  foreach(variant "" ".openmpi" ".bridge")
    set(kind app)
    set(variant_sources ${sources})
    if(variant STREQUAL ".bridge")
      set(kind app_guest)
      set(variant_sources ${guest_sources})
    endif()
    if(${kind}_missing)
      message(STATUS "left out: the mini-app ${name}${variant} (needs ${${kind}_missing})")
      continue()
    endif()
    set(compile_options ${${kind}_compile_options})
    set(link_options ${${kind}_link_options})
    set(libraries ${${kind}_libraries})
    if(variant STREQUAL "")
      set(compiler ${MANYNODE_MPICXX})
    elseif(variant STREQUAL ".bridge")
      if(NOT TARGET manynode_bridge)
        continue()
      endif()
      set(compiler ${CMAKE_CXX_COMPILER})
      list(APPEND compile_options ${MANYNODE_BRIDGE_COMPILE_OPTIONS})
      list(APPEND link_options ${MANYNODE_BRIDGE_LINK_OPTIONS})
      list(APPEND libraries $<TARGET_FILE:manynode_bridge>)
    else()
      set(compiler ${MANYNODE_MPICXX_OPENMPI})
    endif()
    if(NOT compiler)
      continue()
    endif()
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}${variant})
    set(objects "")
    foreach(source IN LISTS variant_sources)
      get_filename_component(stem ${source} NAME_WE)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}${variant}.${stem}.o)
      add_custom_command(
        OUTPUT ${object}
        COMMAND ${compiler} -std=c++20 -O2 -g -fno-optimize-sibling-calls -Wall -Wextra -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
                ${compile_options}
                -I${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include
                -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
        DEPENDS ${source}
        DEPFILE ${object}.d
        COMMENT "Compiling ${stem} of mini-app ${name}${variant}"
        VERBATIM)
      list(APPEND objects ${object})
    endforeach()
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
      COMMAND ${compiler} ${link_options} ${objects} ${libraries} -o ${program}
      DEPENDS ${objects} ${libraries}
      COMMENT "Linking mini-app ${name}${variant}"
      VERBATIM)
    add_custom_target(manynode_app_${name}${variant} ALL DEPENDS ${program})
    if(NOT variant STREQUAL ".bridge")
      manynode_ship(manynode_app_${name}${variant} ${program})
    endif()
  endforeach()
endfunction()
