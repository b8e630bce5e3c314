# MuJoCo, the engine behind the simulated scenes (Debian: libmujoco-dev): kinematics, mass matrices, collision detection.
#   MuJoCo_FOUND, MuJoCo_INCLUDE_DIR, MuJoCo_LIBRARY, MuJoCo_VERSION ("222" for 2.2.2)
find_path(MuJoCo_INCLUDE_DIR mujoco/mujoco.h)
find_library(MuJoCo_LIBRARY mujoco)
mark_as_advanced(MuJoCo_INCLUDE_DIR MuJoCo_LIBRARY)
if(MuJoCo_INCLUDE_DIR)
  file(STRINGS ${MuJoCo_INCLUDE_DIR}/mujoco/mujoco.h version_line REGEX "#define +mjVERSION_HEADER +[0-9]+")
  string(REGEX REPLACE ".*mjVERSION_HEADER +([0-9]+).*" "\\1" MuJoCo_VERSION "${version_line}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR
                                  VERSION_VAR MuJoCo_VERSION)
