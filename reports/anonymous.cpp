#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "reports/report.hpp"

namespace conebench {

namespace {

/// "cannot open /home/ada/data/box.hdf5" → "cannot open box.hdf5": absolute folders are left out wherever they stand.
std::string without_folders(const std::string& text) {
  if (text.find('/') == std::string::npos) return text;
  std::string out;
  std::size_t i = 0;
  const auto within_word = [](char letter) {
    return letter != ' ' && letter != '\t' && letter != '\n' && letter != '"' && letter != '\'' && letter != ',';
  };
  const auto begins_word = [&](std::size_t at) {
    if (at == 0) return true;
    const char before = text[at - 1];
    return !within_word(before) || before == '=' || before == ':' || before == '(' || before == '[' || before == 'I' ||
           before == 'L';
  };
  while (i < text.size()) {
    const bool home = text[i] == '~' && begins_word(i);
    if ((text[i] == '/' && begins_word(i)) || home) {
      std::size_t end = i;
      while (end < text.size() && within_word(text[end]) && text[end] != ')' && text[end] != ']') ++end;
      const std::size_t last = text.rfind('/', end - 1);
      if (last != std::string::npos && last >= i) {
        i = last + 1;
        continue;
      }
    }
    out += text[i++];
  }
  return out;
}

/// Absolute folders whose names have spaces, so that no text tells where they end: those of the runs and of all files
/// in quotes, and what is above them.
std::vector<std::string> folders_with_spaces(const StoreContents& contents) {
  std::set<std::string> found;
  const auto add = [&](std::filesystem::path folder) {
    for (; folder.has_relative_path(); folder = folder.parent_path()) {
      if (folder.native().find(' ') != std::string::npos) found.insert(folder.native());
    }
  };
  for (const RunRecord& run : contents.runs) {
    add(run.suite_folder);
    add(run.data_folder);
    for (std::size_t i = run.suite_text.find("\"/"); i != std::string::npos; i = run.suite_text.find("\"/", i + 2)) {
      add(std::filesystem::path(run.suite_text.substr(i + 1, run.suite_text.find('"', i + 1) - i - 1)).parent_path());
    }
  }
  for (const ProblemRecord& problem : contents.problems) {
    for (const std::string& source : problem.copies) add(std::filesystem::path(source).parent_path());
    add(std::filesystem::path(problem.source).parent_path());
  }
  std::vector<std::string> longest_first;
  for (const std::string& folder : found) {
    if (folder.front() == '/') longest_first.push_back(folder);
  }
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return longest_first;
}

class Cleaner {
 public:
  explicit Cleaner(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  void operator()(std::string& text) const {
    for (const std::string& folder : folders_) {
      for (std::size_t i = text.find(folder); i != std::string::npos; i = text.find(folder, i)) {
        const std::size_t end = i + folder.size();
        text.erase(i, folder.size() + (end < text.size() && text[end] == '/'));
      }
    }
    text = without_folders(text);
  }

 private:
  std::vector<std::string> folders_;  ///< longest first
};

}  // namespace

StoreContents anonymous(StoreContents contents, HostNumbers* numbers) {
  const Cleaner clean(folders_with_spaces(contents));
  HostNumbers own;
  HostNumbers& hosts = numbers != nullptr ? *numbers : own;
  for (RunRecord& run : contents.runs) {
    std::string& host = run.machine.host;
    host = hosts.emplace(host, "machine " + std::to_string(hosts.size() + 1)).first->second;
    run.suite_folder.clear();
    run.data_folder.clear();
    for (std::string* text :
         {&run.suite_name, &run.suite_text, &run.scope_json, &run.build.flags, &run.build.compiler}) {
      clean(*text);
    }
    for (std::string& reason : run.noise) clean(reason);
  }
  for (ProblemRecord& problem : contents.problems) {
    for (std::string* text : {&problem.name, &problem.family, &problem.source, &problem.error}) clean(*text);
    for (std::string& copy : problem.copies) clean(copy);
  }
  for (SettingRecord& setting : contents.settings) {
    clean(setting.label);
    clean(setting.options_json);
  }
  for (CellRecord& cell : contents.cells) clean(cell.reason);
  for (SuiteState& suite : contents.suites) {
    clean(suite.name);
    clean(suite.filter);
    for (auto& [problem, source] : suite.sources) {
      for (std::string* text : {&source.name, &source.family, &source.source}) clean(*text);
    }
    for (auto& [hash, setting] : suite.settings) clean(setting.label);
  }
  return contents;
}

}  // namespace conebench
