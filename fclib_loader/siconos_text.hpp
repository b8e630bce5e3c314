#pragma once

#include <filesystem>

#include "fclib_loader/fclib_file.hpp"

namespace conebench {

/// Whether the file is text that begins with a number, as Siconos' .dat files; no HDF5 file, and no other text.
bool is_siconos_text(const std::filesystem::path& file);

/// Reads a problem of frictional contact (local or global, with or without rolling), of plasticity, of relays, or a
/// generalised mechanical problem from Siconos' text (docs/fclib_format.md). Which of them it is follows from the
/// numbers. Errors (bad_input; unsupported where a law is none of ours): one line with the file, the line and the
/// reason.
Result<FclibContent> read_siconos_text(const std::filesystem::path& file);

}  // namespace conebench
