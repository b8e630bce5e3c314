# METIS (Debian: libmetis-dev): nested dissection of sparse matrices.
#   METIS_FOUND, METIS_INCLUDE_DIR, METIS_LIBRARY
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR)
