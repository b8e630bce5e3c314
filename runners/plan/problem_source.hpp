#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
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
  /// Of a file: its stem, with its folder where stems clash; of a step of a recording "robot_step=000012"; of a scene:
  /// source_names.hpp.
  std::string name;
  std::string family;          ///< empty: the problem's own
  std::string source;          ///< as records show it: the path as the suite's glob gives it, or scene and parameters
  std::filesystem::path file;  ///< what to open, also a step's address in a recording; empty for a scene
  /// Of a file of a named set (data_set.hpp): the set, its version, and the file's hash in its manifest. Else empty.
  std::string data_set = {}, data_version = {}, data_hash = {};
  /// Set if the suite declares the entry a sequence, or if a simulation will make it; else the problem has it.
  std::optional<SequencePosition> position;

  std::string scene;
  OptionValues options;
  std::uint64_t seed = 1;
  bool as_fclib = false;
  /// A sample that is not simulated yet: its file is missing, and there may be fewer samples.
  bool pending = false;
  /// Of a batch: its problems, in order. It has no file and no scene itself.
  std::vector<ProblemSource> members = {};

  /// The problem is kept if one of these holds; empty: always.
  std::vector<FeatureCondition> conditions = {};
  std::string failure = {};  ///< why there is nothing to load (a failed simulation); empty: there is
  bool reported = false;     ///< SceneWatch::note has already been called with the failure

  bool kept(const std::string& category, std::optional<double> conditioning) const;
  /// The file on the disk that holds it.
  std::filesystem::path stored_in() const;
};

/// Makes the samples of a simulation of so many steps in a folder, like SampledSimulation::make.
using SampleMaker =
    std::function<Result<void>(const std::filesystem::path& folder, const SampledSimulation& plan, long steps)>;

/// How to treat simulated scenes whose samples are missing.
struct SceneWatch {
  bool simulate = true;  ///< else their samples are `pending` sources
  const std::atomic<bool>* interrupted = nullptr;
  /// Gets lines for people: what is simulated, its defects, and where files outside --data come from.
  std::function<void(const std::string&)> note = {};
  SampleMaker make = {};  ///< empty: the simulation's own, in this process
  /// Whether to simulate samples of this family now; others are `pending`. Empty: all.
  std::function<bool(const std::string&)> wanted = {};
};

/// The folder in the environment variable CONEBENCH_DATA; empty: not set.
std::filesystem::path data_folder_of_environment();

/// All sources of a suite in its order, each file or scene once. Files are searched in `data`, then in the folder
/// `environment` (CONEBENCH_DATA), then in the suite's own; empty ones are skipped, and the first two may name a data
/// set. A simulated scene's `path` is searched there, too, unless it is found as given. The samples of simulated scenes
/// are files in folders below `cache`. Missing ones are simulated; `watch` may interrupt that, and the list is then
/// incomplete. A simulation that fails (bad_input) is one source with the reason. Without MuJoCo there is one `note`
/// for all. Errors: `data` is neither a folder nor a data set; a glob matches no file (the message says where it was
/// searched); a file in a data set's folder is not in its manifest (bad_input); those of a scene; others of a
/// simulation.
Result<std::vector<ProblemSource>> list_sources(const Suite& suite, const std::filesystem::path& data,
                                                const std::filesystem::path& environment,
                                                const std::filesystem::path& cache = {}, const SceneWatch& watch = {});

/// Reads all files of named sets. Error (bad_input): the first one whose content has changed since the set was added.
/// Success if interrupted.
Result<void> altered_data(const std::vector<ProblemSource>& sources, const std::atomic<bool>* interrupted);

/// Loads the problem, with family, name and source file in its provenance. A scene with as_fclib is written to the
/// folder `cache` (made if missing) and read back; with `reuse` an existing file is only read. Errors: the loader's,
/// the scene's; unsupported: FCLIB's layout or this build can't hold the problem.
Result<ContactProblem> load_source(const ProblemSource& source, const std::filesystem::path& cache, bool reuse = false);
/// The members of a batch, each by load_source; of any other source its one problem. Errors: the first member's.
Result<std::vector<ContactProblem>> load_members(const ProblemSource& source, const std::filesystem::path& cache,
                                                 bool reuse = false);
/// data_hash() of one problem; of several a hash of theirs, in order.
std::string data_hash(std::span<const ContactProblem> members);
/// Whether `hash` is data_hash(members), or the older name of one problem (ContactProblem::is_called).
bool are_called(std::span<const ContactProblem> members, const std::string& hash);

/// The file that load_source writes for a scene, below `cache`.
std::filesystem::path cached_file(const ProblemSource& source, const std::filesystem::path& cache);

}  // namespace conebench
