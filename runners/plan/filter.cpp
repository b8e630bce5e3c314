#include "runners/plan/filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "base/glob.hpp"
#include "base/suggestion.hpp"
#include "base/utf8.hpp"
#include "metrics/features.hpp"

namespace conebench {

namespace {

constexpr std::size_t max_filter = 1 << 16;

using TextField = std::optional<std::string> FilterSubject::*;
using NumberField = std::optional<double> FilterSubject::*;

/// What categories match: a name's category, or a pattern with blanks as in their names.
std::string category_pattern(std::string value) {
  if (const auto category = category_of(value)) return to_string(*category);
  std::replace(value.begin(), value.end(), '-', ' ');
  return value;
}

const std::map<std::string, TextField>& text_fields() {
  static const std::map<std::string, TextField> fields = {{"category", &FilterSubject::category},
                                                          {"family", &FilterSubject::family},
                                                          {"kind", &FilterSubject::kind},
                                                          {"problem", &FilterSubject::problem},
                                                          {"configuration", &FilterSubject::configuration},
                                                          {"solver", &FilterSubject::solver},
                                                          {"source", &FilterSubject::source}};
  return fields;
}

/// The same with those that only stored cells have.
const std::map<std::string, TextField>& stored_text_fields() {
  static const std::map<std::string, TextField> fields = [] {
    auto all = text_fields();
    all.insert({{"reason", &FilterSubject::reason},
                {"solved", &FilterSubject::solved},
                {"start", &FilterSubject::start},
                {"status", &FilterSubject::status}});
    return all;
  }();
  return fields;
}

const std::map<std::string, NumberField>& number_fields() {
  static const std::map<std::string, NumberField> fields = {{"conditioning", &FilterSubject::conditioning},
                                                            {"contacts", &FilterSubject::contacts},
                                                            {"intervals", &FilterSubject::intervals},
                                                            {"joints", &FilterSubject::joints},
                                                            {"limits", &FilterSubject::limits},
                                                            {"mu", &FilterSubject::mu},
                                                            {"rows", &FilterSubject::rows},
                                                            {"tolerance", &FilterSubject::tolerance}};
  return fields;
}

/// The values of a field that has a closed list: any other is a typing error.
std::vector<std::string> known_values(const std::string& field) {
  if (field == "category") return category_names();
  if (field == "solved") return {"yes", "no"};
  if (field == "status") {
    std::vector<std::string> names;
    for (const CellStatusRow& row : cell_status_table()) names.emplace_back(row.name);
    return names;
  }
  if (field != "kind") return {};
  return {"local",          "global", "mixed_local", "mixed_global", "local_rolling",
          "global_rolling", "blocks", "generated",   "unknown"};
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Splits at && outside double quotes.
std::vector<std::string> split_terms(const std::string& expression) {
  std::vector<std::string> terms(1);
  bool quoted = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '"') quoted = !quoted;
    if (!quoted && expression.compare(i, 2, "&&") == 0) {
      terms.emplace_back();
      ++i;
    } else {
      terms.back() += expression[i];
    }
  }
  return terms;
}

bool has_or(const std::string& term) {
  bool quoted = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '"') quoted = !quoted;
    if (!quoted && term.compare(i, 2, "||") == 0) return true;
  }
  return false;
}

}  // namespace

