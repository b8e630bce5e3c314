#include "store/build_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "store/suite_scope.hpp"

namespace conebench {

namespace {

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The words of `text` that `other` lacks, cut short where they are many.
std::string only_in(const std::string& text, const std::string& other) {
  constexpr std::size_t longest = 80;
  const std::vector<std::string> others = split_words(other);
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> own = split_words(text);
  std::erase_if(own, [&](const std::string& word) { return known.contains(word); });
  std::string line = fmt::format("{}", fmt::join(own, " "));
  if (line.empty()) return "not";
  if (line.size() > longest) line = line.substr(0, longest) + "…";
  return line;
}

/// The beginning of the executable's hash distinguishes two builds.
std::string stamp(const BuildRecord& build) { return build.executable.substr(0, 8); }

class Differences {
 public:
  Differences(const std::string& there, const std::string& here) : there_(there), here_(here) {}
  void compare(const std::string& what, const std::string& first, const std::string& second) {
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
  Differences found(there, here);
  found.compare("version", first.version, second.version);
  found.compare("commit", first.commit, second.commit);
  found.compare("compiler", first.compiler, second.compiler);
  found.compare("flags", first.flags, second.flags);
  found.compare("build type", first.build_type, second.build_type);
  found.compare("native", first.native ? "yes" : "no", second.native ? "yes" : "no");
  // Libraries may change under one and the same executable; one that only the other record names is its business.
  for (const auto& [library, version] : second.libraries) {
    const auto other = first.libraries.find(library);
    found.compare(library, other == first.libraries.end() ? "absent" : other->second, version);
  }
  if (found.none() && first.executable != second.executable) {
    found.compare("the same commit with other sources: executable", stamp(first), stamp(second));
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

std::string configuration_difference(const ConfigurationRecord& there, const ConfigurationRecord& here) {
  std::vector<std::string> parts;
  const auto compare = [&](const std::string& what, const std::string& first, const std::string& second) {
    if (first != second) parts.push_back(fmt::format("{} {}, here {}", what, first, second));
  };
  compare("version", std::to_string(there.solver_version), std::to_string(here.solver_version));
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
  for (const std::string& name : names) compare(name, value(first, name), value(second, name));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace conebench
