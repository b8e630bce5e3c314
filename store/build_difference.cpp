#include "store/build_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "store/suite_scope.hpp"

namespace conebench {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The words of `text` that `other` lacks, cut short where they are many.
std::string only_in(const std::string& text, const std::string& other) {
  constexpr std::size_t longest = 80;
  const std::vector<std::string> others = words_of(other);
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> own = words_of(text);
  std::erase_if(own, [&](const std::string& word) { return known.contains(word); });
  std::string line = fmt::format("{}", fmt::join(own, " "));
  if (line.empty()) return "not";
  if (line.size() > longest) line = line.substr(0, longest) + "…";
  return line;
}

bool clean(const std::string& commit) {
  return !commit.empty() && commit != "unknown" && commit.find("-dirty") == std::string::npos;
}

/// The executable's hash is as long as it is meaningless; its beginning tells two apart.
std::string stamp(const BuildRecord& build) {
  return build.executable.empty() ? "not known" : build.executable.substr(0, 8);
}

class Differences {
 public:
  Differences(const std::string& there, const std::string& here) : there_(there), here_(here) {}
  void look(const std::string& what, const std::string& first, const std::string& second) {
    if (first == second) return;
    parts_.push_back(
        fmt::format("{} {} {}, {} {}", what, only_in(first, second), there_, only_in(second, first), here_));
  }
  bool none() const { return parts_.empty(); }
  std::string text() const { return fmt::format("{}", fmt::join(parts_, "; ")); }

 private:
  const std::string &there_, &here_;
  std::vector<std::string> parts_;
};

}  // namespace

std::string build_difference(const BuildRecord& first, const BuildRecord& second, const std::string& there,
                             const std::string& here) {
  const bool stamped = !first.executable.empty() && !second.executable.empty();
  const bool same_program =
      stamped ? first.executable == second.executable : first.commit == second.commit && clean(first.commit);
  Differences found(there, here);
  found.look("version", first.version, second.version);
  found.look("commit", first.commit, second.commit);
  found.look("compiler", first.compiler, second.compiler);
  found.look("flags", first.flags, second.flags);
  found.look("build type", first.build_type, second.build_type);
  found.look("native", first.native ? "yes" : "no", second.native ? "yes" : "no");
  // Libraries may change under one and the same executable; one that only the other record names is its business.
  for (const auto& [library, version] : second.libraries) {
    const auto other = first.libraries.find(library);
    found.look(library, other == first.libraries.end() ? "absent" : other->second, version);
  }
  if (found.none() && !same_program) {
    found.look("the same commit with other sources: executable", stamp(first), stamp(second));
    if (found.none()) return fmt::format("commit {} with sources that are not committed", first.commit);
  }
  return found.text();
}

CodeHashes code_hashes_of(const std::vector<RunRecord>& runs) {
  CodeHashes hashes;
  for (const RunRecord& run : runs) {
    for (const auto& [solver, hash] : code_hashes_of_scope(run.scope_json)) hashes[solver].insert(hash);
  }
  return hashes;
}

std::vector<CodeChange> code_changes(const CodeHashes& before, const CodeHashes& after) {
  std::vector<CodeChange> changes;
  for (const auto& [solver, hashes] : before) {
    const auto now = after.find(solver);
    if (now != after.end() && now->second != hashes) changes.push_back({solver, hashes, now->second});
  }
  return changes;
}

std::string setting_difference(const SettingRecord& there, const SettingRecord& here) {
  std::vector<std::string> parts;
  const auto look = [&](const std::string& what, const std::string& first, const std::string& second) {
    if (first != second) parts.push_back(fmt::format("{} {}, here {}", what, first, second));
  };
  look("version", std::to_string(there.solver_version), std::to_string(here.solver_version));
  const auto first = nlohmann::json::parse(there.options_json, nullptr, false);
  const auto second = nlohmann::json::parse(here.options_json, nullptr, false);
  const auto value = [](const nlohmann::json& options, const std::string& name) {
    return options.contains(name) ? options[name].dump() : std::string("none");
  };
  std::set<std::string> names;
  for (const auto* options : {&first, &second}) {
    if (!options->is_object()) continue;
    for (const auto& [name, unused] : options->items()) names.insert(name);
  }
  for (const std::string& name : names) look(name, value(first, name), value(second, name));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace conebench
