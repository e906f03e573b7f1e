# SPDX-License-Identifier: Apache-2.0
# How rooms, programs and tests are declared. Warnings and sanitizers are set here, once.
add_library(hopyard_flags INTERFACE)
target_compile_options(hopyard_flags INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers -Wnon-virtual-dtor -Werror=return-type
                                               -Werror=unused-result)
# Every room is instrumented, once for all fuzz targets; these bring the engine (tests/fuzz).
if(HOPYARD_FUZZ)
  set(HOPYARD_SANITIZE fuzzer-no-link,address,undefined)
endif()
if(HOPYARD_SANITIZE)
  target_compile_options(hopyard_flags INTERFACE -O1 -g1 -fsanitize=${HOPYARD_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(hopyard_flags INTERFACE -fsanitize=${HOPYARD_SANITIZE})
endif()

# hopyard_room(NAME SOURCES a.cc … DEPENDS target …): the static library hopyard_NAME.
# Includes are written from daemon/: "base/fd.h". Most of what a source costs is its headers, so several are compiled as one,
# and a name is in a room once.
function(hopyard_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(hopyard_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(hopyard_${name} PUBLIC ${CMAKE_SOURCE_DIR}/daemon)
  target_link_libraries(hopyard_${name} PUBLIC ${ROOM_DEPENDS} PRIVATE hopyard_flags)
  set_target_properties(hopyard_${name} PROPERTIES UNITY_BUILD ${HOPYARD_UNITY})
endfunction()

# hopyard_program(NAME SOURCES … DEPENDS …): an executable in build/bin.
function(hopyard_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/daemon)
  target_link_libraries(${name} PRIVATE ${PROGRAM_DEPENDS} hopyard_flags)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${HOPYARD_UNITY})
endfunction()

# hopyard_unit_test(NAME SOURCES … DEPENDS …): a GoogleTest program, one ctest entry, label "unit".
function(hopyard_unit_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/daemon ${CMAKE_SOURCE_DIR}/tests
                                             ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${TEST_DEPENDS} GTest::gmock GTest::gtest_main hopyard_flags)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
