# ullage_test(NAME SOURCES file... USES room... LINKS library...)
# A GoogleTest program `test_NAME`; ctest runs each of its tests on its own. RapidCheck is there for properties.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

# The tests of the virtual device, whose threads ThreadSanitizer watches.
add_custom_target(device_tests)

function(ullage_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  target_link_libraries(test_${name} PRIVATE ullage_options)
  foreach(room ${TEST_USES})
    target_link_libraries(test_${name} PRIVATE ullage_${room})
  endforeach()
  target_link_libraries(test_${name} PRIVATE ${TEST_LINKS} GTest::gtest GTest::gtest_main rapidcheck)
  target_compile_options(test_${name} PRIVATE -Wno-conversion -Wno-sign-conversion -Wno-sign-compare)
  target_compile_options(test_${name} PRIVATE -O0)  # compiling a test costs more than running it once
  if(name MATCHES "^vgpu")
    add_dependencies(device_tests test_${name})
  endif()
  ullage_unity(test_${name})
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60)
endfunction()
