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

/// What runners know of a simulation. A build without one passes no scenes.
namespace conebench {

/// The samples that a simulation left in a folder.
struct MadeSamples {
  std::vector<std::string> files;  ///< names in the folder, in order
  std::vector<std::string> notes;  ///< a line each of what is wrong with them
  bool picture = false;            ///< of the scene, beside them
};

/// A scene with its options, ready to be simulated and sampled.
struct SampledSimulation {
  std::string family;     ///< the scene's id, or the stem of a model's file
  std::string name;       ///< for messages
  OptionValues values;    ///< as they were set
  OptionValues of_steps;  ///< those of them that decide what the steps are, not which of them are sampled
  std::uint64_t seed = 1;
  long steps = 0;          ///< how many are interesting
  long every = 1;          ///< steps from one sample to the next
  std::string model_file;  ///< where its model was read from; empty: it is built in
  /// What samples depend on beside the options and the number of steps: the model, or why there is none (bad_input,
  /// unsupported, or what is wrong with the machine), the simulator's version, and the solver of the loop with its own.
  Result<std::string> model = std::string();
  std::string version, solver;
  std::string missing;  ///< why this build can't simulate it; empty: it can

  /// Simulates so many steps and writes the samples into a folder, in place of what an earlier run left there. Errors:
  /// those of the simulation; bad_input where no step gives a sample.
  std::function<Result<void>(const std::filesystem::path& folder, long steps, const std::atomic<bool>* interrupted)>
      make;
  /// What `make` left in a folder; nullopt where that is not whole.
  std::function<std::optional<MadeSamples>(const std::filesystem::path& folder)> made;
};

/// A row of the table of simulated scenes.
struct SampledScene {
  std::string id;                   ///< differs from those of scene_table()
  std::vector<OptionSpec> options;  ///< its own, then those of its loop and of its sampling
  /// Errors: those of the scene; wrong_usage for an unknown option or a value out of range.
  std::function<Result<SampledSimulation>(const OptionValues& values, std::uint64_t seed)> plan;
};

}  // namespace conebench
