# The fuzz targets of suites and filters; scripts/fuzz.sh runs them.
foreach(target suite filter)
  add_executable(fuzz_${target} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${target}.cpp)
  target_link_libraries(fuzz_${target} PRIVATE conebench::plan conebench::simulation)
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
endforeach()
