#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "reports/report.hpp"
#include "store/records.hpp"

namespace conebench {

namespace {

/// How a text field is published. Fields that are not listed are left out: free texts of solvers, suites, files or
/// hosts.
enum class Text {
  code,      ///< one of Conebench's own words; anything else is left out
  key,       ///< a hash; anything else is numbered
  numbered,  ///< "problem 3": one number for one text
  version,   ///< digits and dots
  date,
  known_words,  ///< only the words that are known
};
struct Published {
  Text as;
  const char* kind = "";  ///< of what is numbered
};
using Fields = std::map<std::string_view, Published>;

const Fields run_texts = {{"suite_name", {Text::numbered, "suite"}},
                          {"started_utc", {Text::date}},
                          {"finished_utc", {Text::date}},
                          {"mode", {Text::code}},
                          {"side", {Text::code}},
                          {"host", {Text::numbered, "machine"}},
                          {"cpu", {Text::known_words}},
                          {"kernel", {Text::known_words}},
                          {"governor", {Text::code}},
                          {"version", {Text::version}},
                          {"compiler", {Text::known_words}},
                          {"flags", {Text::known_words}},
                          {"type", {Text::known_words}},
                          {"executable", {Text::key, "build"}}};
const Fields problem_texts = {{"hash", {Text::key, "problem"}},
                              {"name", {Text::numbered, "problem"}},
                              {"family", {Text::numbered, "family"}},
                              {"kind", {Text::code}},
                              {"category", {Text::code}},
                              {"duplicate_of", {Text::key, "problem"}},
                              {"given", {Text::code}},
                              {"alias", {Text::key, "problem"}},
                              {"feasibility", {Text::code}},
                              {"sequence", {Text::key, "sequence"}}};
const Fields configuration_texts = {{"hash", {Text::key, "configuration"}},
                                    {"formulation", {Text::known_words}},
                                    {"origin", {Text::code}},
                                    {"checks", {Text::code}},
                                    {"peer_version", {Text::version}},
                                    {"peer_released", {Text::date}}};
const Fields cell_texts = {{"key", {Text::key, "cell"}},
                           {"problem", {Text::key, "problem"}},
                           {"configuration", {Text::key, "configuration"}},
                           {"stop_by", {Text::code}},
                           {"verdict", {Text::code}},
                           {"start", {Text::code}},
                           {"start_used", {Text::code}},
                           {"doubts", {Text::code}}};

template <class Allowed>
std::string if_all(const std::string& text, Allowed allowed) {
  return std::all_of(text.begin(), text.end(), allowed) ? text : std::string();
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

std::string code(const std::string& text) {
  return if_all(text, [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '+'; });
}
std::string version(const std::string& text) {
  return if_all(text, [](char c) { return is_digit(c) || c == '.'; });
}
std::string date(const std::string& text) {
  return if_all(text, [](char c) { return is_digit(c) || std::string_view("TZ:.+- ").find(c) != std::string::npos; });
}

/// Known words of processors, kernels, compilers and flags: enough to compare times, and no names that somebody chose.
bool is_known_word(const std::string& word) {
  static const std::set<std::string, std::less<>> known = {"AMD",
                                                           "Intel(R)",
                                                           "Intel",
                                                           "EPYC",
                                                           "Ryzen",
                                                           "Threadripper",
                                                           "PRO",
                                                           "Xeon(R)",
                                                           "Xeon",
                                                           "Core(TM)",
                                                           "Platinum",
                                                           "Gold",
                                                           "Silver",
                                                           "CPU",
                                                           "@",
                                                           "Processor",
                                                           "ARM",
                                                           "Neoverse-N1",
                                                           "Apple",
                                                           "Linux",
                                                           "GNU",
                                                           "GCC",
                                                           "g++",
                                                           "gcc",
                                                           "Clang",
                                                           "clang",
                                                           "AppleClang",
                                                           "NCP",
                                                           "CCP",
                                                           "LCP",
                                                           "model",
                                                           "Release",
                                                           "Debug",
                                                           "RelWithDebInfo",
                                                           "MinSizeRel",
                                                           "-O0",
                                                           "-O1",
                                                           "-O2",
                                                           "-O3",
                                                           "-Os",
                                                           "-Ofast",
                                                           "-g",
                                                           "-DNDEBUG",
                                                           "-march=native",
                                                           "-mtune=native",
                                                           "-march=x86-64-v2",
                                                           "-march=x86-64-v3",
                                                           "-march=x86-64-v4",
                                                           "-ffast-math",
                                                           "-fno-math-errno",
                                                           "-fno-trapping-math",
                                                           "-ffp-contract=off",
                                                           "-ffp-contract=fast",
                                                           "-fPIC"};
  if (known.contains(word)) return true;
  // "6.1.0", "7763", "i7-9700K", "E5-2690", "v4", "2.60GHz", "64-Core"
  std::string number = word;
  for (const char* begin : {"i3-", "i5-", "i7-", "i9-", "E3-", "E5-", "E7-", "W-", "v"}) {
    if (number.starts_with(begin)) {
      number.erase(0, std::string_view(begin).size());
      break;
    }
  }
  for (const char* end : {"GHz", "-Core", "X3D", "HX", "KF", "X", "K", "F", "H", "U", "P"}) {
    if (number.ends_with(end)) {
      number.resize(number.size() - std::string_view(end).size());
      break;
    }
  }
  return !number.empty() && !version(number).empty();
}

std::string known_words_of(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (is_known_word(word)) out += (out.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return out;
}

/// Replaces each text field of a record by its published form.
class TextFilter {
 public:
  TextFilter(const Fields& fields, Pseudonyms& names) : fields_(fields), names_(names) {}

  template <class Value>
  void operator()(const Field& field, Value& value) {
    const std::string_view name = field.name;
    if constexpr (std::is_same_v<Value, std::string>) {
      value = published(name, value);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      for (std::string& one : value) one = published(name, one);
      std::erase(value, "");
    } else if constexpr (std::is_same_v<Value, std::vector<NoiseRecord>>) {
      for (NoiseRecord& one : value) {
        one.text = one.kind == NoiseKind::governor ? code(one.text) : std::string();
      }
    } else if constexpr (std::is_same_v<Value, std::map<std::string, double>>) {
      std::erase_if(value, [](const auto& item) { return code(item.first).empty(); });
    } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
      // Names and versions of libraries that every Conebench is built with.
      static const std::set<std::string, std::less<>> public_libraries = {
          "Eigen", "HDF5", "SQLite", "MuJoCo", "Siconos", "Ipopt", "UMFPACK", "CHOLMOD", "SuiteSparse", "zlib"};
      std::erase_if(value, [&](const auto& item) {
        return name != "libraries" || !public_libraries.contains(item.first) || version(item.second) != item.second;
      });
    } else {
      static_assert(
          std::is_arithmetic_v<Value> || std::is_enum_v<Value> || std::is_same_v<Value, std::optional<double>> ||
              std::is_same_v<Value, std::optional<std::int64_t>> || std::is_same_v<Value, std::vector<double>>,
          "a new kind of field: say here what is published of it");
    }
  }
  template <class Visit>
  void group(const char*, Visit visit) {
    visit(*this);
  }
  void json_text(const Field&, std::string& text) { text.clear(); }

 private:
  std::string published(std::string_view name, const std::string& text) const {
    const auto field = fields_.find(name);
    if (field == fields_.end() || text.empty()) return {};
    switch (field->second.as) {
      case Text::code: return code(text);
      case Text::key: return names_.key(field->second.kind, text);
      case Text::numbered: return names_.number(field->second.kind, text);
      case Text::version: return version(text);
      case Text::date: return date(text);
      case Text::known_words: return known_words_of(text);
    }
    return {};
  }

  const Fields& fields_;
  Pseudonyms& names_;
};

/// The solver if it is public, with options that are numbers, flags or one of its choices.
void publish(ConfigurationRecord& configuration, Pseudonyms& names) {
  const bool is_public = names.public_names.contains(configuration.solver);
  const auto options = nlohmann::json::parse(configuration.options_json, nullptr, false);
  configuration.solver = names.solver(configuration.solver);
  nlohmann::json kept = nlohmann::json::object();
  std::vector<std::string> changed;
  std::string shown = configuration.solver;
  if (is_public && options.is_object()) {
    for (const auto& [name, value] : options.items()) {
      const bool plain = value.is_number() || value.is_boolean() ||
                         (value.is_string() && names.public_names.contains(value.get<std::string>()));
      if (!plain || code(name).empty()) continue;
      kept[name] = value;
      if (!configuration.sets_option(name)) continue;
      changed.push_back(name);
      shown += fmt::format(" {}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  // By its hash: configurations that differ in what is left out are still distinguished, one configuration has one
  // label.
  configuration.label = names.distinct(shown, configuration.hash);
  TextFilter filter(configuration_texts, names);
  std::string solver = std::move(configuration.solver), text = std::move(configuration.label);
  ConfigurationRecord::fields(filter, configuration);
  configuration.solver = std::move(solver);
  configuration.label = std::move(text);
  configuration.options_json = kept.dump();
  configuration.changed_options = std::move(changed);
}

}  // namespace

std::string Pseudonyms::number(const std::string& kind, const std::string& text) {
  auto& known = numbers_[kind];
  return kind + " " + std::to_string(known.emplace(text, known.size() + 1).first->second);
}

std::string Pseudonyms::key(const std::string& kind, const std::string& text) {
  const std::string hash = if_all(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  return text.empty() || !hash.empty() ? hash : number(kind, text);
}

std::string Pseudonyms::solver(const std::string& id) { return public_names.contains(id) ? id : number("solver", id); }

std::string Pseudonyms::distinct(const std::string& label, const std::string& hash) {
  auto& known = numbers_["label " + label];
  const std::size_t number = known.emplace(hash, known.size() + 1).first->second;
  return number == 1 ? label : fmt::format("{} #{}", label, number);
}

StoreContents anonymous(StoreContents contents, Pseudonyms& names) {
  for (RunRecord& run : contents.runs) {
    TextFilter filter(run_texts, names);
    RunRecord::fields(filter, run);
  }
  for (ProblemRecord& problem : contents.problems) {
    const bool broken = !problem.error.empty();
    const std::size_t copies = problem.copies.size();
    TextFilter filter(problem_texts, names);
    ProblemRecord::fields(filter, problem);
    problem.source = problem.name;
    if (broken) problem.error = "it cannot be loaded";
    problem.copies.assign(copies, problem.name);
  }
  for (ConfigurationRecord& configuration : contents.configurations) publish(configuration, names);
  for (CellRecord& cell : contents.cells) {
    TextFilter filter(cell_texts, names);
    CellRecord::fields(filter, cell);
    ResidualList residuals;
    for (auto [name, residual] : cell.residuals) {
      if (!residual.missing.empty()) residual.missing = "not known";
      if (!code(name).empty()) residuals.set(name, residual);
    }
    cell.residuals = std::move(residuals);
  }
  contents.acceptances.clear();
  for (NamedConfiguration& configuration : contents.own_left_out)
    configuration.label = configuration.solver = names.solver(configuration.solver);
  if (!contents.filter.empty()) contents.filter = "a filter";
  for (SuiteState& suite : contents.suites) {
    const auto wanted = [&](const std::set<WantedCell>& cells) {
      std::set<WantedCell> renamed;
      for (const WantedCell& cell : cells) {
        renamed.insert({names.key("problem", cell.problem), names.key("configuration", cell.configuration),
                        cell.tolerance, code(cell.start)});
      }
      return renamed;
    };
    SuiteState kept;
    kept.name = names.number("suite", suite.name);
    kept.present = wanted(suite.present);
    kept.missing = wanted(suite.missing);
    for (const auto& [problem, source] : suite.sources) {
      const std::string name = names.number("problem", source.name);
      kept.sources[names.key("problem", problem)] = {name, names.number("family", source.family), name};
    }
    for (const auto& [hash, configuration] : suite.configurations) {
      const std::string solver = names.solver(configuration.solver);
      kept.configurations[names.key("configuration", hash)] = {solver, names.distinct(solver, hash)};
    }
    for (const std::string& problem : suite.known_by_name) kept.known_by_name.insert(names.key("problem", problem));
    if (!suite.filter.empty()) kept.filter = "a filter";
    suite = std::move(kept);
  }
  return contents;
}

}  // namespace conebench
