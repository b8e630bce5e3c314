#include "papers/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "metrics/residuals.hpp"
#include "papers/sample.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

const std::map<std::string, std::string> relation_words = {
    {"<", "below"}, {"<=", "at most"}, {">", "above"}, {">=", "at least"}, {"=", "equal to"}, {"!=", "different from"}};

const FieldInfo* known_field(const std::string& name) {
  const auto found = std::ranges::find(field_table(), name, &FieldInfo::name);
  return found == field_table().end() ? nullptr : &*found;
}

/// Units that names of steps' and runs' fields end with.
constexpr std::array<std::pair<const char*, const char*>, 5> suffixes{
    {{"_ms", "ms"}, {"_J", "J"}, {"_N", "N"}, {"_s", "s"}, {"_mb", "MB"}}};

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '.', ' ');
  return name;
}

/// "scene.mass_ratio" → "mass ratio", "step.kinetic_J" → "kinetic".
std::string field_noun(const std::string& name) {
  if (const FieldInfo* const field = known_field(name); field != nullptr && !field->noun.empty()) return field->noun;
  const auto of_name = [&](const ResidualInfo& residual) { return residual.name == name; };
  if (std::ranges::any_of(residual_table(), of_name)) {
    const bool says_so = name.find("map") != std::string::npos || name.find("error") != std::string::npos;
    return spaced(name) + (says_so ? "" : " residual");
  }
  const std::size_t dot = name.find('.');
  std::string own = dot == std::string::npos ? name : name.substr(dot + 1);
  if (dot != std::string::npos) {
    if (const FieldInfo* const field = known_field(own); field != nullptr && !field->noun.empty()) return field->noun;
    for (const auto& [suffix, unit] : suffixes) {
      const std::string ending = suffix;
      if (!own.ends_with(ending)) continue;
      return spaced(own.substr(0, own.size() - ending.size())) + (ending == "_J" ? " energy" : "");
    }
  }
  return spaced(own);
}

std::string unit_of(const Expression& expression) {
  switch (expression.operation) {
    case Operation::field: {
      if (const FieldInfo* const field = known_field(expression.name)) return field->unit;
      for (const auto& [suffix, unit] : suffixes) {
        if (expression.name.find('.') != std::string::npos && expression.name.ends_with(suffix)) return unit;
      }
      return {};
    }
    case Operation::reduction: {
      if (expression.name == "share") return "%";
      const bool has_none = expression.name == "count" || expression.name == "slope" ||
                            expression.name == "rank_correlation" || expression.parts.empty();
      return has_none ? std::string() : unit_of(expression.parts.front());
    }
    case Operation::function: return expression.name == "abs" ? unit_of(expression.parts.front()) : std::string();
    case Operation::negate: return unit_of(expression.parts.front());
    case Operation::arithmetic: {
      if (expression.name == "+" || expression.name == "-") {
        const std::string unit = unit_of(expression.parts[0]);
        return unit.empty() ? unit_of(expression.parts[1]) : unit;
      }
      // A thousand is another unit, not a multiple.
      const double factor = expression.parts[0].number;
      const bool by_number = expression.name == "*" && expression.parts[0].operation == Operation::literal &&
                             factor < 1000.0 && factor > 0.001;
      return by_number ? unit_of(expression.parts[1]) : std::string();
    }
    default: return {};
  }
}

std::string truth_clause(const Expression& truth);

std::string in_brackets(const Expression& expression, const std::string& text) {
  return expression.operation == Operation::arithmetic ? "(" + text + ")" : text;
}

