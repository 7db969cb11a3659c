# Sets MANYNODE_PYTHON_FOUND to a Python that can read application.yaml (3.11 or later with PyYAML and pydantic), or to
# nothing: MANYNODE_PYTHON, else the first of the virtual environment's, the caller's (Python3_EXECUTABLE, as
# scikit-build-core sets it) and the one on PATH.
set(MANYNODE_PYTHON "" CACHE FILEPATH "Python with PyYAML and pydantic, to read application.yaml; empty: find one")

function(manynode_find_python)
  set(MANYNODE_PYTHON_FOUND "" PARENT_SCOPE)
  set(candidates ${MANYNODE_PYTHON})
  if(NOT candidates)
    find_program(python_on_path NAMES python3 NO_CACHE)
    set(candidates ${CMAKE_SOURCE_DIR}/.venv/bin/python ${Python3_EXECUTABLE} ${python_on_path})
  endif()
  foreach(candidate IN LISTS candidates)
    if(EXISTS ${candidate})
      execute_process(COMMAND ${candidate} -c "import manynode.config.application" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(failed EQUAL 0)
        set(MANYNODE_PYTHON_FOUND ${candidate} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()
manynode_find_python()
