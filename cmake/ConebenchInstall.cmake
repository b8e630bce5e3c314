include(CMakePackageConfigHelpers)
# The public C++ interface (docs/architecture.md). They include each other, Eigen and the standard library alone.
set(public_headers
  base/options.hpp
  base/result.hpp
  problems/block_sparse_matrix.hpp
  problems/blocks.hpp
  problems/cone_product.hpp
  problems/cones/contact_vector.hpp
  problems/cones/friction_cone.hpp
  problems/cones/interval.hpp
  problems/contact_problem.hpp
  problems/delassus_operator.hpp
  problems/diagonal_blocks.hpp
  problems/types.hpp
  scenes/scene_table.hpp
  fclib_loader/fclib_file.hpp
  metrics/residuals.hpp
  solvers/batch/batch.hpp
  solvers/many_solver.hpp
  solvers/monitor.hpp
  solvers/progress.hpp
  solvers/registry.hpp
  solvers/solver.hpp)
set(libraries "")
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conebench/${folder})
  string(REGEX REPLACE "/.*" "" folder ${folder})
  list(APPEND libraries conebench_${folder})
endforeach()
list(REMOVE_DUPLICATES libraries)
list(APPEND libraries conebench_batch)
install(TARGETS conebench_flags conebench_plugin_interface ${libraries} EXPORT conebenchTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The component `tool` is what a Debian package has; the rest is for who builds against Conebench.
install(TARGETS conebench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/conebench RENAME copyright COMPONENT tool)
if(MuJoCo_FOUND AND MuJoCo_PRIVATE)
  # In a folder of its own, where no other program's loader looks, by the name that the executable asks for.
  get_filename_component(mujoco_file ${MuJoCo_LIBRARY} REALPATH)
  foreach(component tool python)
    install(FILES ${mujoco_file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/conebench COMPONENT ${component})
    install(FILES ${MuJoCo_LICENSES} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/conebench/mujoco COMPONENT ${component})
  endforeach()
  file(RELATIVE_PATH from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/conebench)
  set_target_properties(conebench PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin}")
  if(TARGET conebench_python_core)
    file(RELATIVE_PATH from_package ${CMAKE_INSTALL_PREFIX}/${CONEBENCH_PYTHON_DIR}/conebench
         ${CMAKE_INSTALL_FULL_LIBDIR}/conebench)
    # Below a prefix, or in a wheel.
    set_target_properties(conebench_python_core PROPERTIES
                          INSTALL_RPATH "$ORIGIN/${from_package};$ORIGIN/${CMAKE_INSTALL_LIBDIR}/conebench")
  endif()
endif()
# The component `wheel` is the compiled part of a wheel (pyproject.toml): the package's folder is the executable's prefix.
if(TARGET conebench_python_core)
  install(TARGETS conebench_python_core LIBRARY DESTINATION conebench COMPONENT wheel EXCLUDE_FROM_ALL)
  install(TARGETS conebench RUNTIME DESTINATION conebench/${CMAKE_INSTALL_BINDIR} COMPONENT wheel EXCLUDE_FROM_ALL)
  install(DIRECTORY include/conebench DESTINATION conebench/include COMPONENT wheel EXCLUDE_FROM_ALL)
  install(DIRECTORY suites DESTINATION conebench/share COMPONENT wheel EXCLUDE_FROM_ALL)
  if(MuJoCo_FOUND AND MuJoCo_PRIVATE)
    install(FILES ${mujoco_file} DESTINATION conebench/${CMAKE_INSTALL_LIBDIR}/conebench
            COMPONENT wheel EXCLUDE_FROM_ALL)
    install(FILES ${MuJoCo_LICENSES} DESTINATION conebench/share/licenses/mujoco COMPONENT wheel EXCLUDE_FROM_ALL)
  endif()
endif()
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
