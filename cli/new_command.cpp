#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "cli/output.hpp"
#include "cli/own_solver_commands.hpp"
#include "cli/skeletons.hpp"
#include "solvers/registry.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* new_footer =
    R"(solver: a folder with a projected Jacobi method that you replace by your own, a suite
that compares it with NSGS, and test.sh, which builds, checks and sweeps it.
engine: NAME.py, an adapter for `conebench phenomena` that you replace by your own.

Examples:
  conebench new solver my-method
  conebench new solver my-method --cpp
  conebench new solver my-method --python
  conebench new engine mine
  conebench phenomena --engines mine.py --out mine
  CONEBENCH=build/bin/conebench my-method/test.sh)";

struct Arguments {
  std::string what;
  std::string name;
  bool plugin = false;
  bool cpp = false;
  bool python = false;
  bool program = false;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// What builds it, and how it is named on the command line.
struct Way {
  std::vector<std::string> files;  ///< of the examples and of include; the method is in the first
  std::string build, option, solvers;
};

Way way_of(const Arguments& arguments) {
  if (arguments.python) {
    return {{"jacobi/jacobi.py"},
            "",
            "--program \"/usr/bin/python3 jacobi.py\"",
            R"({"program": ["/usr/bin/python3", "jacobi.py"]})"};
  }
  if (arguments.program) {
    return {{"jacobi/jacobi.c", "jacobi/jacobi.h", "jacobi/jacobi_program.c", "conebench/solver_plugin.h"},
            "${CC:-cc} -std=c99 -O2 -I . $(pkg-config --cflags hdf5) jacobi.c jacobi_program.c -o jacobi "
            "$(pkg-config --libs hdf5) -lm\n",
            "--program ./jacobi",
            R"({"program": ["jacobi"]})"};
  }
  if (arguments.cpp) {
    return {{"jacobi_cpp/jacobi.cpp", "jacobi_cpp/CMakeLists.txt", "conebench/solver_plugin.h",
             "conebench/solver_plugin.hpp"},
            "${CXX:-c++} -std=c++20 -O2 -shared -fPIC -I . jacobi.cpp -o jacobi.so\n",
            "--plugin ./jacobi.so",
            R"("JACOBI")"};
  }
  return {{"jacobi/jacobi.c", "jacobi/jacobi.h", "jacobi/jacobi_plugin.c", "jacobi/CMakeLists.txt",
           "conebench/solver_plugin.h"},
          "${CC:-cc} -std=c99 -O2 -shared -fPIC -I . jacobi.c jacobi_plugin.c -o jacobi.so -lm\n",
          "--plugin ./jacobi.so",
          R"("JACOBI")"};
}

Result<void> check_name(const Arguments& arguments) {
  const std::string& name = arguments.name;
  const bool plain = std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return c == '-' || c == '_' || (c < 128 && std::isalnum(c) != 0);
                     });
  if (plain) return {};
  return Error{
      ErrorCode::wrong_usage,
      fmt::format("new {} {}: the name must be a letter, then letters, digits, - and _", arguments.what, name)};
}

/// The name with _ for -, in small letters: one of C and Python.
std::string word_of(const std::string& name) {
  std::string word = replaced(name, "-", "_");
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

Result<int> make_engine(const Arguments& arguments) {
  CONEBENCH_CHECK(check_name(arguments));
  if (arguments.plugin || arguments.cpp || arguments.python || arguments.program)
    return Error{ErrorCode::wrong_usage, "new engine: --plugin, --cpp, --python and --program are of solvers"};
  const std::string file = arguments.name + ".py";
  std::error_code failure;
  if (fs::exists(file, failure))
    return Error{ErrorCode::bad_input, fmt::format("{}: is there already; take another name", file)};
  std::string type = word_of(arguments.name);
  type[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(type[0])));
  std::string text = replaced(skeleton("toy.py"), "toy.py", file);
  text =
      replaced(replaced(text, "\"TOY\"", fmt::format("\"{}\"", upper(arguments.name))), "class Toy", "class " + type);
  std::ofstream out(file, std::ios::binary);
  if (!(out << text).flush()) return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written", file)};
  print_text(fmt::format("{0}: made; replace its World\nnext: conebench phenomena --engines {0} --quick --out {1}\n",
                         file, arguments.name));
  return done;
}

