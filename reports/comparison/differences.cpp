#include "reports/comparison/differences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/comparison/describe.hpp"
#include "store/run_mode.hpp"

namespace conebench::reports {

namespace {

/// Every value of a field over a side's runs, joined.
template <class Field>
std::string values_of(const Side& side, Field field) {
  std::set<std::string> values;
  for (const RunRecord& run : side.runs) values.insert(field(run));
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : " and ") + value;
  return text;
}

std::set<std::string> hosts_of(const Side& side) {
  std::set<std::string> hosts;
  for (const RunRecord& run : side.runs) hosts.insert(run.machine.host);
  return hosts;
}

/// Nodes of a cluster take shards in turn: one machine in common is enough.
bool on_other_machines(const Side& baseline, const Side& candidate) {
  const auto before = hosts_of(baseline), after = hosts_of(candidate);
  return !before.empty() && !after.empty() &&
         std::none_of(before.begin(), before.end(), [&](const std::string& host) { return after.contains(host); });
}

struct Difference {
  const char* what;
  std::string baseline, candidate;
};

/// What makes times of the two sides incomparable.
std::vector<Difference> machine_and_build(const Side& baseline, const Side& candidate) {
  std::vector<Difference> found;
  const auto add_field = [&](const char* what, auto field) {
    std::string before = values_of(baseline, field);
    std::string after = values_of(candidate, field);
    if (before != after) found.push_back({what, std::move(before), std::move(after)});
  };
  const auto host = [](const RunRecord& run) { return run.machine.host; };
  if (on_other_machines(baseline, candidate))
    found.push_back({"machine", values_of(baseline, host), values_of(candidate, host)});
  add_field("processor", [](const RunRecord& run) { return run.machine.cpu; });
  add_field("cores", [](const RunRecord& run) { return std::to_string(run.machine.cores); });
  add_field("compiler", [](const RunRecord& run) { return run.build.compiler; });
  add_field("flags", [](const RunRecord& run) { return run.build.flags; });
  add_field("build type", [](const RunRecord& run) { return run.build.build_type; });
  add_field("-march=native", [](const RunRecord& run) { return std::string(run.build.native ? "yes" : "no"); });
  add_field("mode", [](const RunRecord& run) { return run.mode; });
  return found;
}

std::string limits_of(const Side& side) {
  std::set<std::string> limits;
  for (const Request& request : side.requests) {
    limits.insert(
        fmt::format("{:g} s, {} iterations, {} MB", request.limit_s, request.max_iterations, request.limit_mb));
  }
  return fmt::format("{}", fmt::join(limits, " and "));
}

}  // namespace

std::string refuse_times(Comparison& comparison) {
  const auto found = machine_and_build(comparison.baseline, comparison.candidate);
  std::string what;
  for (const Difference& one : found) {
    comparison.differences.push_back(fmt::format("{}: {} in the baseline, {} in the candidate", one.what,
                                                 one.baseline.empty() ? "none" : one.baseline,
                                                 one.candidate.empty() ? "none" : one.candidate));
    what += (what.empty() ? "" : ", ") + std::string(one.what);
  }
  const auto any_side = [&](const char* mode) {
    return any_in_mode(comparison.baseline.runs, mode) || any_in_mode(comparison.candidate.runs, mode);
  };
  if (any_side(submitted_mode)) return "answers were sent in (judge --submission): nothing was timed";
  if (any_side(quick_mode)) return "cells ran once (--quick): their times say nothing";
  if (any_side(throughput_mode)) return "cells ran side by side (--jobs): their times say nothing of single ones";
  return what.empty() ? std::string() : "the two differ in " + what;
}

void add_other_code(Comparison& comparison) {
  comparison.code_changes =
      code_changes(code_hashes_of(comparison.baseline.runs), code_hashes_of(comparison.candidate.runs));
  for (const CodeChange& change : comparison.code_changes) {
    comparison.differences.push_back(fmt::format("code of {}: {} in the baseline, {} in the candidate", change.solver,
                                                 describe_hash(change.before), describe_hash(change.after)));
  }
}

void add_other_limits(Comparison& comparison, bool compared) {
  const std::string baseline = limits_of(comparison.baseline), candidate = limits_of(comparison.candidate);
  if (baseline == candidate) return;
  comparison.differences.push_back(fmt::format(
      "limits: {} in the baseline, {} in the candidate, {}", baseline, candidate,
      compared ? "compared all the same (--force)" : "so that their cells are missing or new; --force compares them"));
}

void add_other_data(Comparison& comparison) {
  std::set<std::string> names;
  for (const Side* side : {&comparison.baseline, &comparison.candidate}) {
    for (const RunRecord& run : side->runs) {
      for (const auto& [name, version] : run.data_sets) names.insert(name);
    }
  }
  bool any = false;
  for (const std::string& name : names) {
    const auto version = [&](const RunRecord& run) {
      const auto found = run.data_sets.find(name);
      return found == run.data_sets.end() ? std::string("none") : "version " + found->second;
    };
    const std::string baseline = values_of(comparison.baseline, version),
                      candidate = values_of(comparison.candidate, version);
    if (baseline == candidate) continue;
    any = true;
    comparison.differences.push_back(
        fmt::format("data set {}: {} in the baseline, {} in the candidate", name, baseline, candidate));
  }
  if (!any) return;
  const auto replaced = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                      [](const ComparedProblem& one) { return one.in_baseline && one.other_data; });
  const auto gone = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                  [](const ComparedProblem& one) { return !one.in_candidate && !one.other_data; });
  const auto added = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                   [](const ComparedProblem& one) { return !one.in_baseline && !one.other_data; });
  comparison.differences.push_back(
      fmt::format("of the problems {} read other data, {} are gone and {} are new", replaced, gone, added));
}

}  // namespace conebench::reports
