# MuJoCo 3.3.6 or later, the engine behind the simulated scenes: kinematics, mass matrices, collision detection. First of
#   1. MuJoCo_ROOT (variable or environment): a prefix with include/ and lib/, or a wheel's mujoco/
#   2. build/mujoco, of scripts/fetch_mujoco.sh
#   3. the mujoco package of Python_EXECUTABLE, where that was given
#   4. the system's
# An older one is named and left. Nothing is cached: a MuJoCo that is there at the next configuration is found.
#   MuJoCo_FOUND, MuJoCo_VERSION ("4.0.1"), MuJoCo_INCLUDE_DIR, MuJoCo_LIBRARY, target MuJoCo::MuJoCo
#   MuJoCo_PRIVATE: the loader does not find the library by itself, so installed trees carry it
#   MuJoCo_LICENSES: files that go where the library goes
set(mujoco_min_version 3.3.6)

# conebench_mujoco_version(RESULT INCLUDE_DIR): of the header: 335 is 3.3.5, 4000001 is 4.0.1.
function(conebench_mujoco_version result include_dir)
  set(number 0)
  file(STRINGS ${include_dir}/mujoco/mujoco.h line REGEX "#define +mjVERSION_HEADER +[0-9]+")
  if(line MATCHES "mjVERSION_HEADER +([0-9]+)")
    set(number ${CMAKE_MATCH_1})
  endif()
  set(base 10)
  if(number GREATER 999)
    set(base 1000)
  endif()
  math(EXPR major "${number} / (${base} * ${base})")
  math(EXPR minor "${number} / ${base} % ${base}")
  math(EXPR patch "${number} % ${base}")
  set(${result} ${major}.${minor}.${patch} PARENT_SCOPE)
endfunction()

# conebench_try_mujoco([PREFIX]): sets the results where the prefix, or the system without one, has one that is new enough.
macro(conebench_try_mujoco)
  if(NOT MuJoCo_LIBRARY)
    unset(mujoco_header_dir)
    unset(mujoco_library)
    set(mujoco_places "")
    if(NOT "${ARGV0}" STREQUAL "")
      set(mujoco_places PATHS ${ARGV0} NO_DEFAULT_PATH)
    endif()
    find_path(mujoco_header_dir mujoco/mujoco.h ${mujoco_places} PATH_SUFFIXES include NO_CACHE)
    if(mujoco_header_dir)
      conebench_mujoco_version(MuJoCo_VERSION ${mujoco_header_dir})
      # A wheel's library has its full version only.
      find_library(mujoco_library NAMES libmujoco.so.${MuJoCo_VERSION} mujoco ${mujoco_places} PATH_SUFFIXES lib
                   NO_CACHE)
      if(MuJoCo_VERSION VERSION_LESS mujoco_min_version)
        message(STATUS "MuJoCo ${MuJoCo_VERSION} in ${mujoco_header_dir} is not used: older than ${mujoco_min_version}")
      elseif(mujoco_library)
        get_filename_component(MuJoCo_INCLUDE_DIR ${mujoco_header_dir} ABSOLUTE)
        get_filename_component(MuJoCo_LIBRARY ${mujoco_library} ABSOLUTE)
      endif()
    endif()
  endif()
endmacro()

unset(MuJoCo_INCLUDE_DIR CACHE)
unset(MuJoCo_LIBRARY CACHE)
unset(MuJoCo_INCLUDE_DIR)
unset(MuJoCo_LIBRARY)
unset(MuJoCo_VERSION)
foreach(prefix "${MuJoCo_ROOT}" "$ENV{MuJoCo_ROOT}")
  if(prefix AND NOT MuJoCo_LIBRARY)
    conebench_try_mujoco(${prefix})
    if(NOT MuJoCo_LIBRARY)
      message(STATUS "MuJoCo_ROOT has no MuJoCo ${mujoco_min_version} or later: ${prefix}")
    endif()
  endif()
endforeach()
conebench_try_mujoco(${PROJECT_BINARY_DIR}/mujoco)
conebench_try_mujoco(${PROJECT_SOURCE_DIR}/build/mujoco)
if(Python_EXECUTABLE AND NOT MuJoCo_LIBRARY)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import importlib.util as u; print(u.find_spec('mujoco').submodule_search_locations[0])"
    OUTPUT_VARIABLE mujoco_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(mujoco_package)
    conebench_try_mujoco(${mujoco_package})
  endif()
endif()
conebench_try_mujoco()
if(NOT MuJoCo_LIBRARY)
  unset(MuJoCo_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR VERSION_VAR MuJoCo_VERSION)
if(MuJoCo_FOUND)
  get_filename_component(mujoco_folder ${MuJoCo_LIBRARY} DIRECTORY)
  set(MuJoCo_PRIVATE ON)
  if(mujoco_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(MuJoCo_PRIVATE OFF)
  endif()
  if(mujoco_folder MATCHES "/lib$")  # MuJoCo's own archive
    file(GLOB MuJoCo_LICENSES ${mujoco_folder}/../LICENSE* ${mujoco_folder}/../THIRD_PARTY_NOTICES*)
  else()                             # build/mujoco, or a wheel
    file(GLOB MuJoCo_LICENSES ${mujoco_folder}/licenses/* ${mujoco_folder}/../mujoco-*.dist-info/LICENSE*
         ${mujoco_folder}/../mujoco-*.dist-info/licenses/LICENSE*
         ${mujoco_folder}/../mujoco_core-*.dist-info/licenses/LICENSE*)
  endif()
  if(MuJoCo_FIND_QUIETLY)
    message(STATUS "MuJoCo ${MuJoCo_VERSION}: ${MuJoCo_LIBRARY}")
  endif()
  if(NOT TARGET MuJoCo::MuJoCo)
    add_library(MuJoCo::MuJoCo SHARED IMPORTED)
    set_target_properties(MuJoCo::MuJoCo PROPERTIES IMPORTED_LOCATION ${MuJoCo_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${MuJoCo_INCLUDE_DIR})
  endif()
endif()
