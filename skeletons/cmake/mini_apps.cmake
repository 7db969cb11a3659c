# The runnable mini-apps. Each is compiled once for every MPI library present: bin/<name> for MPICH (or whatever mpicxx
# is), bin/<name>.openmpi for Open MPI, and bin/<name>.bridge as a guest of a simulator (phase2_nodesim/bridge). They are built by the MPI compilers themselves, because find_package(MPI) knows
# only one library at a time, and always with -O2 -g, because their times are measured and their symbols name call sites (a tail call would name the caller's caller).

find_program(MANYNODE_MPICXX NAMES mpicxx.mpich mpicxx DOC "MPI C++ compiler of the mini-apps")
find_program(MANYNODE_MPICXX_OPENMPI NAMES mpicxx.openmpi DOC "Open MPI's C++ compiler, for bin/<name>.openmpi")

function(manynode_add_mini_app folder)
  get_filename_component(name ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/app*.cpp)
  if(NOT sources)
    return()
  endif()
  list(APPEND sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../source/parameters.cpp)
  set(programs "")
  foreach(variant "" ".openmpi" ".bridge")
    set(compile_options "")
    set(link_options "")
    set(libraries "")
    if(variant STREQUAL "")
      set(compiler ${MANYNODE_MPICXX})
    elseif(variant STREQUAL ".bridge")
      if(NOT TARGET manynode_bridge)
        continue()
      endif()
      set(compiler ${CMAKE_CXX_COMPILER})
      set(compile_options ${MANYNODE_BRIDGE_COMPILE_OPTIONS})
      set(link_options ${MANYNODE_BRIDGE_LINK_OPTIONS})
      set(libraries $<TARGET_FILE:manynode_bridge>)
    else()
      set(compiler ${MANYNODE_MPICXX_OPENMPI})
    endif()
    if(NOT compiler)
      continue()
    endif()
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}${variant})
    set(objects "")
    foreach(source IN LISTS sources)
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
    list(APPEND programs ${program})
  endforeach()
  if(programs)
    add_custom_target(manynode_app_${name} ALL DEPENDS ${programs})
  endif()
endfunction()
