#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runners/store/records.hpp"

/// The command that repeats a cell, in three parts that the page joins with blanks, every word quoted for a POSIX
/// shell. What is at its default is left out, and nothing is left behind.
namespace conebench::reports {

/// "conebench solve FILE" or "conebench solve 'SCENE options'", of a sample with its step; empty without a source.
/// `data_folder`: where a relative file lies.
std::string problem_words(const ProblemRecord& problem, const std::string& data_folder = {});
/// A simulation that failed: its words are the whole command, which shows it fail again.
bool fails_before_a_solve(const ProblemRecord& problem);
std::string setting_words(const SettingRecord& setting);  ///< "--solver ID --set key=value …"
std::string request_words(const CellRecord& cell);        ///< tolerance, criterion, verdict, start and limits

/// All three; empty where the problem has no source.
std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell,
                           const std::string& data_folder = {});

/// By run: the folder that its relative files were found in; --data or CONEBENCH_DATA, else the suite's own.
std::map<std::int64_t, std::string> data_folders(const StoreContents& contents);

}  // namespace conebench::reports