Result<CellFilter::Term> CellFilter::parse_term(const std::string& term, const FilterRules& rules) {
  const auto usage = [&rules](const std::string& about, const std::string& what) {
    return Error{ErrorCode::wrong_usage, fmt::format("{}: '{}': {}", rules.where, shorten(about, 200), what)};
  };
  const auto& texts = rules.of_stored_cells ? stored_text_fields() : text_fields();
  if (has_or(term)) return usage(term, "only && joins terms; ~ with a|b takes either of two texts");
  const auto at = term.find_first_of("=!<>~");
  if (at == std::string::npos) return usage(term, "has no operator; write for instance family=Capsules");
  const std::string field = trimmed(term.substr(0, at));
  const bool of_outcome = stored_text_fields().contains(field) && !text_fields().contains(field);
  if (of_outcome && !rules.of_stored_cells) {
    return usage(term, fmt::format("'{}' is of cells that have run, and here cells are chosen that are to run; `report "
                                   "--filter` knows it, `run --retry STATUS` runs such cells again",
                                   field));
  }
  needs_outcome_ = needs_outcome_ || of_outcome;
  needs_features_ = needs_features_ || field == "category" || field == "conditioning";
  needs_contents_ = needs_contents_ || field == "category" || field == "kind" ||
                    (field != "tolerance" && number_fields().contains(field));
  std::string op = term.substr(at, 1);
  if (at + 1 < term.size() && op != "=" && op != "~" && (term[at + 1] == '=' || (op == "!" && term[at + 1] == '~'))) {
    op += term[at + 1];
  }
  if (op == "=" && at + 1 < term.size() && term[at + 1] == '=') return usage(term, "'==' is no operator; write =");
  if (op == "!") return usage(term, "'!' alone is no operator; write != or !~");
  std::string value = trimmed(term.substr(at + op.size()));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);

  if (const auto text = texts.find(field); text != texts.end()) {
    const TextField member = text->second;
    const bool negated = op.front() == '!';
    if (op == "=" || op == "!=") {
      const std::string given = value;
      if (field == "category") value = category_pattern(value);
      if (field == "solved" && (value == "true" || value == "1")) value = "yes";
      if (field == "solved" && (value == "false" || value == "0")) value = "no";
      const auto names = known_values(field);
      if (!names.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
            return name == value || matches_wildcards(value, name);
          })) {
        if (field == "category") return usage(term, unknown_category(given));
        return usage(term, fmt::format("no {} is called '{}'; {}known: {}", field, value, did_you_mean(value, names),
                                       fmt::join(names, ", ")));
      }
      if (!negated) named_.emplace_back(field, value);
      return Term([member, value, negated](const FilterSubject& subject) {
        const auto& known = subject.*member;
        return !known || (*known == value || matches_wildcards(value, *known)) != negated;
      });
    }
    if (op != "~" && op != "!~") return usage(term, "a text takes =, !=, ~ and !~");
    const auto pattern = std::make_shared<const RE2>(value, RE2::Quiet);
    if (!pattern->ok()) {
      return usage(
          term, fmt::format("'{}' is no regular expression: {}", shorten(value, 60), shorten(pattern->error(), 200)));
    }
    return Term([member, pattern, negated](const FilterSubject& subject) {
      const auto& known = subject.*member;
      return !known || RE2::PartialMatch(*known, *pattern) != negated;
    });
  }
  const auto number = number_fields().find(field);
  if (number == number_fields().end()) {
    std::string known;
    for (const auto& [name, unused] : texts) known += name + ", ";
    for (const auto& [name, unused] : number_fields()) known += name + ", ";
    return usage(term, fmt::format("unknown field '{}'; known: {}", field, known.substr(0, known.size() - 2)));
  }
  double bound = 0.0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), bound);
  if (parsed.ec != std::errc{} || parsed.ptr != value.data() + value.size()) {
    return usage(term, fmt::format("'{}' is no number", value));
  }
  const std::map<std::string, bool (*)(double, double)> comparisons = {
      {"=", [](double a, double b) { return a == b; }}, {"!=", [](double a, double b) { return a != b; }},
      {"<", [](double a, double b) { return a < b; }},  {"<=", [](double a, double b) { return a <= b; }},
      {">", [](double a, double b) { return a > b; }},  {">=", [](double a, double b) { return a >= b; }}};
  const auto comparison = comparisons.find(op);
  if (comparison == comparisons.end()) return usage(term, "a number takes =, !=, <, <=, > and >=");
  return Term([member = number->second, compare = comparison->second, bound](const FilterSubject& subject) {
    const auto& known = subject.*member;
    return !known || compare(*known, bound);
  });
}

Result<CellFilter> CellFilter::parse(const std::string& expression, const FilterRules& rules) {
  CellFilter filter;
  if (trimmed(expression).empty()) return filter;
  if (expression.size() > max_filter) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("{}: '{}': is longer than {} bytes", rules.where, shorten(expression, 40), max_filter)};
  }
  for (const std::string& part : split_terms(expression)) {
    CONEBENCH_TRY(auto term, filter.parse_term(trimmed(part), rules));
    filter.terms_.push_back(std::move(term));
  }
  return filter;
}

bool CellFilter::holds(const FilterSubject& subject) const {
  for (const Term& term : terms_) {
    if (!term(subject)) return false;
  }
  return true;
}

