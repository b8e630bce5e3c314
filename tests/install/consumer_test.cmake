# Installs Conebench into an empty folder, builds examples/add_a_solver against that alone and runs it.
#   cmake -DBUILD_DIR=… -DEXAMPLE_DIR=… -DWORK_DIR=… -DBUILD_TYPE=… -P consumer_test.cmake
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
run(${CMAKE_COMMAND} -S ${EXAMPLE_DIR} -B ${WORK_DIR}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/add_a_solver)
