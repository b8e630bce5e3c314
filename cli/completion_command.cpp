#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <set>

#include "cli/command.hpp"
#include "cli/output.hpp"

namespace conebench::cli {

namespace {

constexpr const char* completion_footer = R"(Examples:
  source <(conebench completion bash)
  conebench completion bash > ~/.local/share/bash-completion/completions/conebench)";

/// With those of its subcommands.
std::set<std::string> option_names(const CLI::App& app) {  // NOLINT(misc-no-recursion)
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.insert("--" + name);
  }
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; }))
    names.merge(option_names(*part));
  return names;
}

/// What the words after an option, or a command's first word, can be, where that is a closed set. Solver, scene and
/// suite names are asked of the program when Tab is pressed, so that the script does not age.
constexpr const char* script_functions = R"bash(
_conebench_ids() {  # first column of `conebench list TOPIC`, without headings and remarks
  conebench list "$1" 2>/dev/null | awk 'NR > 1 && /^[^ ]+  / { print $1 }'
}

_conebench_values() {  # command, option: words that may follow, or nothing
  case "$1 $2" in
    *" --solver") _conebench_ids solvers ;;
    *" --verdict") _conebench_ids metrics ;;
    *" --stop-by") echo solver judge judge_timed ;;
    *" --start") echo cold guess ;;
    *" --format") echo html md latex csv json ;;
    *" --on-conflict") echo refuse first last ;;
  esac
}

_conebench_first_words() {  # command: what its first argument can be, other than a file
  case "$1" in
    list) echo solvers suites scenes metrics fields tables commands ;;
    completion) echo bash ;;
    paper) echo list all ;;
    data) echo list add verify ;;
    generate) _conebench_ids scenes ;;
    run) _conebench_ids suites ;;
  esac
}
)bash";

constexpr const char* script_main = R"bash(
_conebench() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$_conebench_commands --help --version" -- "$word")
    return
  fi
  local values
  values=$(_conebench_values "$command" "$previous")
  if [ -n "$values" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
  elif [[ "$word" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_conebench_options "$command")" -- "$word")
  elif [ "$previous" = "--out" ] && [[ "$command" == @(generate|report|paper) ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  else
    local first=
    [ "$COMP_CWORD" -eq 2 ] && first=$(_conebench_first_words "$command")
    [[ "$COMP_CWORD $command $previous" == "3 list "@(solvers|scenes|suites) ]] && first=$(_conebench_ids "$previous")
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(
      compgen -W "$first" -- "$word"
      [[ "$command" == @(list|completion|generate) ]] || compgen -f -- "$word")
  fi
}
complete -F _conebench conebench
)bash";

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::vector<std::string> commands;
  std::string options = "_conebench_options() {\n  case \"$1\" in\n";
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
    options += fmt::format("    {}) echo {} ;;\n", command->get_name(), fmt::join(option_names(*command), " "));
  }
  options += "  esac\n}\n";
  return fmt::format(
      "# Bash completion for conebench; load it with: source <(conebench completion bash)\n"
      "_conebench_commands=\"{}\"\n{}{}{}",
      fmt::join(commands, " "), options, script_functions, script_main);
}

Command add_completion(CLI::App& root) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = root.add_subcommand("completion", "Print a script that completes commands and options on Tab");
  app->footer(completion_footer);
  app->add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember({"bash"}));
  return {app, [&root, shell]() -> Result<int> {
            print_text(bash_completion(root));
            return done;
          }};
}

}  // namespace conebench::cli
