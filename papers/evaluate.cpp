#include "papers/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "reports/text.hpp"

namespace conebench::papers {

namespace {

Value known(double number) { return {number, Gap::none, {}}; }
Value missing(Gap gap, std::string reason) { return {std::nullopt, gap, std::move(reason)}; }

/// A number that did not come out as one.
Value finite(double number, const std::string& what) {
  return std::isfinite(number) ? known(number) : missing(Gap::not_comparable, what);
}

Value of_field(const Expression& field, const Sample& sample) {
  const auto found = sample.numbers.find(field.name);
  if (found != sample.numbers.end()) return known(found->second);
  return missing(Gap::not_comparable, field.name);
}

Value arithmetic(const std::string& op, double a, double b) {
  if (op == "+") return finite(a + b, "an infinite sum");
  if (op == "-") return finite(a - b, "an infinite difference");
  if (op == "*") return finite(a * b, "an infinite product");
  return b == 0.0 ? missing(Gap::not_comparable, "a division by zero") : finite(a / b, "an infinite quotient");
}

Value function(const std::string& name, double x) {
  if (name == "abs") return known(std::abs(x));
  if (name == "sqrt")
    return x < 0.0 ? missing(Gap::not_comparable, "the root of a negative number") : known(std::sqrt(x));
  return x <= 0.0 ? missing(Gap::not_comparable, "the logarithm of what is not positive") : known(std::log10(x));
}

bool compare(const std::string& op, double a, double b) {
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return (a == b) == (op == "=");
}

long problems_in(const Selection& samples) {
  std::set<std::string> problems;
  for (const Sample* const sample : samples) problems.insert(sample->group("problem"));
  return static_cast<long>(problems.size());
}

/// Evaluates over one selection, or within a reduction over single samples.
class Evaluator {
 public:
  Evaluation run(const Expression& expression, const Selection& samples) {
    out_.value = value(expression, samples, nullptr);
    return std::move(out_);
  }

 private:
  /// `sample`: what fields are of; null outside reductions over samples.
  Value value(const Expression& expression, const Selection& samples, const Sample* sample) {
    switch (expression.operation) {
      case Operation::literal: return known(expression.number);
      case Operation::field: return of_field(expression, *sample);
      case Operation::reduction: return reduction(expression, samples);
      case Operation::conjunction:
      case Operation::disjunction: return logic(expression, samples, sample);
      default: return operation(expression, samples, sample);
    }
  }

  Value operation(const Expression& expression, const Selection& samples, const Sample* sample) {
    std::vector<double> operands;
    for (const Expression& part : expression.parts) {
      Value operand = value(part, samples, sample);
      if (!operand.known()) return operand;
      operands.push_back(*operand.number);
    }
    switch (expression.operation) {
      case Operation::negate: return known(-operands[0]);
      case Operation::negation: return known(operands[0] == 0.0 ? 1.0 : 0.0);
      case Operation::function: return function(expression.name, operands[0]);
      case Operation::arithmetic: return arithmetic(expression.name, operands[0], operands[1]);
      default: break;
    }
    const bool holds = compare(expression.name, operands[0], operands[1]);
    if (sample == nullptr && depth_ == 0) {
      const auto side = [&](std::size_t i) -> Comparison::Side {
        const Expression& part = expression.parts[i];
        return {part.text, operands[i], part.operation == Operation::literal, part};
      };
      out_.comparisons.push_back({side(0), side(1), expression.name, holds});
    }
    return known(holds ? 1.0 : 0.0);
  }

  Value logic(const Expression& expression, const Selection& samples, const Sample* sample) {
    const double decides = expression.operation == Operation::disjunction ? 1.0 : 0.0;
    const Value left = value(expression.parts[0], samples, sample);
    const Value right = value(expression.parts[1], samples, sample);
    if (left.known() && *left.number == decides) return left;
    if (right.known() && *right.number == decides) return right;
    return left.known() ? right : left;
  }

  /// Keeps the samples for which the reduction's condition holds. Gives what is missing where a sample does not decide
  /// it.
  Value apply_condition(const Expression& reduction, Selection& samples) {
    if (reduction.condition.empty()) return {};
    Selection kept;
    ++depth_;
    std::vector<double> holds;
    const Value failed = collect_samples(reduction.condition.front(), samples, holds);
    --depth_;
    if (failed.gap != Gap::none) return failed;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (holds[i] != 0.0) kept.push_back(samples[i]);
    }
    samples = std::move(kept);
    return {};
  }

  /// The samples of the groups that `having` holds of. A group that lacks the cells is not one of them.
  Value apply_having(const Expression& reduction, Selection& samples) {
    if (reduction.of_groups.empty()) return {};
    using Names = std::pair<std::string, std::string>;
    const auto names = [&](const Sample& sample) {
      return Names{reduction.outer_key.empty() ? "" : sample.group(reduction.outer_key), sample.group(reduction.key)};
    };
    std::map<Names, Selection> groups;
    for (const Sample* const sample : samples) groups[names(*sample)].push_back(sample);
    std::set<Names> left_out;
    for (const auto& [group, members] : groups) {
      ++depth_;
      Value kept = value(reduction.of_groups.front(), members, nullptr);
      --depth_;
      if (kept.gap == Gap::not_comparable) return named(std::move(kept), reduction.key, group.second);
      if (!kept.holds()) left_out.insert(group);
    }
    std::erase_if(samples, [&](const Sample* sample) { return left_out.contains(names(*sample)); });
    return {};
  }

