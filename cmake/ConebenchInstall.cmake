include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY CONEBENCH_LIBRARIES)
install(TARGETS conebench_settings ${libraries} EXPORT conebenchTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS conebench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(folder base problems scenes fclib_loader metrics solvers runners reports)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conebench FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(DIRECTORY suites DESTINATION ${CMAKE_INSTALL_DATADIR}/conebench)
install(EXPORT conebenchTargets NAMESPACE conebench:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
configure_package_config_file(cmake/conebenchConfig.cmake.in ${PROJECT_BINARY_DIR}/conebenchConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/conebenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/conebenchConfig.cmake ${PROJECT_BINARY_DIR}/conebenchConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conebench)
