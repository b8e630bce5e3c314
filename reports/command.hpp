#pragma once

#include <string>

#include "runners/store/records.hpp"

/// The command that repeats a cell, in three parts that the page joins with blanks, every word quoted for a POSIX
/// shell.
namespace conebench::reports {

/// "conebench solve FILE"; for a scene the file is that of "conebench generate"; empty without a source.
std::string problem_words(const ProblemRecord& problem);
std::string setting_words(const SettingRecord& setting);  ///< "--solver ID --set key=value …", all effective options
std::string request_words(const CellRecord& cell);        ///< tolerance, criterion, verdict, start and limits

/// All three; empty where the problem has no source.
std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell);

}  // namespace conebench::reports
