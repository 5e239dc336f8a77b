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
endfunction()
