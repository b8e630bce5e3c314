# Installs Conebench into an empty folder, looks at what is there, builds `consumer` and examples/add_a_solver against that
# alone and runs them.
#   cmake -DBUILD_DIR=… -DSOURCE_DIR=… -DWORK_DIR=… -DBUILD_TYPE=… -P consumer_test.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
  message("${output}")
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${WORK_DIR}/prefix/bin/conebench --version)
run(bash -n ${WORK_DIR}/prefix/share/bash-completion/completions/conebench)
foreach(wanted "^\\.TH CONEBENCH 1 " "^\\.SH CONEBENCH NIGHTLY" "Usage: conebench judge ")
  file(STRINGS ${WORK_DIR}/prefix/share/man/man1/conebench.1 found REGEX "${wanted}")
  if(NOT found)
    message(FATAL_ERROR "the manual page has no line ${wanted}")
  endif()
endforeach()

# The headers are those that the documents list.
file(GLOB_RECURSE headers RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/*)
list(TRANSFORM headers REPLACE "^conebench/(.*/)" "\\1")
list(SORT headers)
file(READ ${SOURCE_DIR}/docs/architecture.md documented)
string(REGEX MATCHALL "`[a-z_/]+\\.hp?p?`" documented "${documented}")
list(TRANSFORM documented REPLACE "`" "")
list(SORT documented)
if(NOT "${headers}" STREQUAL "${documented}")
  message(FATAL_ERROR "installed: ${headers}\ndocs/architecture.md: ${documented}")
endif()

foreach(project tests/install/consumer examples/add_a_solver)
  cmake_path(GET project FILENAME name)
  set(build ${WORK_DIR}/build/${name})
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/${project} -B ${build} -G Ninja -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
      -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/${name} ${WORK_DIR}/box-stack.hdf5)
endforeach()
