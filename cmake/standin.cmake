# How a stand-in library is built: stubs generated from a committed table, overridden by hand-written functions.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(ULLAGE_STUBS ${CMAKE_SOURCE_DIR}/virtual_gpu/stubs)

# ullage_standin(NAME cudart SONAME libcudart.so.13 TABLE cuda13/cudart.tsv [NODE libcudart.so.13]
#                [SOURCES file...] [LINKS library...] [EXPORTS name...])
# Makes the target standin_NAME, a shared library called exactly SONAME in lib/ullage/cuda13 of the build folder. Its
# stubs are weak: a function of SOURCES with the same name wins. Only the names of TABLE and EXPORTS are exported, under
# the version NODE (without NODE: unversioned), whatever SOURCES declare. All but `cuda` link to standin_cuda.
function(ullage_standin)
  cmake_parse_arguments(LIB "" "NAME;SONAME;TABLE;NODE" "SOURCES;LINKS;EXPORTS" ${ARGN})
  set(target standin_${LIB_NAME})
  get_filename_component(set_name ${LIB_TABLE} DIRECTORY)
  set(stem ${CMAKE_CURRENT_BINARY_DIR}/${LIB_NAME}_stubs)
  set(table ${ULLAGE_STUBS}/${LIB_TABLE})
  set(command ${Python3_EXECUTABLE} ${ULLAGE_STUBS}/generate.py --library ${LIB_NAME} --table ${table}
              --source ${stem}.c --map ${stem}.map)
  if(LIB_NODE)
    list(APPEND command --node ${LIB_NODE})
  endif()
  if(LIB_EXPORTS)
    list(APPEND command --export ${LIB_EXPORTS})
  endif()
  add_custom_command(OUTPUT ${stem}.c ${stem}.map COMMAND ${command}
                     DEPENDS ${table} ${ULLAGE_STUBS}/generate.py VERBATIM)
  add_library(${target} SHARED ${stem}.c ${ULLAGE_STUBS}/runtime.cpp ${LIB_SOURCES})
  # A generated stub may bear the name of a compiler built-in only by accident; its type is its own.
  set_source_files_properties(${stem}.c PROPERTIES COMPILE_OPTIONS "-w")
  string(REGEX REPLACE "\\.so\\..*$" "" base ${LIB_SONAME})
  string(REGEX REPLACE "^.*(\\.so\\..*)$" "\\1" suffix ${LIB_SONAME})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${base} SUFFIX ${suffix} LINK_DEPENDS ${stem}.map
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/ullage/${set_name}
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON
    # The version script hides everything but the API, so functions of the API need no annotation.
    C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default)
  target_link_options(${target} PRIVATE "-Wl,--version-script=${stem}.map" -Wl,-Bsymbolic-functions)
  if(NOT ULLAGE_SANITIZE)  # a sanitizer's runtime is shared, and clang leaves its symbols to the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined -static-libstdc++ -static-libgcc)
  endif()
  set_property(GLOBAL APPEND PROPERTY ULLAGE_STANDINS ${target})
  target_link_libraries(${target} PRIVATE ullage_options ${LIB_LINKS})
  if(NOT LIB_NAME STREQUAL "cuda")
    target_link_libraries(${target} PRIVATE $<TARGET_NAME_IF_EXISTS:standin_cuda>)
  endif()
endfunction()
