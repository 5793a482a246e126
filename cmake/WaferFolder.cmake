# wafer_folder(NAME [USES folder...] [LIBRARIES target...]
#              [TEST_USES folder...] [TEST_LIBRARIES target...] [PROGRAM name])
# One folder of the house (src/wafer/NAME) as targets:
#   wafer_NAME     library of its *.cpp. It may include base and USES, which are what its row in
#                  docs/house.md allows; scripts/check-layers compares the three.
#   NAME_test      GoogleTest program of its *_test.cpp. TEST_USES are more folders for tests alone.
#   PROGRAM        the executable of its main.cpp, for a door.
#   headers_NAME   compiles each header alone (part of the target check_headers).
# LIBRARIES and TEST_LIBRARIES are targets of third parties.
function(wafer_folder name)
  cmake_parse_arguments(ARG "" "PROGRAM" "USES;LIBRARIES;TEST_USES;TEST_LIBRARIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "wafer_folder(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(library wafer_${name})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  add_library(${library} STATIC ${sources} ${headers})
  # The Python module is a shared library of all folders; with symbols hidden, code that can be part
  # of one costs nothing, and so no folder is built twice.
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX POSITION_INDEPENDENT_CODE ON
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${library} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${library} PUBLIC fmt::fmt PRIVATE ${ARG_LIBRARIES})
  wafer_use(${library} PUBLIC ${ARG_USES})
  wafer_warnings(${library})
  if(NOT TARGET wafer_all)
    add_library(wafer_all INTERFACE)  # all folders, for suites
  endif()
  target_link_libraries(wafer_all INTERFACE ${library})

  wafer_check_headers(${name} ${library})
  if(ARG_PROGRAM)
    add_executable(${ARG_PROGRAM} main.cpp)
    target_link_libraries(${ARG_PROGRAM} PRIVATE ${library} ${ARG_LIBRARIES})
    wafer_warnings(${ARG_PROGRAM})
    install(TARGETS ${ARG_PROGRAM})
  endif()
  if(tests AND WAFER_TESTS)
    wafer_test(${name} SOURCES ${tests} LIBRARIES ${library} ${ARG_LIBRARIES} ${ARG_TEST_LIBRARIES})
    wafer_use(${name}_test PRIVATE ${ARG_TEST_USES})
  endif()
endfunction()

# Links `target` with base and the folders named.
function(wafer_use target scope)
  foreach(used base ${ARGN})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/wafer/${used}/CMakeLists.txt)
      message(FATAL_ERROR "${target} uses ${used}, but there is no folder src/wafer/${used}")
    endif()
    if(NOT target STREQUAL wafer_${used})
      target_link_libraries(${target} ${scope} wafer_${used})
    endif()
  endforeach()
endfunction()

# wafer_test(NAME SOURCES file... LIBRARIES target...): GoogleTest program NAME_test; its tests carry
# the label NAME. WAFER_TEST_DATA and WAFER_SOURCE_DIR are macros in it (see tests/support).
function(wafer_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LIBRARIES} GTest::gtest_main)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name}_test PRIVATE WAFER_TEST_DATA="${WAFER_TEST_DATA}"
                             WAFER_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Tests run once: what they test is optimized, they themselves are built fast.
  target_compile_options(${name}_test PRIVATE -O0 -Wall -Wextra -Wno-missing-field-initializers
                         ${WAFER_FALSE_ALARMS} -Werror)
  # RapidCheck draws the same cases in every run.
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 120
                       PROPERTIES LABELS ${name} TIMEOUT 600 ENVIRONMENT RC_PARAMS=seed=1)
endfunction()

# A source for each header that includes nothing else: what the header needs, it includes itself.
function(wafer_check_headers name library)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(alone)
  foreach(header ${headers})
    cmake_path(GET header STEM stem)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/alone/${stem}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"wafer/${name}/${stem}.h\"\n")
    list(APPEND alone ${file})
  endforeach()
  if(NOT TARGET check_headers)
    add_custom_target(check_headers)
  endif()
  if(alone)
    add_library(headers_${name} OBJECT EXCLUDE_FROM_ALL ${alone})
    target_link_libraries(headers_${name} PRIVATE ${library})
    target_compile_options(headers_${name} PRIVATE -O0 -g0)
    wafer_warnings(headers_${name})
    add_dependencies(check_headers headers_${name})
  endif()
endfunction()
