# Ipopt's C interface (Debian: coinor-libipopt-dev): headers and a file to load.
#   Ipopt_FOUND, Ipopt_INCLUDE_DIR, Ipopt_SONAME_PATH, Ipopt_VERSION
find_path(Ipopt_INCLUDE_DIR IpStdCInterface.h PATH_SUFFIXES coin coin-or)
find_library(Ipopt_LIBRARY ipopt)
mark_as_advanced(Ipopt_INCLUDE_DIR Ipopt_LIBRARY)
if(Ipopt_LIBRARY)
  # The headers belong to this major version: libipopt.so.1.9.9 is loaded as libipopt.so.1.
  get_filename_component(real_library ${Ipopt_LIBRARY} REALPATH)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*$" "\\1" Ipopt_SONAME_PATH ${real_library})
endif()
if(EXISTS ${Ipopt_INCLUDE_DIR}/IpoptConfig.h)
  file(STRINGS ${Ipopt_INCLUDE_DIR}/IpoptConfig.h version REGEX "define IPOPT_VERSION ")
  string(REGEX REPLACE "^.*\"(.*)\".*$" "\\1" Ipopt_VERSION "${version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ipopt REQUIRED_VARS Ipopt_LIBRARY Ipopt_INCLUDE_DIR)
