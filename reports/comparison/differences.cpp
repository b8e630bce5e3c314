#include "reports/comparison/differences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/comparison/words.hpp"

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
bool on_other_machines(const Side& base, const Side& fresh) {
  const auto before = hosts_of(base), after = hosts_of(fresh);
  return !before.empty() && !after.empty() &&
         std::none_of(before.begin(), before.end(), [&](const std::string& host) { return after.contains(host); });
}

struct Difference {
  const char* what;
  std::string base, fresh;
};

/// What makes times of the two sides incomparable.
std::vector<Difference> machine_and_build(const Side& base, const Side& fresh) {
  std::vector<Difference> found;
  const auto look = [&](const char* what, auto field) {
    std::string before = values_of(base, field);
    std::string after = values_of(fresh, field);
    if (before != after) found.push_back({what, std::move(before), std::move(after)});
  };
  const auto host = [](const RunRecord& run) { return run.machine.host; };
  if (on_other_machines(base, fresh)) found.push_back({"machine", values_of(base, host), values_of(fresh, host)});
  look("processor", [](const RunRecord& run) { return run.machine.cpu; });
  look("cores", [](const RunRecord& run) { return std::to_string(run.machine.cores); });
  look("compiler", [](const RunRecord& run) { return run.build.compiler; });
  look("flags", [](const RunRecord& run) { return run.build.flags; });
  look("build type", [](const RunRecord& run) { return run.build.build_type; });
  look("-march=native", [](const RunRecord& run) { return std::string(run.build.native ? "yes" : "no"); });
  look("mode", [](const RunRecord& run) { return run.mode; });
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

bool throughput(const Side& side) {
  return std::any_of(side.runs.begin(), side.runs.end(), [](const RunRecord& run) { return run.mode == "throughput"; });
}

}  // namespace

std::string refuse_times(Comparison& comparison) {
  const auto found = machine_and_build(comparison.base, comparison.fresh);
  std::string what;
  for (const Difference& one : found) {
    comparison.differences.push_back(fmt::format("{}: {} in the base, {} in the new one", one.what,
                                                 one.base.empty() ? "none" : one.base,
                                                 one.fresh.empty() ? "none" : one.fresh));
    what += (what.empty() ? "" : ", ") + std::string(one.what);
  }
  if (throughput(comparison.base) || throughput(comparison.fresh)) {
    return "cells ran side by side (--jobs): their times say nothing of single ones";
  }
  return what.empty() ? std::string() : "the two differ in " + what;
}

void tell_other_code(Comparison& comparison) {
  comparison.code_changes = code_changes(code_hashes_of(comparison.base.runs), code_hashes_of(comparison.fresh.runs));
  for (const CodeChange& change : comparison.code_changes) {
    comparison.differences.push_back(fmt::format("code of {}: {} in the base, {} in the new one", change.solver,
                                                 hash_words(change.before), hash_words(change.after)));
  }
}

void tell_other_limits(Comparison& comparison, bool compared) {
  const std::string base = limits_of(comparison.base), fresh = limits_of(comparison.fresh);
  if (base == fresh) return;
  comparison.differences.push_back(fmt::format(
      "limits: {} in the base, {} in the new one, {}", base, fresh,
      compared ? "compared all the same (--force)" : "so that their cells are missing or new; --force compares them"));
}

void tell_other_data(Comparison& comparison) {
  std::set<std::string> names;
  for (const Side* side : {&comparison.base, &comparison.fresh}) {
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
    const std::string base = values_of(comparison.base, version), fresh = values_of(comparison.fresh, version);
    if (base == fresh) continue;
    any = true;
    comparison.differences.push_back(fmt::format("data set {}: {} in the base, {} in the new one", name, base, fresh));
  }
  if (!any) return;
  const auto replaced = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                      [](const ComparedProblem& one) { return one.in_base && one.other_data; });
  const auto gone = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                  [](const ComparedProblem& one) { return !one.in_new && !one.other_data; });
  const auto added = std::count_if(comparison.problems.begin(), comparison.problems.end(),
                                   [](const ComparedProblem& one) { return !one.in_base && !one.other_data; });
  comparison.differences.push_back(
      fmt::format("of the problems {} read other data, {} are gone and {} are new", replaced, gone, added));
}

}  // namespace conebench::reports
