# Gives an ns-3 module's CMakeLists.txt what an ns-3 tree would: the ${libcore} names and
# build_lib() / build_lib_example(), over an installed ns-3 (Debian's libns3-dev 3.37).

find_package(ns3 CONFIG REQUIRED)

# The installed targets name libraries and include folders that libns3-dev does not depend on
# (libgsl, libsqlite3, libxml2, Python): keep only what belongs to ns-3 itself.
get_property(_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(_target IN LISTS _imported)
  if(_target MATCHES "^ns3::(lib)?(.+)$")
    set(lib${CMAKE_MATCH_2} ${_target})
    get_target_property(_includes ${_target} INTERFACE_INCLUDE_DIRECTORIES)
    set(_kept "")
    foreach(_folder IN LISTS _includes)
      if(EXISTS "${_folder}/ns3/core-config.h" AND NOT _folder STREQUAL "/usr/include")
        list(APPEND _kept "${_folder}")
      endif()
    endforeach()
    set_property(TARGET ${_target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${_kept}")
    get_target_property(_links ${_target} INTERFACE_LINK_LIBRARIES)
    list(FILTER _links INCLUDE REGEX "^ns3::")
    set_property(TARGET ${_target} PROPERTY INTERFACE_LINK_LIBRARIES "${_links}")
  endif()
endforeach()

set(ECHO_INCLUDE_ROOT ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${ECHO_INCLUDE_ROOT}/ns3)

# build_lib(LIBNAME name SOURCE_FILES .. HEADER_FILES .. LIBRARIES_TO_LINK .. TEST_SOURCES ..):
# the signature of ns-3's own macro, as far as this project uses it.
function(build_lib)
  cmake_parse_arguments(LIB "" "LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES"
                        ${ARGN})
  set(_lib lib${LIB_LIBNAME})
  # ns-3 exports headers flat as ns3/<name>.h; links (not copies) keep one file one file.
  set(_umbrella "#pragma once\n")
  foreach(_header IN LISTS LIB_HEADER_FILES)
    get_filename_component(_name ${_header} NAME)
    file(RELATIVE_PATH _link ${ECHO_INCLUDE_ROOT}/ns3 ${CMAKE_CURRENT_SOURCE_DIR}/${_header})
    file(CREATE_LINK ${_link} ${ECHO_INCLUDE_ROOT}/ns3/${_name} SYMBOLIC)
    string(APPEND _umbrella "#include \"ns3/${_name}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${ECHO_INCLUDE_ROOT}/ns3/${LIB_LIBNAME}-module.h CONTENT "${_umbrella}")
  add_library(${_lib} SHARED ${LIB_SOURCE_FILES})
  set_target_properties(${_lib} PROPERTIES OUTPUT_NAME ns3-${LIB_LIBNAME})
  target_include_directories(${_lib} PUBLIC ${ECHO_INCLUDE_ROOT})
  target_link_libraries(${_lib} PUBLIC ${LIB_LIBRARIES_TO_LINK})
  # Libraries used only through TypeId names must stay linked.
  target_link_options(${_lib} PUBLIC LINKER:--no-as-needed)
  if(LIB_TEST_SOURCES AND ECHO_TESTS)
    add_executable(${LIB_LIBNAME}-test-runner ${PROJECT_SOURCE_DIR}/tests/ns3-test-runner.cc
                                              ${LIB_TEST_SOURCES})
    target_link_libraries(${LIB_LIBNAME}-test-runner PRIVATE ${_lib})
    add_test(NAME ns3-test-suites COMMAND ${LIB_LIBNAME}-test-runner)
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/examples/CMakeLists.txt)
    set(lib${LIB_LIBNAME} ${_lib})
    add_subdirectory(examples)
  endif()
endfunction()

function(build_lib_example)
  cmake_parse_arguments(EXAMPLE "" "NAME" "SOURCE_FILES;LIBRARIES_TO_LINK" ${ARGN})
  add_executable(${EXAMPLE_NAME} ${EXAMPLE_SOURCE_FILES})
  target_link_libraries(${EXAMPLE_NAME} PRIVATE ${EXAMPLE_LIBRARIES_TO_LINK})
  if(ECHO_TESTS)
    add_test(NAME example-${EXAMPLE_NAME} COMMAND ${EXAMPLE_NAME})
  endif()
endfunction()
