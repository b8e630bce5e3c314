#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench::cli {

/// For a file that its name tells to be of a robot or a scene (.xml, .mjcf, .urdf): what to do with it. Else empty.
std::string simulation_hint(const std::string& text);
/// Where such a file is there and no FCLIB file, an error with the hint (bad_input).
Result<void> check_problem_file(const std::filesystem::path& file);

/// A problem that a command was given, and the file it came from (empty for a scene).
struct GivenProblem {
  ContactProblem problem;
  std::filesystem::path file;
};

/// `--read-seconds`, for commands that read FCLIB files.
void add_read_limit(CLI::App& app);

/// The file as given, or where there is none and the path is relative, below the folder CONEBENCH_DATA, or in a data
/// set: "NAME/PATH".
std::filesystem::path find_problem_file(const std::string& file);

/// The scene that the text names ("box-stack boxes=5 seed=2"), of a simulated one the problem of a step ("hand
/// object=ball step=12"), by simulating to it; nullopt where it is to be read as a file. The words may be joined by _,
/// as in names of reports. Errors: those of parse_settings, of the scene and of the simulation; wrong_usage without the
/// step; bad_input where it has options, but is neither file nor scene.
Result<std::optional<ContactProblem>> make_named_scene(const std::string& text);

/// An FCLIB file, or, where there is no such file, a scene as make_named_scene takes it.
/// Errors: the loader's; those of make_named_scene.
Result<GivenProblem> load_given_problem(const std::string& text);

}  // namespace conebench::cli
