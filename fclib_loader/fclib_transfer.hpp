#pragma once

#include <string>

#include "fclib_loader/fclib_file.hpp"

namespace conebench {

/// A file's content as bytes, to pass from the process that reads it to the one that asked. Not a file format: both
/// ends are the same program.
std::string pack(const FclibContent& content);

/// Throws hdf5::Failure where the bytes are not what `pack` makes: sizes and indices are checked, as the other process
/// may have been led astray by the file.
FclibContent unpack(const std::string& bytes);

}  // namespace conebench
