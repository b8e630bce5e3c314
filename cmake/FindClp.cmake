# COIN-OR CLP's C interface (Debian: coinor-libclp-dev).
#   Clp_FOUND, Clp_INCLUDE_DIR, Clp_LIBRARIES
find_path(Clp_INCLUDE_DIR Clp_C_Interface.h PATH_SUFFIXES coin coin-or)
find_library(Clp_LIBRARY Clp)
find_library(Clp_CoinUtils_LIBRARY CoinUtils)
mark_as_advanced(Clp_INCLUDE_DIR Clp_LIBRARY Clp_CoinUtils_LIBRARY)
set(Clp_LIBRARIES ${Clp_LIBRARY} ${Clp_CoinUtils_LIBRARY})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp REQUIRED_VARS Clp_LIBRARY Clp_CoinUtils_LIBRARY Clp_INCLUDE_DIR)
