# The installed tree: library, public headers, documents, a CMake package and a pkg-config file. tools/kith
# adds the tool with its man pages and completion.
include(CMakePackageConfigHelpers)

# Programs look for transports of places in the build folder, then where this configuration installs them.
install(CODE "
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL \"${CMAKE_INSTALL_PREFIX}\")
    message(WARNING \"Kith was configured for ${CMAKE_INSTALL_PREFIX}. Installed elsewhere, programs find the transports \"
            \"of places only while the build folder exists: configure with -DCMAKE_INSTALL_PREFIX=\${CMAKE_INSTALL_PREFIX}\")
  endif()")

install(TARGETS kith EXPORT kith-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
# What policies outside this tree are built with, kith::policy_headers: the contract, the queues, and what
# they are made of.
foreach(folder base events machine memory partition policy queue task)
  install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kith/policy FILES_MATCHING PATTERN "*.hpp")
endforeach()
add_library(kith_policy_headers INTERFACE)
add_library(kith::policy_headers ALIAS kith_policy_headers)
set_target_properties(kith_policy_headers PROPERTIES EXPORT_NAME policy_headers)
target_compile_features(kith_policy_headers INTERFACE cxx_std_20)
target_include_directories(kith_policy_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kith/policy>)
install(TARGETS kith_policy_headers EXPORT kith-targets)
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/kith FILES_MATCHING PATTERN "*.toml")
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The documents link to the descriptions of machines.
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.toml")
# The tools, which are added after this, find a shared library by a path relative to their own.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# A static library leaves it to its users to link hwloc and SQLite.
get_target_property(kith_type kith TYPE)
if(kith_type STREQUAL "STATIC_LIBRARY")
  set(kith_is_static TRUE)
  set(kith_pc_requires "Requires: hwloc sqlite3")
  set(kith_pc_libraries " -lboost_context")
  if(kith_scotch_libraries)
    string(APPEND kith_pc_libraries " -lscotch -lscotcherr")
  endif()
else()
  set(kith_is_static FALSE)
  set(kith_pc_requires "Requires.private: hwloc sqlite3")
endif()

set(kith_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kith)
install(EXPORT kith-targets NAMESPACE kith:: DESTINATION ${kith_cmake_folder})
configure_package_config_file(cmake/kith-config.cmake.in kith-config.cmake INSTALL_DESTINATION ${kith_cmake_folder})
write_basic_package_version_file(kith-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kith-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/kith-config-version.cmake
        DESTINATION ${kith_cmake_folder})

# Relative to the file itself, so that the tree can be installed in, or moved to, any folder.
file(RELATIVE_PATH kith_pc_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
configure_file(cmake/kith.pc.in kith.pc @ONLY)
configure_file(cmake/kith-uninstalled.pc.in kith-uninstalled.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kith.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
