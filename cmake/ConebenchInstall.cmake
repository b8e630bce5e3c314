include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY CONEBENCH_LIBRARIES)
install(TARGETS conebench_settings conebench_plugin_interface ${libraries} EXPORT conebenchTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The component `tool` is what a Debian package has; the rest is for who builds against Conebench.
install(TARGETS conebench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/conebench RENAME copyright COMPONENT tool)
foreach(folder base problems scenes fclib_loader metrics solvers simulation store runners reports papers)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conebench FILES_MATCHING PATTERN "*.hpp")
endforeach()
# Completion and manual page come from the command line's own help.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
  file(MAKE_DIRECTORY \"\${share}/bash-completion/completions\" \"\${share}/man/man1\")
  execute_process(COMMAND \"$<TARGET_FILE:conebench>\" completion bash
                  OUTPUT_FILE \"\${share}/bash-completion/completions/conebench\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/man_page.sh\" \"$<TARGET_FILE:conebench>\"
                  OUTPUT_FILE \"\${share}/man/man1/conebench.1\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT tool)
# Beside the C++ headers of the tree, under the name by which plug-ins include it.
install(DIRECTORY include/conebench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY suites DESTINATION ${CMAKE_INSTALL_DATADIR}/conebench COMPONENT tool)
install(EXPORT conebenchTargets NAMESPACE conebench:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
configure_package_config_file(cmake/conebenchConfig.cmake.in ${PROJECT_BINARY_DIR}/conebenchConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/conebenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/conebenchConfig.cmake ${PROJECT_BINARY_DIR}/conebenchConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
