# conebench_peer_build(RESULT LIBRARY [VERSION]): "VERSION|BUILD" of a peer's library, for configurations and reports. A library
# of a package was compiled with dpkg's flags, -O2 for any processor of its architecture. Of another one only VERSION,
# from its headers, is known.
find_program(CONEBENCH_DPKG_QUERY dpkg-query)
mark_as_advanced(CONEBENCH_DPKG_QUERY)
function(conebench_peer_build result library)
  set(${result} "${ARGV2}|" PARENT_SCOPE)
  if(NOT CONEBENCH_DPKG_QUERY)
    return()
  endif()
  get_filename_component(file "${library}" REALPATH)
  set(owner "")
  foreach(candidate ${file} /usr${file})  # /lib is a link to /usr/lib, and packages know one of the two
    if(NOT owner)
      execute_process(COMMAND ${CONEBENCH_DPKG_QUERY} -S ${candidate} OUTPUT_VARIABLE owner ERROR_QUIET)
    endif()
  endforeach()
  if(NOT owner MATCHES "^([^,: ]+(:[^,: ]+)?): ")
    return()
  endif()
  execute_process(COMMAND ${CONEBENCH_DPKG_QUERY} -W -f "\${Version}|\${Architecture}" ${CMAKE_MATCH_1}
                  OUTPUT_VARIABLE package ERROR_QUIET)
  set(distribution Debian)
  if(EXISTS /etc/os-release)
    file(STRINGS /etc/os-release name REGEX "^NAME=")
    string(REGEX REPLACE "^NAME=\"?([A-Za-z]+).*$" "\\1" distribution "${name}")
  endif()
  # [EPOCH:]VERSION[+dfsg]-REVISION
  if(package MATCHES "^(([0-9]+:)?([0-9][0-9.]*)[^|]*)[|](.+)$")
    set(${result} "${CMAKE_MATCH_3}|${distribution}'s package ${CMAKE_MATCH_1}, -O2 for any ${CMAKE_MATCH_4}" PARENT_SCOPE)
  endif()
endfunction()
