# `cpack` makes a Debian package of what `cmake --install --component tool` installs, with the dependencies that dpkg-shlibdeps finds.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME conebench)
set(CPACK_PACKAGE_CONTACT "The Conebench authors")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};conebench;tool;/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(MuJoCo_FOUND AND MuJoCo_PRIVATE)
  # The package has this library itself; dpkg-shlibdeps only has to find it.
  get_filename_component(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${MuJoCo_LIBRARY} DIRECTORY)
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git, git-lfs, gnuplot-nox, libosmesa6, libsiconos-numerics7, coinor-libipopt1v5")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Runs solvers of rigid and deformable frictional contact on FCLIB's files, built-in
scenes and simulations, judges every answer independently of the solver, and
reports which solver, with which options, is right and fast.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(CONEBENCH_NATIVE)
  # For this machine alone; so that nobody takes it for the package of a release.
  set(CPACK_DEBIAN_FILE_NAME "conebench_${PROJECT_VERSION}_native.deb")
endif()
include(CPack)
