#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "papers/results.hpp"
#include "papers/verdicts.hpp"

namespace conebench::cli {

/// An entry's tables and checks for a terminal.
std::string result_text(const papers::EntryResult& result);

/// The verdicts of earlier runs into this folder; empty: the record is missing or can't be read.
papers::VerdictRecord verdicts_in(const std::filesystem::path& out);

/// All files of the results, with figures drawn where gnuplot is installed, and the verdicts added to those of earlier
/// runs. The value says why there are no pictures; nullopt: there are. Errors: as write_files.
Result<std::optional<std::string>> write_results(const std::filesystem::path& out,
                                                 const std::vector<papers::EntryResult>& results,
                                                 const papers::VerdictRecord& verdicts);

}  // namespace conebench::cli
