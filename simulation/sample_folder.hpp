#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulation/scene_plan.hpp"

namespace conebench::simulation {

/// What the samples of a folder were asked for: with the same request they come out the same.
struct SampleRequest {
  std::string scene;
  std::string name;                            ///< the samples' names begin with it
  std::map<std::string, std::string> options;  ///< as they were set
  std::uint64_t seed = 1;
  long steps = 0;
  std::string model;   ///< hash of the compiled model
  std::string engine;  ///< "MuJoCo 4.0.1"
  std::string code;    ///< hash of the files of the loop's solver; empty: it is part of the build
};

/// The file `samples.json` of a folder: one simulation's samples, and how its loop went.
struct SampleList {
  SampleRequest request;
  std::string solver;        ///< in the loop
  std::string label;         ///< Simulation::solver()
  double tolerance = 0.0;    ///< of every step
  bool complete = false;     ///< all steps were done
  bool blown_up = false;     ///< a velocity passed max_speed; false and not complete: it failed or was interrupted
  std::string failure = {};  ///< why it ended before its last step; empty: it did not, or was interrupted
  SamplingSummary summary = {};
  std::vector<std::string> files = {};       ///< names in the folder, in order
  std::vector<std::string> unsolved = {};    ///< those of them whose step is not solved (StepRecord::solved)
  std::map<std::string, double> sizes = {};  ///< model_sizes(); absent from lists of older runs
  std::vector<std::string> notes = {};       ///< Simulation::notes(); absent from lists of older runs
  std::vector<LeftOut> left_out = {};        ///< of the model; absent from lists of older runs
};

constexpr const char* list_name = "samples.json";
/// The picture of the scene in the last step, where it was asked for and could be drawn.
constexpr const char* picture_name = "picture.png";

/// Errors: those of model_hash.
Result<SampleRequest> sample_request(const ScenePlan& plan, long steps);
/// How the request differs from that of an earlier run, as text ("steps 200, not 40"); empty: in nothing.
std::string difference(const SampleRequest& earlier, const SampleRequest& request);

/// nullopt where the folder has none, or one that can't be read.
std::optional<SampleList> read_list(const std::filesystem::path& folder);
/// The list of a run that is complete, with at least one sample, and all of them there.
std::optional<SampleList> whole_list(const std::filesystem::path& folder);
/// Whether a run left samples in the folder; a killed one has not listed all of them.
bool has_samples(const std::filesystem::path& folder, const SampleList& list);
/// Takes the list, its samples and their picture out of the folder, and leaves everything else. Errors: bad_input.
Result<void> remove_samples(const std::filesystem::path& folder, const SampleList& list);

/// Runs the simulation and writes a file a sample into the folder, made where it is missing, and its list, which holds
/// what was written also where an error or `watch.interrupted` ended it. `watch.sample` is called after the file was
/// written; it may be empty. Errors: those of the simulation, of write_sample and of watch.sample.
Result<void> write_samples(Simulation& simulation, const ScenePlan& plan, const SampleRequest& request,
                           const std::filesystem::path& folder, const SamplingWatch& watch, SampleList& list);

/// write_samples of a simulation of its own and, where it can be drawn, its picture, in the place of what an earlier
/// run left in the folder. Errors: those of simulate, sample_request, remove_samples and write_samples; bad_input where
/// all steps give no sample.
Result<void> make_samples(const std::filesystem::path& folder, const ScenePlan& plan, long steps,
                          const std::atomic<bool>* interrupted = nullptr);

/// Writes a step's problem as `<name>.hdf5` into the folder, with the loop's impulses as its solution and the warm
/// start as its guess. Errors: those of write_fclib.
Result<std::filesystem::path> write_sample(const StepRecord& record, const std::filesystem::path& folder);

/// One line where solves of the loop missed the tolerance, so that all later steps follow from wrong impulses.
std::optional<std::string> loop_warning(const SampleList& list);

/// One line where strata of a stratified set have fewer samples than were wanted.
std::optional<std::string> strata_warning(const SampleList& list);

/// One line where the samples are a trivial set.
std::optional<std::string> trivial_warning(const SampleList& list);

}  // namespace conebench::simulation
