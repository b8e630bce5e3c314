#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"

namespace conebench::cli {

Command add_slurm(CLI::App& root);

/// Calls of Slurm's commands. They need no slurmdbd.
namespace slurm {

/// `word` quoted for a shell.
std::string quoted(const std::string& word);
/// "3,7,9-12" of ascending numbers.
std::string ranges(const std::vector<long>& numbers);

/// One past the largest index of an array (MaxArraySize); nullopt: Slurm does not answer.
std::optional<long> max_indices();
/// Runs the command and returns the id of the submitted job. Errors (bad_input): sbatch is missing or refused it, with
/// its reason.
Result<std::string> submit(const std::vector<std::string>& command);

/// Tasks of these jobs that are waiting, running or ending, by state. nullopt: Slurm does not answer.
std::optional<std::map<std::string, long>> live_tasks(const std::vector<std::string>& jobs);

}  // namespace slurm

/// plan.json in the folder of a sweep on a cluster.
struct SlurmPlan {
  std::string suite;       ///< its name
  std::string suite_file;  ///< as `conebench run` takes it: an absolute path, or the name of a built-in one
  std::string digest;      ///< of all keys: another suite, filter or problem gives another
  int rounds = 1;
  std::vector<long> cells;        ///< by shard
  std::vector<double> seconds;    ///< by shard: estimated cost
  std::vector<std::string> jobs;  ///< ids of all submitted jobs, the merge last

  long all_cells() const;
};

/// Paths in such a folder. shard_keys() has the keys of the shard's cells, one a line.
std::filesystem::path shard_keys(const std::filesystem::path& folder, std::size_t shard);
std::filesystem::path shard_store(const std::filesystem::path& folder, std::size_t shard);
std::filesystem::path merged_store(const std::filesystem::path& folder);

/// Errors (bad_input): no such folder, or no plan in it.
Result<SlurmPlan> read_slurm_plan(const std::filesystem::path& folder);
Result<void> write_slurm_plan(const std::filesystem::path& folder, const SlurmPlan& plan);

/// Progress of a shard.
struct ShardState {
  long stored = 0;  ///< of its planned cells; other cells in its store, from an edited suite, are not counted
  bool complete = false;
};
/// The state of every shard. Errors: a store can't be read.
Result<std::vector<ShardState>> shard_states(const std::filesystem::path& folder, const SlurmPlan& plan);

}  // namespace conebench::cli
