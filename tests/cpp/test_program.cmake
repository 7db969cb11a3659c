# manynode_add_test_program(NAME SOURCE... [WITHOUT_SANITIZERS] LIBRARIES TARGET...): a program of GoogleTest cases, each
# a test of ctest. The target native_tests builds all programs; native_tests_without_sanitizers builds those that no
# sanitizer can follow, whose tests have this label.
#
# Tests are optimised less than what they test, because they take longer to compile than to run. Their common
# headers are precompiled once.
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

function(manynode_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 test "WITHOUT_SANITIZERS" "" "LIBRARIES")
  add_executable(${name} EXCLUDE_FROM_ALL ${test_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> -Wall -Wextra)
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${name} REUSE_FROM manynode_test_headers)
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_dependencies(native_tests ${name})
  if(test_WITHOUT_SANITIZERS)
    add_dependencies(native_tests_without_sanitizers ${name})
    gtest_discover_tests(${name} PROPERTIES LABELS without_sanitizers)
  else()
    gtest_discover_tests(${name})
  endif()
endfunction()