/// Of single cells, or of values: "|velocity − 1|".
std::string formula(const Expression& expression) {
  switch (expression.operation) {
    case Operation::literal: return number_text(expression.number);
    case Operation::field: return field_noun(expression.name);
    case Operation::negate: return "−" + formula(expression.parts[0]);
    case Operation::function: {
      const std::string inner = formula(expression.parts[0]);
      if (expression.name == "abs") return "|" + inner + "|";
      return expression.name == "sqrt" ? "√(" + inner + ")" : "log10(" + inner + ")";
    }
    case Operation::arithmetic: {
      const std::string op = expression.name == "-" ? "−" : expression.name == "*" ? "·" : expression.name;
      return fmt::format("{} {} {}", in_brackets(expression.parts[0], formula(expression.parts[0])), op,
                         in_brackets(expression.parts[1], formula(expression.parts[1])));
    }
    case Operation::reduction: return describe(expression);
    default: return truth_clause(expression);
  }
}

/// "solved", "not converged", "of which the mass ratio is at least 1000".
std::string truth_clause(const Expression& truth) {
  switch (truth.operation) {
    case Operation::field: return field_noun(truth.name);
    case Operation::negation: return "not " + truth_clause(truth.parts[0]);
    case Operation::conjunction: return truth_clause(truth.parts[0]) + " and " + truth_clause(truth.parts[1]);
    case Operation::disjunction: return truth_clause(truth.parts[0]) + " or " + truth_clause(truth.parts[1]);
    case Operation::comparison:
      return fmt::format("{} {} {}", formula(truth.parts[0]),
                         truth.name == "<="   ? "≤"
                         : truth.name == ">=" ? "≥"
                         : truth.name == "!=" ? "≠"
                                              : truth.name,
                         formula(truth.parts[1]));
    default: return formula(truth);
  }
}

/// The terms of a selection, "solver=NSGS && tolerance=1e-4"; nothing where it is more than terms joined by &&.
struct Term {
  std::string key, relation, value;
};
std::optional<std::vector<Term>> terms_of(const std::string& text) {
  std::vector<Term> terms;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("&&", begin), text.size());
    std::string word = text.substr(begin, end - begin);
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    const std::size_t key_end = word.find_first_of("=~!<>");
    if (key_end == std::string::npos || key_end == 0 || word.find("||") != std::string::npos) return std::nullopt;
    const std::size_t value = word.find_first_not_of("=~!<>", key_end);
    if (value == std::string::npos) return std::nullopt;
    terms.push_back({word.substr(0, key_end), word.substr(key_end, value - key_end), word.substr(value)});
    begin = end + 2;
  }
  return terms;
}

/// "^(A|B)$" → "A and B", "^SICONOS-" → "SICONOS-*"; other patterns as they are.
std::string pattern_text(std::string value) {
  const bool at_begin = value.starts_with('^'), at_end = value.ends_with('$');
  if (at_begin) value.erase(0, 1);
  if (at_end) value.pop_back();
  std::string rest;
  if (value.starts_with('(') && value.ends_with(')')) value = value.substr(1, value.size() - 2);
  if (value.find_first_of("()[]+?.\\") != std::string::npos) return value;
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    names.push_back(value.substr(begin, end - begin) + (at_end ? "" : "*"));
    begin = end + 1;
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return (at_begin ? "" : "*") + text;
}

/// "PGS-NCP at 1e-4 on Chain"; of what is selected.
struct Selected {
  std::string who;   ///< solver or configuration
  std::string rest;  ///< with a blank in front
};
Selected selected(const std::string& where, bool of_simulation) {
  const auto terms = terms_of(where);
  if (!terms) return {"", " {" + where + "}"};
  Selected text;
  for (const Term& term : *terms) {
    std::string value = term.value;
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
    if (term.relation.ends_with('~')) value = pattern_text(value);
    std::ranges::replace(value, '_', ' ');
    if (term.relation.starts_with('!')) value = "all but " + value;
    const bool is_equal =
        term.relation == "=" || term.relation == "~" || term.relation == "!=" || term.relation == "!~";
    const bool names_who =
        term.key == "solver" || term.key == "configuration" || (of_simulation && term.key == "family");
    if (names_who && is_equal) {
      text.who += (text.who.empty() ? "" : ", ") + value;
    } else if (term.key == "tolerance") {
      text.rest += is_equal ? " at " + value : fmt::format(" at {} {}", relation_words.at(term.relation), value);
    } else if (term.key == "family" || term.key == "category" || term.key == "problem" || term.key == "source") {
      text.rest += " on " + value;
    } else if (term.key == "start") {
      text.rest += value == "cold" ? ", cold" : value == "previous" ? ", warm" : ", start " + value;
    } else if (term.key == "reason" || term.key == "status") {
      text.rest += fmt::format(" ({})", spaced(value));
    } else {
      text.rest += fmt::format(", {} {} {}", spaced(term.key), term.relation, value);
    }
  }
  return text;
}