FilterSubject subject_of(const ProblemRecord& problem) {
  FilterSubject subject;
  subject.family = problem.family;
  subject.problem = problem.name;
  subject.source = problem.source;
  subject.kind = problem.kind;
  subject.category = problem.category;
  subject.contacts = static_cast<double>(problem.contacts);
  subject.joints = static_cast<double>(problem.joints);
  subject.limits = static_cast<double>(problem.limits);
  subject.intervals = static_cast<double>(problem.intervals);
  subject.rows = static_cast<double>(problem.rows);
  subject.mu = problem.mu_max;
  subject.conditioning = problem.conditioning.value_or(std::numeric_limits<double>::quiet_NaN());
  return subject;
}

namespace {

std::optional<std::string> if_known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Of a problem that the store has no record of only names are known.
FilterSubject subject_of(const NamedSource& named) {
  FilterSubject subject;
  subject.family = if_known(named.family);
  subject.problem = if_known(named.name);
  subject.source = named.source;
  return subject;
}

void filter_state(SuiteState& suite, const CellFilter& filter, const std::map<std::string, FilterSubject>& subjects,
                  const std::map<std::string, const ConfigurationRecord*>& configurations,
                  const std::string& expression) {
  const auto fits = [&](const WantedCell& cell) {
    FilterSubject subject;
    if (const auto known = subjects.find(cell.problem); known != subjects.end()) {
      subject = known->second;
    } else if (const auto named = suite.sources.find(cell.problem); named != suite.sources.end()) {
      subject = subject_of(named->second);
    }
    subject.solver.reset();
    subject.configuration.reset();
    if (const auto known = configurations.find(cell.configuration); known != configurations.end()) {
      subject.solver = known->second->solver;
      subject.configuration = known->second->label;
    } else if (const auto named = suite.configurations.find(cell.configuration); named != suite.configurations.end()) {
      subject.solver = if_known(named->second.solver);
      subject.configuration = if_known(named->second.label);
    }
    subject.tolerance = cell.tolerance;
    return filter.holds(subject);
  };
  if (filter.needs_outcome()) {
    // What has not run has not ended in any way; and then nothing asks which cells are there.
    suite.present.clear();
    suite.missing.clear();
  }
  std::erase_if(suite.present, [&](const WantedCell& cell) { return !fits(cell); });
  std::erase_if(suite.missing, [&](const WantedCell& cell) { return !fits(cell); });
  if (filter.needs_contents()) {
    for (const WantedCell& cell : suite.missing) {
      if (!subjects.contains(cell.problem)) suite.known_by_name.insert(cell.problem);
    }
  }
  suite.filter = expression;
}

}  // namespace

StoreContents filtered(StoreContents contents, const CellFilter& filter, const std::string& expression) {
  std::map<std::string, FilterSubject> subjects;
  for (const ProblemRecord& problem : contents.problems) subjects[problem.hash] = subject_of(problem);
  std::map<std::string, const ConfigurationRecord*> configurations;
  for (const ConfigurationRecord& configuration : contents.configurations)
    configurations[configuration.hash] = &configuration;
  std::set<std::string> used;
  std::erase_if(contents.cells, [&](const CellRecord& cell) {
    FilterSubject& subject = subjects[cell.problem];
    if (const auto configuration = configurations.find(cell.configuration); configuration != configurations.end()) {
      subject.solver = configuration->second->solver;
      subject.configuration = configuration->second->label;
    }
    subject.tolerance = cell.tolerance;
    subject.status = to_string(cell.status);
    subject.reason = cell.reason;
    subject.start = cell.start;
    subject.solved = cell.solved ? "yes" : "no";
    if (!filter.holds(subject)) return true;
    used.insert(cell.problem);
    return false;
  });
  std::erase_if(contents.problems, [&](const ProblemRecord& problem) { return !used.contains(problem.hash); });
  contents.filter += (contents.filter.empty() ? "" : ", ") + expression;
  for (SuiteState& suite : contents.suites) filter_state(suite, filter, subjects, configurations, expression);
  return contents;
}

std::string misspelt(const CellFilter& filter, const std::set<std::string>& solvers,
                     const std::set<std::string>& families) {
  for (const auto& [field, value] : filter.named()) {
    if (field != "solver" && field != "family") continue;
    const std::set<std::string>& known = field == "solver" ? solvers : families;
    if (known.contains(value)) continue;
    if (value.find(',') != std::string::npos) {
      std::string either = value;
      std::erase(either, ' ');
      std::replace(either.begin(), either.end(), ',', '|');
      return fmt::format("did you mean '{}~^({})$'? ", field, either);
    }
    if (std::string meant = did_you_mean(value, {known.begin(), known.end()}); !meant.empty()) return meant;
  }
  return {};
}

}  // namespace conebench
