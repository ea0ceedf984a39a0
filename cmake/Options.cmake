# Compiler options for Kith's own code, and the libraries every build needs.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc>=2.4)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(KITH_CCACHE ccache)
if(KITH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache refuses files with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${KITH_CCACHE})
endif()

add_library(kith_options INTERFACE)
target_compile_features(kith_options INTERFACE cxx_std_20)
target_link_libraries(kith_options INTERFACE Threads::Threads)
if(KITH_DEVELOPER)
  target_compile_options(kith_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Werror)
  # Where files are compiled at once, names of other files would be shadowed, and GCC takes the files for headers, whose
  # unnamed namespaces differ from file to file.
  set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
  target_compile_options(kith_options INTERFACE $<$<NOT:${together}>:-Wshadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kith_options INTERFACE $<${together}:-Wno-subobject-linkage>)
    # Collecting garbage takes an eighth of the time to compile a test.
    target_compile_options(kith_options INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(kith_options INTERFACE -Wno-restrict)  # a known false alarm of GCC 12 in std::string operator+
  endif()
endif()

# The sanitizer of this build: empty, "address,undefined" or "thread".
set(KITH_SANITIZE "" CACHE STRING "Sanitizers to build with")
if(KITH_SANITIZE)
  add_compile_options(-fsanitize=${KITH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KITH_SANITIZE})
endif()
option(KITH_FUZZ "Build the fuzzers (Clang)" OFF)