/// Whether it is about steps of simulations or runs of commands, whose families are the names of these.
bool is_of_simulation(const Expression& expression) {
  if (expression.operation == Operation::field) {
    return expression.name.starts_with("step.") || expression.name.starts_with("run.");
  }
  return std::ranges::any_of(expression.parts, is_of_simulation);
}
Selected selected(const Expression& reduction) { return selected(reduction.where_text, is_of_simulation(reduction)); }

/// What is reduced, in front of "of WHO": "the mean number of iterations".
std::string reduced_noun(const Expression& reduction);

/// Of an argument of slope: the noun below a logarithm, if there is one.
std::optional<std::string> below_logarithm(const Expression& part) {
  const Expression* inner = &part;
  if (inner->operation == Operation::reduction && !inner->parts.empty()) inner = &inner->parts.front();
  if (inner->operation != Operation::function || inner->name != "log10") return std::nullopt;
  return formula(inner->parts.front());
}

bool is_simple(const Expression& part) { return part.operation == Operation::field; }

std::string reduced_noun(const Expression& reduction) {
  static const std::map<std::string, std::string> adjectives = {
      {"max", "largest"}, {"mean", "mean"}, {"median", "median"},
      {"min", "least"},   {"sum", "total"}, {"geometric_mean", "geometric mean"}};
  const Expression& first = reduction.parts.front();
  if (reduction.name == "share" || reduction.name == "count") {
    const char* const what = reduction.name == "share" ? "share" : "number";
    const bool of_cells = first.operation == Operation::field && first.name == "cells";
    std::string text = of_cells ? fmt::format("the {} of cells", what)
                       : first.operation == Operation::comparison || first.operation == Operation::reduction
                           ? fmt::format("the {} with {}", what, truth_clause(first))
                           : fmt::format("the {} {}", what, truth_clause(first));
    return text;
  }
  if (reduction.name == "slope") {
    const auto x = below_logarithm(first), y = below_logarithm(reduction.parts[1]);
    return x && y ? fmt::format("the exponent with which the {} grows with the {}", *y, *x)
                  : fmt::format("the slope of {} over {}", y ? "log10 of the " + *y : formula(reduction.parts[1]),
                                x ? "log10 of the " + *x : formula(first));
  }
  if (reduction.name == "rank_correlation") {
    return fmt::format("the rank correlation of {} and {}", formula(first), formula(reduction.parts[1]));
  }
  if (reduction.name == "quantile") {
    return fmt::format("the {} % quantile of the {}", number_text(100.0 * reduction.parts[1].number), formula(first));
  }
  if (reduction.name == "sd") return fmt::format("the standard deviation of the {}", formula(first));
  const std::string& adjective = adjectives.at(reduction.name);
  const bool needs_of = !is_simple(first);
  if (!needs_of) return fmt::format("the {} {}", adjective, formula(first));
  return reduction.name == "max" || reduction.name == "min"
             ? fmt::format("the {} value of {}", adjective, formula(first))
             : fmt::format("the {} of {}", adjective, formula(first));
}

/// What stands behind "of WHO": groups, conditions.
std::string reduction_rest(const Expression& reduction) {
  std::string text;
  if (!reduction.outer_key.empty()) {
    text += fmt::format(" (over each {}, then over each {})", reduction.key, reduction.outer_key);
  } else if (!reduction.key.empty() && reduction.name != "slope") {
    text += fmt::format(" (over each {})", spaced(reduction.key));
  }
  if (!reduction.condition.empty()) text += " where " + truth_clause(reduction.condition.front());
  return text;
}

