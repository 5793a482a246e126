# What holds for every target of the project: options, compiler launcher, linker, warnings, sanitizers.
option(WAFER_TESTS "Build the tests (needs GoogleTest and RapidCheck)" ON)
option(WAFER_BENCHMARKS "Build bench/ (needs Google Benchmark)" OFF)
option(WAFER_LIBFUZZER "Link fuzz/ with libFuzzer (clang); else each target replays its corpus" OFF)
set(WAFER_SANITIZE "" CACHE STRING "Sanitizers of every target, as -fsanitize= takes them")
set(WAFER_TEST_DATA ${PROJECT_SOURCE_DIR}/../shared/data CACHE PATH
    "Public test data; tests that need it are skipped, saying so, where it is absent")
cmake_path(NORMAL_PATH WAFER_TEST_DATA)

# The cache may be shared by several checkouts: paths below the source are hashed as relative.
find_program(WAFER_CCACHE ccache)
if(WAFER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${WAFER_CCACHE})
endif()

find_program(WAFER_MOLD mold)
find_program(WAFER_LLD NAMES ld.lld-19 ld.lld)
if(WAFER_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(WAFER_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options(-fuse-ld=lld)
endif()

# Messages of failed checks name src/wafer/..., wherever the checkout lies.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE up)
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${up}/=)
if(WAFER_SANITIZE)
  add_compile_options(-fsanitize=${WAFER_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WAFER_SANITIZE})
endif()
if(WAFER_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Third-party headers are outside: CMake passes those of imported targets with -isystem.
function(wafer_warnings target)
  # Designated initialisers leave the other fields at their defaults on purpose.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                         -Wno-sign-conversion -Wno-missing-field-initializers
                         ${WAFER_FALSE_ALARMS} -Werror)
endfunction()

set(WAFER_FALSE_ALARMS)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # "text" + std::string (GCC bug 105651); moves of std::variant; vectors from initializer lists
  set(WAFER_FALSE_ALARMS -Wno-restrict -Wno-maybe-uninitialized -Wno-free-nonheap-object)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(WAFER_FALSE_ALARMS -Wno-deprecated-declarations)  # std::stable_sort of libstdc++ 12
endif()

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
if(WAFER_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
endif()
if(WAFER_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
include(WaferPython)
