#include "papers/language.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/suggestion.hpp"
#include "base/utf8.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

namespace {

constexpr std::size_t max_expression = 10'000;
constexpr int deepest_brackets = 50;

bool is_in(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = {"abs", "log10", "sqrt"};
  return names;
}

/// Reductions of two numbers a sample.
bool takes_pairs(const std::string& reduction) { return reduction == "rank_correlation" || reduction == "slope"; }
/// Those whose value over groups of equal weight is the mean of the groups' own.
bool weighs(const std::string& reduction) {
  return reduction == "geometric_mean" || reduction == "mean" || reduction == "share";
}
bool takes_truth(const std::string& reduction) { return reduction == "count" || reduction == "share"; }

/// Recursive descent; the first complaint is kept.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Result<Expression> whole(Kind wanted) {
    if (text_.size() > max_expression) fail(fmt::format("is longer than {} bytes", max_expression));
    Expression expression = error_ ? Expression{} : disjunction();
    if (!error_ && at_ < text_.size()) fail(fmt::format("'{}' was not expected", rest()));
    if (!error_) require(expression, wanted, "the whole");
    if (!error_) check_scope(expression, false);
    if (error_) return *error_;
    expression.text = text_;
    return expression;
  }

 private:
  void fail(const std::string& what) {
    if (error_) return;
    error_ =
        Error{ErrorCode::wrong_usage, one_line(fmt::format("'{}', column {}: {}", shorten(text_, 80), at_ + 1, what))};
  }
  std::string rest() const { return shorten(text_.substr(at_), 20); }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(const std::string& token) {
    skip_blanks();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  static bool word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }
  std::string peek_word() {
    skip_blanks();
    std::size_t end = at_;
    if (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) return {};
    while (end < text_.size() && word_letter(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(const std::string& word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
  }

  void require(const Expression& part, Kind kind, const std::string& who) {
    if (part.kind == kind) return;
    fail(who + (kind == Kind::number ? " must be a number, not a comparison" : " must be a comparison, not a number"));
  }
  Expression join(Operation operation, Kind kind, const std::string& name, std::vector<Expression> parts) {
    Expression joined;
    joined.operation = operation;
    joined.kind = kind;
    joined.name = name;
    joined.parts = std::move(parts);
    return joined;
  }

  Expression disjunction() {
    Expression left = conjunction();
    while (!error_ && take_word("or")) left = logic(Operation::disjunction, "or", std::move(left), conjunction());
    return left;
  }
  Expression conjunction() {
    Expression left = negation();
    while (!error_ && take_word("and")) left = logic(Operation::conjunction, "and", std::move(left), negation());
    return left;
  }
  Expression logic(Operation operation, const std::string& word, Expression left, Expression right) {
    require(left, Kind::truth, "what stands before '" + word + "'");
    require(right, Kind::truth, "what stands after '" + word + "'");
    return join(operation, Kind::truth, word, {std::move(left), std::move(right)});
  }
  Expression negation() {
    if (!take_word("not")) return comparison();
    Expression part = nested([&] { return negation(); });
    require(part, Kind::truth, "what stands after 'not'");
    return join(Operation::negation, Kind::truth, "not", {std::move(part)});
  }
  /// A side of a comparison, which a report shows with its value.
  Expression side() {
    skip_blanks();
    const std::size_t start = at_;
    Expression expression = sum();
    expression.text = text_.substr(start, at_ - start);
    expression.text.erase(expression.text.find_last_not_of(" \t\n\r") + 1);
    return expression;
  }
  Expression comparison() {
    Expression left = side();
    for (const char* const op : {"<=", ">=", "!=", "<", ">", "="}) {
      if (error_ || !take(op)) continue;
      Expression right = side();
      require(left, Kind::number, fmt::format("what stands before '{}'", op));
      require(right, Kind::number, fmt::format("what stands after '{}'", op));
      return join(Operation::comparison, Kind::truth, op, {std::move(left), std::move(right)});
    }
    return left;
  }
  Expression sum() {
    Expression left = product();
    while (!error_) {
      const char* const op = take("+") ? "+" : take("-") ? "-" : nullptr;
      if (op == nullptr) break;
      left = arithmetic(op, std::move(left), product());
    }
    return left;
  }
  Expression product() {
    Expression left = factor();
    while (!error_) {
      const char* const op = take("*") ? "*" : take("/") ? "/" : nullptr;
      if (op == nullptr) break;
      left = arithmetic(op, std::move(left), factor());
    }
    return left;
  }
  Expression arithmetic(const char* op, Expression left, Expression right) {
    require(left, Kind::number, fmt::format("what stands before '{}'", op));
    require(right, Kind::number, fmt::format("what stands after '{}'", op));
    return join(Operation::arithmetic, Kind::number, op, {std::move(left), std::move(right)});
  }

  /// Counts how deep the descent is.
  template <class Parse>
  Expression nested(Parse parse) {
    if (++depth_ > deepest_brackets) fail(fmt::format("is more than {} brackets deep", deepest_brackets));
    Expression inner = error_ ? Expression{} : parse();
    --depth_;
    return inner;
  }
  Expression factor() {
    if (take("-")) {
      Expression part = nested([&] { return factor(); });
      require(part, Kind::number, "what stands after '-'");
      return join(Operation::negate, Kind::number, "-", {std::move(part)});
    }
    if (take("(")) {
      Expression inner = nested([&] { return disjunction(); });
      if (!error_ && !take(")")) fail("')' is missing");
      return inner;
    }
    skip_blanks();
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')) {
      return literal();
    }
    return named();
  }
  Expression literal() {
    Expression number;
    const char* const begin = text_.data() + at_;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), number.number);
    if (parsed.ec != std::errc{}) fail(fmt::format("'{}' is no number", rest()));
    at_ += static_cast<std::size_t>(parsed.ptr - begin);
    return number;
  }

  Expression named() {
    const std::string word = peek_word();
    if (word.empty()) {
      fail(at_ < text_.size() ? fmt::format("'{}' was not expected", rest()) : "ends where a value was expected");
      return {};
    }
    const std::size_t start = at_;
    at_ += word.size();
    if (take("(")) {
      if (is_in(reduction_names(), word)) return reduction(word);
      if (is_in(function_names(), word)) return function(word);
      at_ = start;
      std::vector<std::string> known = reduction_names();
      known.insert(known.end(), function_names().begin(), function_names().end());
      fail(fmt::format("no reduction or function is called '{}'; {}known: {}", word, did_you_mean(word, known),
                       fmt::join(known, ", ")));
      return {};
    }
    const auto kind = field_kind(word);
    if (!kind) {
      at_ = start;
      fail(unknown_field(word));
      return {};
    }
    return join(Operation::field, *kind, word, {});
  }
  Expression function(const std::string& word) {
    Expression argument = nested([&] { return disjunction(); });
    if (!error_ && !take(")")) fail("')' is missing after the value of " + word);
    require(argument, Kind::number, "the value of " + word);
    return join(Operation::function, Kind::number, word, {std::move(argument)});
  }

  Expression reduction(const std::string& word) {
    Expression result = join(Operation::reduction, Kind::number, word, {});
    const Kind kind = takes_truth(word) ? Kind::truth : Kind::number;
    const std::size_t arguments = takes_pairs(word) || word == "quantile" ? 2 : 1;
    for (std::size_t i = 0; i < arguments && !error_; ++i) {
      if (i > 0 && !take(",")) fail(fmt::format("{} takes two values with a comma between them", word));
      if (!error_) result.parts.push_back(nested([&] { return disjunction(); }));
      if (!error_) require(result.parts.back(), kind, "the value of " + word);
    }
    if (!error_ && word == "quantile") check_quantile(result.parts.back());
    if (!error_ && take_word("by")) groups(result);
    if (!error_ && take_word("where")) result.condition.push_back(truth_after("where"));
    if (!error_ && !result.key.empty() && take_word("having")) result.of_groups.push_back(truth_after("having"));
    if (!error_ && !take(")")) fail(fmt::format("')' is missing after the value of {}", word));
    if (!error_ && take("{")) selection(result);
    return result;
  }
  void check_quantile(const Expression& p) {
    if (p.operation != Operation::literal || !(p.number >= 0.0 && p.number <= 1.0)) {
      fail("the second value of quantile must be a number from 0 to 1, written out");
    }
  }
  std::string group_key() {
    std::string key = peek_word();
    if (is_in(group_keys(), key)) {
      at_ += key.size();
    } else {
      fail(fmt::format("no groups are called '{}'; {}known: {}", key, did_you_mean(key, group_keys()),
                       fmt::join(group_keys(), ", ")));
    }
    return key;
  }
  void groups(Expression& result) {
    result.key = group_key();
    if (error_ || !take_word("in")) return;
    result.outer_key = group_key();
    if (!error_ && !weighs(result.name)) {
      fail(fmt::format("{} has no 'in': geometric_mean, mean and share weigh groups equally", result.name));
    }
  }
  Expression truth_after(const std::string& word) {
    Expression truth = nested([&] { return disjunction(); });
    if (!error_) require(truth, Kind::truth, fmt::format("what stands after '{}'", word));
    return truth;
  }
  void selection(Expression& result) {
    bool quoted = false;
    const std::size_t start = at_;
    while (at_ < text_.size() && (quoted || text_[at_] != '}')) quoted = quoted != (text_[at_++] == '"');
    if (at_ == text_.size()) {
      at_ = start;
      return fail("'}' is missing behind the selection");
    }
    result.where_text = text_.substr(start, at_ - start);
    ++at_;
    auto filter = parse_selection(result.where_text);
    if (!filter) return fail(filter.error().message);
    result.where = std::move(*filter);
  }

  /// Fields are of single samples: inside a reduction without `by`, and nowhere else.
  void check_scope(const Expression& expression, bool of_samples) {
    if (error_) return;
    if (expression.operation == Operation::field && !of_samples) {
      fail(fmt::format("{} is a field of single cells; it needs a reduction around it, as in mean({})", expression.name,
                       expression.name));
    }
    if (expression.operation == Operation::reduction && of_samples) {
      fail(fmt::format("{} stands inside a reduction that has no 'by' (configuration, family, …)", expression.name));
    }
    const bool inner = expression.operation == Operation::reduction ? expression.key.empty() : of_samples;
    for (const Expression& part : expression.parts) check_scope(part, inner);
    for (const Expression& part : expression.condition) check_scope(part, true);
    for (const Expression& part : expression.of_groups) check_scope(part, false);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Expression> parse_expression(const std::string& text, Kind wanted) { return Parser(text).whole(wanted); }

Result<CellFilter> parse_selection(const std::string& text) {
  return CellFilter::parse(text, {.where = "selection", .of_stored_cells = true});
}

const std::vector<std::string>& reduction_names() {
  static const std::vector<std::string> names = {"count",    "geometric_mean",   "max", "mean",  "median", "min",
                                                 "quantile", "rank_correlation", "sd",  "share", "slope",  "sum"};
  return names;
}

const std::vector<std::string>& group_keys() {
  static const std::vector<std::string> keys = {"category",      "family", "max_iterations", "problem",
                                                "configuration", "solver", "start",          "tolerance"};
  return keys;
}

}  // namespace conebench::papers
