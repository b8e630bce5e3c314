#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/records.hpp"

/// The command that repeats a cell, in three parts that the page joins with blanks, every word quoted for a POSIX
/// shell. What is at its default is left out, and nothing is left behind.
namespace conebench::reports {

/// Where cells of a store found their files and their solvers.
struct RepeatPlaces {
  std::map<std::int64_t, std::string> folders;  ///< by run, of its relative files: the data folder or the suite's own
  std::map<std::string, std::string> code;      ///< by solver: "--plugin FILE" or "--program 'PROGRAM ARGUMENT…'"
};
RepeatPlaces repeat_places(const StoreContents& contents);

/// "conebench solve FILE" or "conebench solve 'SCENE options'", of a sample with its step; empty without a source.
/// `data_folder`: where a relative file lies.
std::string problem_words(const ProblemRecord& problem, const std::string& data_folder = {});
/// A simulation that failed: its words are the whole command, which shows it fail again.
bool fails_before_a_solve(const ProblemRecord& problem);
/// "--solver ID --set key=value …", and where the solver's code is, where it is not of the build.
std::string setting_words(const SettingRecord& setting, const RepeatPlaces& places = {});
std::string request_words(const CellRecord& cell);  ///< tolerance, criterion, verdict, start and limits

/// All three; empty where the problem has no source.
std::string repeat_command(const ProblemRecord& problem, const SettingRecord& setting, const CellRecord& cell,
                           const RepeatPlaces& places = {});

}  // namespace conebench::reports