  Value reduction(const Expression& expression, const Selection& all) {
    Selection samples = select(all, expression.where);
    if (Value failed = apply_condition(expression, samples); failed.gap != Gap::none) return failed;
    if (Value failed = apply_having(expression, samples); failed.gap != Gap::none) return failed;
    if (depth_ == 0) {
      const long problems = problems_in(samples);
      const auto cells = static_cast<long>(samples.size());
      out_.min_problems = out_.min_problems < 0 ? problems : std::min(out_.min_problems, problems);
      out_.min_cells = out_.min_cells < 0 ? cells : std::min(out_.min_cells, cells);
    }
    if (samples.empty()) {
      const std::string where = expression.where_text.empty() ? "" : fmt::format(" fits {{{}}}", expression.where_text);
      return missing(Gap::not_run, fmt::format("no cell{}", where.empty() ? " was measured or fits" : where));
    }
    if (!expression.outer_key.empty()) return of_groups_of_groups(expression, samples);
    return over(expression, samples);
  }

  /// The reduction of what is selected.
  Value over(const Expression& expression, const Selection& samples) {
    const bool quantile = expression.name == "quantile";
    const std::size_t collected = quantile ? 1 : expression.parts.size();
    std::vector<std::vector<double>> columns(collected);
    ++depth_;
    Value failed;
    for (std::size_t i = 0; i < collected && failed.gap == Gap::none; ++i) {
      failed = collect(expression, expression.parts[i], samples, columns[i]);
    }
    --depth_;
    if (failed.gap != Gap::none) return failed;
    return reduced(expression, columns);
  }

  /// Each of the outer groups has the weight of one.
  Value of_groups_of_groups(const Expression& expression, const Selection& samples) {
    std::vector<double> values;
    for (const auto& [name, members] : grouped(expression.outer_key, samples)) {
      Value one = over(expression, members);
      if (!one.known()) return named(std::move(one), expression.outer_key, name);
      values.push_back(*one.number);
    }
    return reduce(expression.name == "share" ? "mean" : expression.name, values);
  }

  static std::map<std::string, Selection> grouped(const std::string& key, const Selection& samples) {
    std::map<std::string, Selection> groups;
    for (const Sample* const sample : samples) groups[sample->group(key)].push_back(sample);
    return groups;
  }
  static Value named(Value value, const std::string& key, const std::string& name) {
    value.reason = fmt::format("{} {}: {}", key, name, value.reason);
    return value;
  }

  static Value reduced(const Expression& expression, const std::vector<std::vector<double>>& columns) {
    const std::vector<double>& values = columns.front();
    if (expression.name == "count" || expression.name == "share") {
      const auto held =
          static_cast<double>(std::count_if(values.begin(), values.end(), [](double v) { return v != 0.0; }));
      return known(expression.name == "count" ? held : held / static_cast<double>(values.size()));
    }
    if (expression.name == "quantile") return reduce("quantile", values, {}, expression.parts[1].number);
    return reduce(expression.name, values, columns.size() > 1 ? columns[1] : std::vector<double>{});
  }

  /// One value a sample, or one a group; where some have none, that.
  Value collect(const Expression& reduction, const Expression& part, const Selection& samples,
                std::vector<double>& into) {
    return reduction.key.empty() ? collect_samples(part, samples, into)
                                 : collect_groups(reduction, part, samples, into);
  }
  Value collect_samples(const Expression& part, const Selection& samples, std::vector<double>& into) {
    std::size_t without = 0;
    std::string reason;
    for (const Sample* const sample : samples) {
      const Value one = value(part, samples, sample);
      if (one.known()) {
        into.push_back(*one.number);
      } else {
        ++without;
        reason = one.reason;
      }
    }
    if (without == 0) return {};
    return missing(Gap::not_comparable, fmt::format("{} of {} lack a value: {}", without,
                                                    plural(static_cast<long>(samples.size()), "cell"), reason));
  }
  Value collect_groups(const Expression& reduction, const Expression& part, const Selection& samples,
                       std::vector<double>& into) {
    for (const auto& [name, members] : grouped(reduction.key, samples)) {
      Value one = value(part, members, nullptr);
      if (!one.known()) return named(std::move(one), reduction.key, name);
      into.push_back(*one.number);
    }
    return {};
  }

  Evaluation out_;
  int depth_ = 0;  ///< of reductions
};

}  // namespace

std::string number_text(double number) {
  constexpr double too_long = 1e7;
  const bool whole = number == std::round(number) && std::abs(number) < too_long;
  return whole ? fmt::format("{:.0f}", number + 0.0) : reports::human_number(number);
}

Selection select(const std::vector<Sample>& samples, const CellFilter& filter) {
  Selection selected;
  for (const Sample& sample : samples) {
    if (filter.holds(sample.subject)) selected.push_back(&sample);
  }
  return selected;
}

Selection select(const Selection& samples, const CellFilter& filter) {
  Selection selected;
  for (const Sample* const sample : samples) {
    if (filter.holds(sample->subject)) selected.push_back(sample);
  }
  return selected;
}

Evaluation evaluate(const Expression& expression, const Selection& samples) {
  return Evaluator().run(expression, samples);
}

}  // namespace conebench::papers
