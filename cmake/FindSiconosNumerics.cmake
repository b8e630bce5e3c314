# Siconos' numerics library: 4.4 and 4.5 (Debian: libsiconos-numerics-dev) or later; -DSiconosNumerics_ROOT=PREFIX names
# the prefix of another installation. Its own CMake package announces version 4.5.0 for 4.4.0 and for what came after
# 4.5, wants the whole platform, and makes consumers link all that it links; headers and a file to load are all we need.
#   SiconosNumerics_FOUND, SiconosNumerics_INCLUDE_DIRS, SiconosNumerics_SONAME_PATH
#   SiconosNumerics_REGISTRY   whether it has the headers of after 4.5 (solvers/siconos/library.hpp)
#   SiconosNumerics_VERSION    as given by -DSiconosNumerics_VERSION; else "after 4.5" by its headers, or empty
find_path(SiconosNumerics_CONFIG_DIR SiconosConfig.h PATH_SUFFIXES siconos)
find_path(SiconosNumerics_HEADER_DIR fc3d_Solvers.h PATH_SUFFIXES siconos/numerics)
find_path(SiconosNumerics_CXSPARSE_DIR cs.h PATH_SUFFIXES suitesparse)
find_library(SiconosNumerics_LIBRARY siconos_numerics)
mark_as_advanced(SiconosNumerics_CONFIG_DIR SiconosNumerics_HEADER_DIR SiconosNumerics_CXSPARSE_DIR
                 SiconosNumerics_LIBRARY)
if(SiconosNumerics_LIBRARY)
  # The headers' structures belong to this major version: libsiconos_numerics.so.7.0.0 is loaded as …so.7.
  get_filename_component(real_library ${SiconosNumerics_LIBRARY} REALPATH)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*$" "\\1" SiconosNumerics_SONAME_PATH ${real_library})
endif()
if(EXISTS "${SiconosNumerics_HEADER_DIR}/FrictionContact_options.h")
  set(SiconosNumerics_REGISTRY TRUE)
  if(NOT SiconosNumerics_VERSION)
    set(SiconosNumerics_VERSION "after 4.5")
  endif()
else()
  set(SiconosNumerics_REGISTRY FALSE)
endif()
set(SiconosNumerics_INCLUDE_DIRS ${SiconosNumerics_HEADER_DIR} ${SiconosNumerics_CONFIG_DIR}
    ${SiconosNumerics_CXSPARSE_DIR})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SiconosNumerics REQUIRED_VARS SiconosNumerics_LIBRARY SiconosNumerics_CONFIG_DIR
                                  SiconosNumerics_HEADER_DIR SiconosNumerics_CXSPARSE_DIR)