Result<int> make_solver(const Arguments& arguments) {
  const std::string& name = arguments.name;
  CONEBENCH_CHECK(check_name(arguments));
  if (find_solver(upper(name)) != nullptr) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("new solver {}: a solver {} exists already; take another name", name, upper(name))};
  }
  const std::string word = word_of(name);
  const auto renamed = [&](std::string text) {
    for (const char* id : {"JACOBI-PROGRAM", "JACOBI-PYTHON", "JACOBI-CPP"}) text = replaced(text, id, upper(name));
    // The guard is an identifier, which an id with a hyphen is not.
    constexpr const char* guard = "\x01";
    text = replaced(replaced(text, "JACOBI_H", guard), "JACOBI", upper(name));
    return replaced(replaced(text, guard, upper(word) + "_H"), "jacobi", word);
  };

  const Way way = way_of(arguments);
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& file : way.files) {
    const bool header = file.starts_with("conebench/");
    files.emplace_back(header ? file : renamed(fs::path(file).filename().string()),
                       header ? skeleton(file) : renamed(skeleton(file)));
  }
  const std::string plugins = way.option.starts_with("--plugin") ? "\n  \"plugins\": [\"jacobi.so\"]," : "";
  files.emplace_back(renamed("jacobi.json"), renamed(fmt::format(R"({{
  "name": "jacobi",
  "problems": [{{"scene": "sliding-box"}}, {{"scene": "box-stack", "grid": {{"boxes": [1, 2, 3]}}}}],{}
  "solvers": ["NSGS", {}],
  "tolerances": [1e-4, 1e-6]
}}
)",
                                                                 plugins, way.solvers)));
  files.emplace_back("test.sh", renamed(fmt::format(R"sh(#!/bin/sh
# Builds the solver, tries it on problems with known answers, compares it with NSGS and writes the page.
set -e
cd "$(dirname "$0")"
conebench=${{CONEBENCH:-conebench}}
{}"$conebench" check-solver {}
"$conebench" run jacobi.json --allow-code --db jacobi.sqlite
"$conebench" report jacobi.sqlite --out report
)sh",
                                                    way.build, way.option)));

  const fs::path folder = name;
  std::error_code failure;
  if (fs::exists(folder, failure)) {
    return Error{ErrorCode::bad_input, fmt::format("{}: is there already; take another name", name)};
  }
  for (const auto& [file, text] : files) {
    fs::create_directories((folder / file).parent_path(), failure);
    std::ofstream out(folder / file, std::ios::binary);
    if (!(out << text).flush()) {
      return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written", (folder / file).string())};
    }
  }
  fs::permissions(folder / "test.sh", fs::perms::owner_exec, fs::perm_options::add, failure);
  print_text(fmt::format("{}: made; its method is in {}/{}\nnext: {}/test.sh (CONEBENCH=… names the executable)\n",
                         name, name, files.front().first, name));
  return done;
}

}  // namespace

Command add_new(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = root.add_subcommand("new", "Write a working skeleton of a new solver or engine");
  app->footer(new_footer);
  app->add_option("WHAT", arguments->what, "solver or engine")->required()->check(CLI::IsMember({"solver", "engine"}));
  app->add_option("NAME", arguments->name, "Its folder or file; in capitals, its id")->required();
  auto* plugin = app->add_flag("--plugin", arguments->plugin, "A shared library in C (the default)");
  auto* cpp = app->add_flag("--cpp", arguments->cpp, "A shared library in C++20");
  auto* python = app->add_flag("--python", arguments->python, "A program in Python, with numpy and h5py");
  auto* program = app->add_flag("--program", arguments->program, "A program in C, with HDF5's library");
  plugin->excludes(cpp)->excludes(python)->excludes(program);
  cpp->excludes(python)->excludes(program);
  python->excludes(program);
  return {app, [arguments] { return arguments->what == "engine" ? make_engine(*arguments) : make_solver(*arguments); }};
}

}  // namespace conebench::cli
