# The loader's fuzz target and the program that makes its corpus; scripts/fuzz.sh runs both.
add_library(fclib_test_files STATIC
  ${CMAKE_CURRENT_LIST_DIR}/file_maker.cpp
  ${CMAKE_CURRENT_LIST_DIR}/malformed_content.cpp
  ${CMAKE_CURRENT_LIST_DIR}/malformed_storage.cpp)
target_include_directories(fclib_test_files PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(fclib_test_files PUBLIC conebench::flags HDF5::HDF5 PRIVATE ZLIB::ZLIB)

add_executable(fuzz_fclib ${CMAKE_CURRENT_LIST_DIR}/fuzz_fclib.cpp)
target_link_libraries(fuzz_fclib PRIVATE conebench::fclib_loader fclib_test_files)
target_link_options(fuzz_fclib PRIVATE -fsanitize=fuzzer)

add_executable(make_corpus ${CMAKE_CURRENT_LIST_DIR}/make_corpus.cpp)
target_link_libraries(make_corpus PRIVATE fclib_test_files)
