#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/records.hpp"

/// The command that repeats a cell, in three parts that the page joins with blanks. Every argument is quoted for a
/// POSIX shell. Defaults are left out. The command leaves no files.
namespace conebench::reports {

/// Where the cells of a store found their files and foreign solvers.
struct RepeatLocations {
  std::map<std::int64_t, std::string> folders;  ///< by run, of its relative files: the data folder or the suite's own
  std::map<std::string, std::string> code;      ///< by solver: "--plugin FILE" or "--program 'PROGRAM ARGUMENT…'"
};
RepeatLocations repeat_locations(const StoreContents& contents);

/// "conebench solve FILE" or "conebench solve 'SCENE options'", for a sample with its step; empty: the problem has no
/// source. `data_folder`: the folder of relative files.
std::string problem_arguments(const ProblemRecord& problem, const std::string& data_folder = {});
/// A failed simulation: problem_arguments() is then the whole command, which repeats the failure.
bool fails_before_a_solve(const ProblemRecord& problem);
/// "--solver ID --set key=value …", and the location of a foreign solver; empty: only its answers are known.
std::string solver_arguments(const ConfigurationRecord& configuration, const RepeatLocations& locations = {});
std::string request_arguments(const CellRecord& cell);  ///< tolerance, stop_by, verdict, start and limits

/// All three; empty: the problem has no source, or the solver can't be run.
std::string repeat_command(const ProblemRecord& problem, const ConfigurationRecord& configuration,
                           const CellRecord& cell, const RepeatLocations& locations = {});

}  // namespace conebench::reports
