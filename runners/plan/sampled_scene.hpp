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

/// The runners' interface to simulations. A build without simulation passes no scenes.
namespace conebench {

/// The samples that a simulation has written to a folder.
struct MadeSamples {
  std::vector<std::string> files;  ///< names in the folder, in order
  std::vector<std::string> notes;  ///< their defects, one line each
  bool picture = false;            ///< of the scene, next to them
};

/// A scene with its options, ready to be simulated and sampled.
struct SampledSimulation {
  std::string family;     ///< the scene's id, or the stem of a model's file
  std::string name;       ///< for messages
  OptionValues values;    ///< as they were set
  OptionValues of_steps;  ///< those that change the steps, not only which of them are sampled
  std::uint64_t seed = 1;
  long steps = 0;          ///< default number of steps
  long every = 1;          ///< steps from one sample to the next
  std::string model_file;  ///< where its model was read from; empty: it is built in
  /// Samples also depend on these: the model, or why there is none (bad_input, unsupported, or an error of the
  /// machine); the simulator's version; the loop's solver with its version.
  Result<std::string> model = std::string();
  std::string version, solver;
  std::string missing;  ///< why this build can't simulate it; empty: it can

  /// Simulates so many steps, writes the samples to a folder, and removes earlier ones there. Errors: those of the
  /// simulation; bad_input: no step gives a sample.
  std::function<Result<void>(const std::filesystem::path& folder, long steps, const std::atomic<bool>* interrupted)>
      make;
  /// What `make` has written to a folder; nullopt: it is not complete.
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
