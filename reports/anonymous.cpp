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

void clean(std::string& text) { text = without_folders(text); }

}  // namespace

StoreContents anonymous(StoreContents contents) {
  for (RunRecord& run : contents.runs) {
    run.machine.host = "not told";
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
