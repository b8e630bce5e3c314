# Compile flags shared by all targets. Public, because Eigen's alignment depends on -march and must agree between
# the library and its users.
add_library(conebench_flags INTERFACE)
add_library(conebench::flags ALIAS conebench_flags)
set_target_properties(conebench_flags PROPERTIES EXPORT_NAME flags)
target_compile_features(conebench_flags INTERFACE cxx_std_20)
if(CONEBENCH_NATIVE)
  target_compile_options(conebench_flags INTERFACE -march=native)
endif()

add_library(conebench_warnings INTERFACE)
target_compile_options(conebench_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                       $<$<BOOL:${CONEBENCH_WARNINGS_AS_ERRORS}>:-Werror>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms: from GCC's own AVX-512 headers (GCC bug 105593) and Eigen's small matrices with them, and from
  # std::string's operator+ (GCC bug 105651). Other compilers still look.
  target_compile_options(conebench_warnings INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized -Wno-array-bounds
                         -Wno-stringop-overread -Wno-restrict)
endif()

if(CONEBENCH_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(CONEBENCH_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# conebench_library(<name> [UNITY] SOURCES … PUBLIC <targets> PRIVATE <targets>): the library conebench_<name> with the
# alias conebench::<name>. PUBLIC links show in its headers, PRIVATE ones do not. UNITY: four files a compilation, which
# share the headers and so take half of the time; not where how code is inlined decides on a number's last bit.
function(conebench_library name)
  cmake_parse_arguments(ARG "UNITY" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(conebench_${name} STATIC ${ARG_SOURCES})
  add_library(conebench::${name} ALIAS conebench_${name})
  set_target_properties(conebench_${name} PROPERTIES EXPORT_NAME ${name} UNITY_BUILD ${ARG_UNITY} UNITY_BUILD_BATCH_SIZE 4)
  target_include_directories(conebench_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/conebench>)
  target_link_libraries(conebench_${name} PUBLIC conebench::flags ${ARG_PUBLIC}
                        PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:conebench_warnings>)
endfunction()

# conebench_test(<name> SOURCES … LINK <targets> [FILTER <pattern>]): a GoogleTest executable whose cases, those that match
# the pattern where there is one, show up one by one in CTest.
function(conebench_test name)
  cmake_parse_arguments(ARG "" "FILTER" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} conebench::scenes conebench_warnings GTest::gtest GTest::gmock
                        GTest::gtest_main)
  # The tests' own code need not be fast, and compiles in half the time.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  # Most of the time goes into headers of GoogleTest, Eigen and the standard library, which four files then share.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  # The build folder has tests/support/paths.hpp.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  if(ARG_FILTER)
    set(filter TEST_FILTER ${ARG_FILTER} TEST_PREFIX ${name}.)
  endif()
  gtest_discover_tests(${name} ${filter} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES TIMEOUT 300)
endfunction()
