#include "runners/simulation/loop_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "problems/option_words.hpp"

namespace conebench::simulation {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::string LoopSolver::label() const {
  std::string text = row->info.id;
  const auto effective = row->effective_options(options);
  if (!effective) return text;
  for (const auto& [name, value] : *effective) {
    const bool usual =
        std::any_of(row->options.begin(), row->options.end(), [&, &key = name, &set = value](const OptionSpec& spec) {
          return spec.name == key && spec.default_value == set;
        });
    if (!usual) text += fmt::format(" {}={}", name, to_text(value));
  }
  return text;
}

Result<LoopSolver> loop_solver(const std::string& id, const std::string& options) {
  const auto row = require_solver(id);
  if (!row) return row.error();
  LoopSolver solver{*row, {}};
  auto values = parse_options(split(options), (*row)->options, id, "solver_options ");
  if (!values) return values.error();
  solver.options = std::move(*values);
  if (const auto checked = (*row)->effective_options(solver.options); !checked) {
    return Error{checked.error().code, fmt::format("solver_options {}: {}", options, checked.error().message)};
  }
  return solver;
}

}  // namespace conebench::simulation
