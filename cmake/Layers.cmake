if(NOT KITH_UNITY MATCHES "^(ON|OFF|cold)$")
  message(FATAL_ERROR "kith: KITH_UNITY is '${KITH_UNITY}'; expected ON, OFF or cold")
endif()

# The layers on the path of a task. Each of their files is compiled by itself, and those of `native` always as one, so that
# their code does not depend on the number and the order of files. Of all other layers several files are compiled at once,
# in half of the time.
set(kith_hot_layers api base events native partition policy queue task)

# The most files that are compiled as one. Headers that they share are read once; a layer has at most a few tens of files.
set(kith_files_together 32)

# kith_layer(NAME SOURCES ... [LIBRARIES ...]): one object library for each layer of the architecture, known as
# kith::NAME, and built where something is made of it. tests/layering_test.py checks which layers it includes.
function(kith_layer name)
  cmake_parse_arguments(layer "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(kith_${name} OBJECT EXCLUDE_FROM_ALL ${layer_SOURCES})
  add_library(kith::${name} ALIAS kith_${name})
  target_include_directories(kith_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kith_${name} PRIVATE kith_options ${layer_LIBRARIES})
  set_property(TARGET kith_${name} PROPERTY kith_libraries "${layer_LIBRARIES}")
  set(together ${KITH_UNITY})
  if(KITH_UNITY STREQUAL "cold")
    set(together ON)
    if(name IN_LIST kith_hot_layers)
      set(together OFF)
    endif()
  endif()
  set_target_properties(kith_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${together}
                        UNITY_BUILD_BATCH_SIZE ${kith_files_together})
endfunction()

# kith_use_layers(TARGET LAYERS...): puts their objects into the target.
function(kith_use_layers target)
  foreach(layer IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:kith_${layer}>)
    get_target_property(libraries kith_${layer} kith_libraries)
    if(libraries)
      target_link_libraries(${target} PRIVATE ${libraries})
    endif()
  endforeach()
endfunction()

# kith_library(NAME LAYERS ...): the library that users link, made of the layers' objects.
function(kith_library name)
  cmake_parse_arguments(library "" "" "LAYERS" ${ARGN})
  add_library(${name})
  add_library(${name}::${name} ALIAS ${name})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  kith_use_layers(${name} ${library_LAYERS})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:kith_options> PUBLIC Threads::Threads)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endfunction()

# kith_compile_together(TARGET...): several files of a target are compiled at once. Most of the time goes into the headers
# of libraries (CLI11, nlohmann/json, fmt), which are then read and instantiated once for all of them.
function(kith_compile_together)
  if(NOT KITH_UNITY)
    return()
  endif()
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${kith_files_together})
  endforeach()
endfunction()
