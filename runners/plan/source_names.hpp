#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runners/plan/problem_source.hpp"

/// Sources and names of a suite's problems. A source suffices to make the problem again. A name is short and shows what
/// differs.
namespace conebench {

/// "box-stack boxes=5 seed=1".
std::string scene_text(const std::string& scene, const OptionValues& options, std::uint64_t seed);

/// The source of a sample: all that is needed to make it again on any machine.
std::string sample_text(const std::string& scene, const SampledSimulation& plan, long step);

/// The step in a sample's file or problem name, "hand_object=ball_step=00012"; 0: none.
long step_of_name(const std::string& name);

/// Options of the loop's solver whose values differ among the suite's simulations of the scene. Names of samples omit
/// the others.
std::set<std::string> solve_options_that_differ(const Suite& suite, const std::string& scene,
                                                const std::vector<OptionSpec>& specs);

/// A simulation's name without the options of its loop's solver, except `kept`.
std::string short_name(const SampledSimulation& plan, const std::set<std::string>& kept);

/// Names the scenes that give one problem each, by options that are not defaults or that differ between them.
void name_scenes(std::vector<ProblemSource>& sources);

/// Prefixes names that several samples or files share with their paths.
void make_names_unique(std::vector<ProblemSource>& sources);

/// Orders names; numbers in them compare as numbers: step-9 comes before step-10.
bool comes_before(const std::string& a, const std::string& b);

}  // namespace conebench
