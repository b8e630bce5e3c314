#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench::cli {

/// Hint for files of robots or scenes, by the name (.xml, .mjcf, .urdf). Empty for other files.
std::string simulation_hint(const std::string& text);
/// Error (bad_input) with the hint: the file exists, but is a robot or scene and no FCLIB file.
Result<void> check_problem_file(const std::filesystem::path& file);

/// The problem of a command's argument, and its file (empty: a scene).
struct LoadedProblem {
  ContactProblem problem;
  std::filesystem::path file;
};

/// `--read-seconds`, for commands that read FCLIB files.
void add_read_limit(CLI::App& app);

/// The file as given. If it does not exist and the path is relative: below the folder CONEBENCH_DATA, or in a data set
/// ("NAME/PATH").
std::filesystem::path find_problem_file(const std::string& file);

/// The scene that the text names and its options as words, "seed=2" and "step=12" among them. Empty: it names none.
/// Parts may be joined by _, as in names of reports.
std::vector<std::string> scene_words(const std::string& text);

/// Removes KEY=NUMBER from the words after the scene's name; the last one counts. Errors (wrong_usage): no number.
Result<void> take_number(std::vector<std::string>& words, const std::string& key, std::uint64_t& number);

/// The problem of the scene that the text names ("box-stack boxes=5 seed=2"). For a simulated scene it is the problem
/// of a step ("hand object=ball step=12"), found by simulating up to it. nullopt: the text is a file's name. Errors:
/// those of parse_options, of the scene and of the simulation; wrong_usage: no step; bad_input: the text has options,
/// but is neither a file nor a scene.
Result<std::optional<ContactProblem>> make_named_scene(const std::string& text);

/// Loads an FCLIB file, or, if there is no such file, calls make_named_scene. Errors: those of both.
Result<LoadedProblem> load_given_problem(const std::string& text);

}  // namespace conebench::cli
