#pragma once

#include <filesystem>
#include <string>

#include "problems/contact_problem.hpp"
#include "problems/result.hpp"

namespace conebench::cli {

/// A problem that a command was given, and the file it came from (empty for a scene).
struct GivenProblem {
  ContactProblem problem;
  std::filesystem::path file;
};

/// The file as given, or where there is none and the path is relative, below the folder CONEBENCH_DATA.
std::filesystem::path find_problem_file(const std::string& file);

/// An FCLIB file, or, where there is no such file, a scene as reports name it: "box-stack boxes=5 seed=2".
/// Errors: the loader's; those of parse_settings and of the scene.
Result<GivenProblem> load_given_problem(const std::string& text);

}  // namespace conebench::cli
