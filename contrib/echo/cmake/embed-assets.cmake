# embed_assets(OUTPUT HEADER FUNCTION FILE...): writes OUTPUT, a C++ file that defines
# std::string_view ns3::echo::FUNCTION(std::string_view name), declared in HEADER, which gives the
# bytes of the FILE of that name. At configure time, so that every kind of build of ns-3 finds it;
# a changed file makes CMake run again.
function(embed_assets OUTPUT HEADER FUNCTION)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  set(_current TRUE)
  foreach(_file IN LISTS ARGN ITEMS ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    if("${_file}" IS_NEWER_THAN "${OUTPUT}")
      set(_current FALSE)
    endif()
  endforeach()
  if(_current)
    return()
  endif()
  set(_arrays "")
  set(_cases "")
  set(_number 0)
  foreach(_file IN LISTS ARGN)
    get_filename_component(_name "${_file}" NAME)
    file(READ "${_file}" _hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," _bytes "${_hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" _bytes "${_bytes}")
    string(APPEND _arrays "const unsigned char ASSET_${_number}[] = {\n${_bytes}0};\n")
    string(APPEND _cases "    if (name == \"${_name}\")\n    {\n        return "
                         "{reinterpret_cast<const char*>(ASSET_${_number}), "
                         "sizeof(ASSET_${_number}) - 1};\n    }\n")
    math(EXPR _number "${_number} + 1")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made by embed-assets.cmake.\n"
       "#include \"${HEADER}\"\n\nnamespace ns3\n{\nnamespace echo\n{\nnamespace\n{\n${_arrays}} // namespace\n\n"
       "std::string_view ${FUNCTION}(std::string_view name)\n{\n${_cases}    return {};\n}\n"
       "} // namespace echo\n} // namespace ns3\n")
endfunction()
