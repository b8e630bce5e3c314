#include "simulation/loop_solver.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/option_words.hpp"

namespace conebench::simulation {

std::string LoopSolver::label() const {
  std::string text = row->info.id;
  const auto effective = row->effective_options(options);
  if (!effective) return text;
  OptionValues usual;
  for (const OptionSpec& spec : row->all_options()) usual[spec.name] = spec.default_value;
  for (const auto& [name, value] : *effective) {
    if (usual[name] != value) text += fmt::format(" {}={}", name, to_text(value));
  }
  return text;
}

std::string LoopSolver::advice(const std::string& reason) const {
  OptionValues helpful = options;
  bool named = false;
  for (const OptionSpec& spec : row->all_options()) {
    std::string text;
    if (!RE2::PartialMatch(reason, "\\b" + spec.name + " ?= ?([-+.\\w]+)", &text)) continue;
    if (const auto value = parse_option(spec, text)) {
      helpful[spec.name] = *value;
      named = true;
    }
  }
  if (!named) return "set another solver";
  std::string words;
  for (const auto& [name, value] : helpful) {
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", name, to_text(value));
  }
  return fmt::format("set solver_options={}, or another solver", words);
}

void drop_empty_solver_options(OptionValues& values) {
  const auto set = values.find("solver_options");
  if (set != values.end() && split_list(to_text(set->second)).empty()) values.erase(set);
}

Result<LoopSolver> loop_solver(const std::string& id, const std::string& options) {
  const auto row = require_solver(id);
  if (!row) return row.error();
  LoopSolver solver{*row, {}};
  auto values = parse_options(split_list(options), (*row)->all_options(), id, "solver_options ");
  if (!values) return values.error();
  solver.options = std::move(*values);
  if (const auto checked = (*row)->effective_options(solver.options); !checked) {
    return Error{checked.error().code, fmt::format("solver_options {}: {}", options, checked.error().message)};
  }
  return solver;
}

}  // namespace conebench::simulation
