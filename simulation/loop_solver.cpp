#include "simulation/loop_solver.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/option_parsing.hpp"
#include "runners/programs/apart_solver.hpp"

namespace conebench::simulation {

Result<std::unique_ptr<Solver>> LoopSolver::make(double seconds) const {
  return row->info.own_process ? make_apart(*row, options, seconds) : row->make(options);
}

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
  std::string options_text;
  for (const auto& [name, value] : helpful) {
    options_text += fmt::format("{}{}={}", options_text.empty() ? "" : ",", name, to_text(value));
  }
  return fmt::format("set solver_options={}, or another solver", options_text);
}

Result<LoopSolver> loop_solver(const std::string& id, const std::string& options) {
  CONEBENCH_TRY(const auto row, require_solver(id));
  LoopSolver solver{row, {}};
  CONEBENCH_TRY(solver.options, parse_options(split_list(options), row->all_options(), id, "solver_options "));
  CONEBENCH_CHECK(row->effective_options(solver.options).within(fmt::format("solver_options {}", options)));
  return solver;
}

std::string code_of_solver(const std::string& id) {
  const SolverRow* const row = find_solver(id);
  return row == nullptr ? std::string() : row->content_hash;
}

}  // namespace conebench::simulation
