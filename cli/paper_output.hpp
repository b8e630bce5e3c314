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

/// The verdicts of the runs into this folder so far; none where it has none that can be read.
papers::VerdictRecord verdicts_in(const std::filesystem::path& out);

/// All files of the results, figures drawn where gnuplot is installed, and the verdicts beside those of earlier runs.
/// Gives why there are no pictures, where there are none. Errors as write_files.
Result<std::optional<std::string>> write_results(const std::filesystem::path& out,
                                                 const std::vector<papers::EntryResult>& results,
                                                 const papers::VerdictRecord& verdicts);

}  // namespace conebench::cli
