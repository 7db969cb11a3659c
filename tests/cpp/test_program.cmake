# manynode_add_test_program(NAME SOURCE... [WITHOUT_SANITIZERS] LIBRARIES TARGET...): a program of GoogleTest cases. The
# target native_tests builds all programs; native_tests_without_sanitizers builds those that no sanitizer can follow,
# whose tests have this label.
#
# Tests are optimised less than what they test, because they take longer to compile than to run. Their common
# headers are precompiled once. Several files are compiled as one, because most of the time goes to templates that all
# of them use: names in anonymous namespaces differ between the files of a program.
if(NOT TARGET manynode_test_headers)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "")
  add_library(manynode_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(manynode_test_headers PRIVATE GTest::gtest)
  target_compile_options(manynode_test_headers PRIVATE $<$<CONFIG:Release>:-O1> -Wall -Wextra)
  target_compile_features(manynode_test_headers PRIVATE cxx_std_20)
  set_target_properties(manynode_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(manynode_test_headers PRIVATE
    <gtest/gtest.h> <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <set> <span> <sstream> <string> <vector>)
endif()

# A program's cases run in a few processes: a sanitizer takes longer to start than most cases take.
set(MANYNODE_TEST_SHARDS 4)
function(manynode_run_test_program name)
  math(EXPR last "${MANYNODE_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${MANYNODE_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}" ${ARGN})
  endforeach()
endfunction()

function(manynode_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 test "WITHOUT_SANITIZERS" "" "LIBRARIES")
  add_executable(${name} EXCLUDE_FROM_ALL ${test_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> -Wall -Wextra)
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
  target_precompile_headers(${name} REUSE_FROM manynode_test_headers)
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_dependencies(native_tests ${name})
  if(test_WITHOUT_SANITIZERS)
    add_dependencies(native_tests_without_sanitizers ${name})
    manynode_run_test_program(${name} LABELS without_sanitizers)
  else()
    manynode_run_test_program(${name})
  endif()
endfunction()
