# What every target of the project shares: warnings, sanitizers, and how a room is declared.

add_library(ullage_options INTERFACE)
target_compile_options(ullage_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# g++ 12 sees overlapping copies where std::string has none.
target_compile_options(ullage_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_include_directories(ullage_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
if(ULLAGE_SANITIZE)
  add_compile_options(-fsanitize=${ULLAGE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ULLAGE_SANITIZE})
endif()

# fmt 9 is compiled once; what another version has to instantiate is its own affair, so its headers hold everything.
find_package(fmt REQUIRED)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(ullage_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt_library.cpp)
  target_link_libraries(ullage_options INTERFACE ullage_fmt)
else()
  target_compile_definitions(ullage_options INTERFACE FMT_HEADER_ONLY=1)
endif()

# ullage_room(NAME SOURCES file... USES room... LINKS library...)
# A static library `ullage_NAME`; USES names the rooms below it (checked against layers.txt by scripts/check_layers).
function(ullage_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINKS" ${ARGN})
  if(ROOM_SOURCES)
    add_library(ullage_${name} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(ullage_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(ullage_${name} ${scope} ullage_options)
  foreach(room ${ROOM_USES})
    target_link_libraries(ullage_${name} ${scope} ullage_${room})
  endforeach()
  target_link_libraries(ullage_${name} ${scope} ${ROOM_LINKS})
  if(ROOM_SOURCES)
    ullage_unity(ullage_${name})
  endif()
endfunction()

# With ULLAGE_UNITY, the sources of a target are compiled several at once: headers are read and templates instantiated once for
# all of them. Right for what is built whole and seldom; a change of one source compiles all that share its group.
set(ULLAGE_UNITY 0 CACHE STRING "how many sources may be compiled as one; 0: none")
if(ULLAGE_UNITY)
  target_compile_options(ullage_options INTERFACE -Wno-shadow)  # a local name may be that of another source's helper
endif()
function(ullage_unity target)
  if(NOT ULLAGE_UNITY)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/unity_groups.py --size ${ULLAGE_UNITY}
                          --include ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR} -- ${sources}
                  OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9]+) (.*)$" line ${line})
    get_filename_component(source ${CMAKE_MATCH_2} ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})  # a name may be new in it
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP "${target}_${CMAKE_MATCH_1}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
