#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/sequence.hpp"
#include "runners/plan/sampled_scene.hpp"
#include "runners/plan/suite.hpp"

namespace conebench {

/// Where one problem of a suite comes from: an FCLIB file, or a scene with its parameters.
struct ProblemSource {
  std::string name;            ///< of a file: its stem, with its folder where stems clash; of a scene: source_names.hpp
  std::string family;          ///< empty: the problem's own
  std::string source;          ///< as records show it: the path as the suite's glob gives it, or scene and parameters
  std::filesystem::path file;  ///< what to open; empty for a scene
  /// Of a file of a named set (data_set.hpp): the set, its version, and the file's hash in its manifest. Else empty.
  std::string data_set = {}, data_version = {}, data_hash = {};
  /// Where the suite says that the entry's problems are a sequence, or a simulation will make it; else the problem
  /// tells.
  std::optional<SequencePlace> place;

  std::string scene;
  OptionValues options;
  std::uint64_t seed = 1;
  bool as_fclib = false;
  /// Of a simulated scene that was not simulated yet: the file is not there, and there may be fewer of them.
  bool pending = false;

  /// Kept where one of these holds; empty: always.
  std::vector<FeatureCondition> conditions = {};
  std::string failure = {};  ///< why there is nothing to load (a simulation that failed); empty: there is something
  bool told = false;         ///< SceneWatch::note has had the failure's reason, with that of others

  bool kept(const std::string& category, std::optional<double> conditioning) const;
};

/// Makes the samples of a simulation of so many steps in a folder, as its own `make` does.
using SampleMaker =
    std::function<Result<void>(const std::filesystem::path& folder, const SampledSimulation& plan, long steps)>;

/// What becomes of simulated scenes whose samples are not there yet.
struct SceneWatch {
  bool simulate = true;  ///< else their samples are `pending` sources
  const std::atomic<bool>* interrupted = nullptr;
  /// A line for a person: what is simulated, what is wrong with it; from where files come that --data does not have.
  std::function<void(const std::string&)> note = {};
  SampleMaker make = {};  ///< empty: the simulation's own, in this process
  /// Whether samples of this family are wanted now: others are not simulated, and `pending`. Empty: all are.
  std::function<bool(const std::string&)> wanted = {};
};

/// The folder in the environment variable CONEBENCH_DATA; empty where it is not set.
std::filesystem::path data_folder_of_environment();

/// All sources of a suite in its order, a file or scene named twice once. `data` is looked up first, then
/// the folder in `environment` (CONEBENCH_DATA), then the suite's own; empty ones are left out, and the first two may
/// name a data set; a simulated scene's `path` is looked up there where it is not found as it stands. The samples of
/// simulated scenes are files in a folder of their own below `cache`, simulated where they are not there yet, which
/// `watch` may stop: the list is then not whole. Of a simulation that fails (bad_input) there is one source, which says
/// why; without MuJoCo `note` tells it once for all. Errors: `data` is no folder and no data set; a glob that matches
/// no file anywhere, and where it was looked for; a file in a data set's folder that its manifest does not have
/// (bad_input); those of a scene; others of a simulation.
Result<std::vector<ProblemSource>> list_sources(const Suite& suite, const std::filesystem::path& data,
                                                const std::filesystem::path& environment,
                                                const std::filesystem::path& cache = {}, const SceneWatch& watch = {});

/// The first file of a named set that holds other data than when the set was added (bad_input); nothing where
/// interrupted. Reads them all.
Result<void> altered_data(const std::vector<ProblemSource>& sources, const std::atomic<bool>* interrupted);

/// The problem itself, with family, name and source file in its provenance. A scene with as_fclib is written to `cache`
/// (made where it is missing) and read back; with `reuse` a file that is there already is read alone. Errors: the
/// loader's, the scene's; unsupported for what FCLIB's layout or this build can't hold.
Result<ContactProblem> load_source(const ProblemSource& source, const std::filesystem::path& cache, bool reuse = false);

/// The file that load_source writes for a scene, below `cache`.
std::filesystem::path cached_file(const ProblemSource& source, const std::filesystem::path& cache);

}  // namespace conebench
