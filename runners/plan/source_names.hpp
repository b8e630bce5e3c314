#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "runners/plan/problem_source.hpp"

/// How the problems of a suite are called: sources, by which they are made again, and names, which are short and tell
/// what differs.
namespace conebench {

/// "box-stack boxes=5 seed=1".
std::string scene_text(const std::string& scene, const OptionValues& options, std::uint64_t seed);

/// A sample as records show it: all that it takes to make it again, wherever the store goes.
std::string sample_text(const std::string& scene, const SampledSimulation& plan, long step);

/// The step in a sample's file or problem name, "hand_object=ball_step=00012"; 0 where there is none.
long step_of_name(const std::string& name);

/// Options of the loop's solves that the suite's simulations of the scene have different values of: the others are left
/// out of samples' names.
std::set<std::string> solve_options_that_differ(const Suite& suite, const std::string& scene,
                                                const std::vector<OptionSpec>& specs);

/// A simulation's name without what solves its loop, but for `told`.
std::string short_name(const SampledSimulation& plan, const std::set<std::string>& told);

/// Names the scenes that are one problem: by their options that are no defaults or differ between them.
void name_scenes(std::vector<ProblemSource>& sources);

/// Names that several samples or files share get the path in front.
void tell_names_apart(std::vector<ProblemSource>& sources);

/// Numbers within names count as numbers: step-9 comes before step-10.
bool comes_before(const std::string& a, const std::string& b);

}  // namespace conebench