/// "by NSGS" of what a solver does, "of NSGS" of what it has.
std::string possessive(const Expression& reduction, const std::string& who) {
  if (who.empty()) return {};
  const Expression& first = reduction.parts.front();
  const bool is_deed = (reduction.name == "share" || reduction.name == "count") &&
                       first.operation == Operation::field && (first.name == "solved" || first.name == "model_solved");
  return (is_deed ? " by " : " of ") + who;
}

std::string upper_first(std::string text) { return reports::capital(std::move(text)); }

}  // namespace

std::string describe(const Expression& expression) {
  if (expression.operation != Operation::reduction) {
    if (expression.operation == Operation::arithmetic && expression.name == "/") {
      return fmt::format("the ratio of {} to {}", formula(expression.parts[0]), formula(expression.parts[1]));
    }
    if (expression.operation == Operation::arithmetic && expression.name == "*" &&
        expression.parts[0].operation == Operation::literal) {
      return fmt::format("{} times {}", number_text(expression.parts[0].number), formula(expression.parts[1]));
    }
    return formula(expression);
  }
  const Selected who = selected(expression);
  return reduced_noun(expression) + possessive(expression, who.who) + who.rest + reduction_rest(expression);
}

std::string quantity_text(const Expression& expression, double value) {
  const std::string unit = unit_of(expression);
  if (unit == "%") return reports::human_share(value);
  const std::string shortest = reports::human_tolerance(value);
  const bool is_power = value > 0.0 && value < 1e-3 && shortest.starts_with("1e");
  return (is_power ? shortest : number_text(value)) + (unit.empty() ? "" : " " + unit);
}

std::string comparison_text(const Comparison& comparison) {
  const Comparison::Side &left = comparison.left, &right = comparison.right;
  const std::string& relation = relation_words.at(comparison.relation);
  if (right.literal) {
    return upper_first(fmt::format("{} is {} (claimed: {} {})", describe(left.expression),
                                   quantity_text(left.expression, left.value), relation,
                                   quantity_text(left.expression, right.value)));
  }
  const bool both_reduced =
      left.expression.operation == Operation::reduction && right.expression.operation == Operation::reduction;
  if (both_reduced) {
    const Selected a = selected(left.expression), b = selected(right.expression);
    const std::string noun = reduced_noun(left.expression), rest = reduction_rest(left.expression);
    if (noun == reduced_noun(right.expression) && rest == reduction_rest(right.expression) && !b.who.empty()) {
      return upper_first(fmt::format("{}{}{}{} is {},{}{} {} (claimed: {})", noun, possessive(left.expression, a.who),
                                     a.rest, rest, quantity_text(left.expression, left.value),
                                     possessive(right.expression, b.who), b.rest == a.rest ? "" : b.rest,
                                     quantity_text(right.expression, right.value), relation));
    }
  }
  return upper_first(fmt::format("{} is {}, {} is {} (claimed: {})", describe(left.expression),
                                 quantity_text(left.expression, left.value), describe(right.expression),
                                 quantity_text(right.expression, right.value), relation));
}

std::string finding_text(const std::string& finding, const std::vector<Comparison>& comparisons) {
  std::vector<std::string> values;
  for (const Comparison& comparison : comparisons) {
    for (const Comparison::Side* const side : {&comparison.left, &comparison.right}) {
      if (!side->literal) values.push_back(quantity_text(side->expression, side->value));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < finding.size(); ++i) {
    const std::size_t end = finding[i] == '{' ? finding.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      text += finding[i];
      continue;
    }
    const std::string number = finding.substr(i + 1, end - i - 1);
    const std::size_t k = number.size() < 4 ? std::strtoul(number.c_str(), nullptr, 10) : 0;
    if (k < 1 || k > values.size()) return {};
    text += values[k - 1];
    i = end;
  }
  return text;
}

}  // namespace conebench::papers
