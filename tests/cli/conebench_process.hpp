#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/temporary_folder.hpp"

namespace conebench::testing {

/// What a run of the executable gave.
struct Outcome {
  int code = -1;  ///< exit code; 128 + n where signal n ended it
  std::string out;
  std::string err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

struct RunOptions {
  std::filesystem::path folder = {};          ///< working folder; empty: the test's
  std::vector<std::string> environment = {};  ///< "NAME=value", added to the test's
  std::string out_to = {};                    ///< file that gets standard output instead of Outcome::out
  std::filesystem::path executable = {};      ///< of conebench(), if not the one under test
};

/// Runs the executable under test with these arguments.
Outcome conebench(const std::vector<std::string>& arguments, const RunOptions& options = {});
/// Runs any program, looked up in PATH.
Outcome run_program(const std::vector<std::string>& words, const RunOptions& options = {});

/// The executable under test.
std::filesystem::path executable();
/// Whether the system's Python has these modules ("h5py, numpy").
bool python_has(const std::string& modules);
/// Runs a script with the system's Python.
Outcome python(const std::string& script, const std::vector<std::string>& arguments);

/// The whole file; empty where it can't be read.
std::string text_of(const std::filesystem::path& file);

/// A folder that goes with the test; paths in it as words of a command.
class ScratchFolder : public conebench::TemporaryFolder {
 public:
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
};

/// The path of a problem that `conebench generate` wrote into the folder.
std::string generate(const ScratchFolder& folder, const std::vector<std::string>& scene_and_options);

/// The outcome is the failure `code`: nothing on standard output, and one line "conebench: …" on standard error that
/// holds each of `parts`.
void expect_failure(const Outcome& outcome, int code, const std::vector<std::string>& parts);

}  // namespace conebench::testing
