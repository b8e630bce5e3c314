#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "papers/entry_reader.hpp"
#include "papers/paper_table.hpp"
#include "papers/sample.hpp"

namespace conebench::papers {

namespace {

using Json = nlohmann::json;

constexpr double largest = 1e300;
constexpr long max_duration_s = 10'000'000;

class EntryReader {
 public:
  explicit EntryReader(const std::string& where) : read_(where) {}

  Result<Entry> entry(const Json& document) {
    Entry entry;
    if (!read_.is_object(document, "",
                         {"id", "paper", "location", "title", "shows", "state", "reason", "duration", "suites",
                          "trajectories", "commands", "data", "only", "tables", "figures", "checks", "notes"})) {
      return *read_.error();
    }
    entry.id = id(required(document, "", "id"), "id");
    entry.paper = id(required(document, "", "paper"), "paper");
    entry.location =
        entry.paper == own_tables ? optional_text(document, "", "location") : text(document, "", "location");
    entry.title = text(document, "", "title");
    entry.shows = optional_text(document, "", "shows");
    if (const Json* value = find(document, "state")) state(*value, entry);
    entry.reason = optional_text(document, "", "reason");
    if (const Json* value = find(document, "duration")) duration(*value, entry);
    if (const Json* value = find(document, "suites")) suites(*value, entry);
    if (const Json* value = find(document, "trajectories")) {
      sizes(*value, "trajectories", read_trajectories, entry.quick_trajectories, entry.full_trajectories);
    }
    if (const Json* value = find(document, "commands")) {
      sizes(*value, "commands", read_commands, entry.quick_commands, entry.full_commands);
    }
    if (const Json* value = find(document, "data")) data(*value, entry);
    if (document.contains("only")) entry.only = of_cell(document, "", "only", Kind::truth, "");
    each(document, "", "tables", [&](const Json& v, const std::string& at) { entry.tables.push_back(table(v, at)); });
    each(document, "", "figures",
         [&](const Json& v, const std::string& at) { entry.figures.push_back(figure(v, at)); });
    each(document, "", "checks", [&](const Json& v, const std::string& at) { entry.checks.push_back(check(v, at)); });
    each(document, "", "notes",
         [&](const Json& v, const std::string& at) { entry.notes.push_back(read_.text(v, at)); });
    consistent(entry);
    if (read_.error()) return *read_.error();
    return entry;
  }

 private:
  static const Json* find(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  const Json& required(const Json& object, const std::string& path, const char* key) {
    static const Json nothing;
    if (const Json* value = find(object, key)) return *value;
    read_.fail(child_path(path, key), "is missing");
    return nothing;
  }
  std::string text(const Json& object, const std::string& path, const char* key) {
    const Json& value = required(object, path, key);
    return read_.error() ? std::string() : read_.text(value, child_path(path, key));
  }
  std::string optional_text(const Json& object, const std::string& path, const char* key) {
    const Json* const value = find(object, key);
    return value == nullptr ? std::string() : read_.text(*value, child_path(path, key));
  }
  bool optional_flag(const Json& object, const std::string& path, const char* key) {
    const Json* const value = find(object, key);
    return value != nullptr && read_.flag(*value, child_path(path, key));
  }
  template <class Visit>
  void each(const Json& object, const std::string& path, const char* key, Visit visit) {
    const Json* const list = find(object, key);
    if (list == nullptr) return;
    const std::string here = child_path(path, key);
    if (!list->is_array() || list->empty()) return read_.fail(here, "must be a list [...] with at least one entry");
    for (std::size_t i = 0; i < list->size() && !read_.error(); ++i) visit((*list)[i], child_path(here, i));
  }
  double number(const Json& value, const std::string& path) { return read_.number(value, path, -largest, largest); }

  /// Names files.
  std::string id(const Json& value, const std::string& path) {
    if (read_.error()) return {};
    const std::string word = read_.text(value, path);
    const bool plain = std::all_of(word.begin(), word.end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
    if (!plain || word.size() > 100) read_.fail(path, fmt::format("'{}' must be of letters, digits, - and _", word));
    return word;
  }

  void state(const Json& value, Entry& entry) {
    const std::string word = read_.choice(value, "state", state_names());
    const auto at = std::find(state_names().begin(), state_names().end(), word) - state_names().begin();
    entry.state = static_cast<State>(std::min<std::ptrdiff_t>(at, 4));
  }
  void duration(const Json& value, Entry& entry) {
    if (!read_.is_object(value, "duration", {"quick_s", "full_s"})) return;
    const auto seconds = [&](const char* key) {
      const Json* const found = find(value, key);
      return found == nullptr ? 0.0 : read_.number(*found, child_path("duration", key), 0.0, max_duration_s);
    };
    entry.quick_s = seconds("quick_s");
    entry.full_s = seconds("full_s");
  }

  /// The id of another entry, or {"quick": …, "full": …}.
  void suites(const Json& value, Entry& entry) {
    if (value.is_string()) {
      entry.suites_of = current_id(read_.text(value, "suites"));
      return;
    }
    if (!read_.is_object(value, "suites", {"quick", "full"})) return;
    entry.quick = suite_list(required(value, "suites", "quick"), "suites.quick", entry.id + "-quick");
    entry.full = suite_list(required(value, "suites", "full"), "suites.full", entry.id + "-full");
  }
  /// A suite as an object, the name of one that is built in, or a list of those.
  std::vector<SuiteText> suite_list(const Json& value, const std::string& path, const std::string& name) {
    std::vector<SuiteText> list;
    if (read_.error()) return list;
    const auto one = [&](const Json& item, const std::string& at, const std::string& called) {
      if (item.is_string()) {
        list.push_back({read_.text(item, at), read_.text(item, at), true});
      } else if (item.is_object()) {
        if (item.contains("name"))
          read_.fail(child_path(at, "name"), "is not for an entry's suite, which is called by its entry");
        add_suites(item, at, called, list);
      } else {
        read_.fail(at, "must be a suite {…}, the name of one that is built in, or a list of them");
      }
    };
    if (!value.is_array()) {
      one(value, path, name);
      return list;
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      one(value[i], child_path(path, i), fmt::format("{}-{}", name, i + 1));
    return list;
  }
  /// One suite, or one for each of limits.iterations where these are a list.
  void add_suites(Json suite, const std::string& path, const std::string& name, std::vector<SuiteText>& list) {
    const Json::json_pointer limit("/limits/iterations");
    const Json limits = suite.contains(limit) ? suite[limit] : Json();
    if (!limits.is_array()) return list.push_back({name, suite.dump(), false});
    if (limits.empty()) read_.fail(path + ".limits.iterations", "must have at least one number");
    for (const Json& iterations : limits) {
      suite[limit] = iterations;
      list.push_back({name + "-" + iterations.dump(), suite.dump(), false});
    }
  }
  /// A list for both sizes, or {"quick": …, "full": …}.
  template <class Read, class Sources>
  void sizes(const Json& value, const std::string& key, Read read, Sources& quick, Sources& full) {
    const bool both = value.is_object();
    if (both && !read_.is_object(value, key, {"quick", "full"})) return;
    const auto list = [&](const char* size) {
      return both ? read(read_, required(value, key, size), child_path(key, size)) : read(read_, value, key);
    };
    quick = list("quick");
    full = list("full");
  }
  void data(const Json& value, Entry& entry) {
    if (!read_.is_object(value, "data", {"what", "problems"})) return;
    entry.data_name = text(value, "data", "what");
    const Json& problems = required(value, "data", "problems");
    if (!problems.is_array() || problems.empty())
      return read_.fail("data.problems", "must be a list as a suite's problems");
    entry.data_problems = problems.dump();
  }

  std::optional<Expression> expression(const Json& object, const std::string& path, const char* key, Kind kind) {
    const Json* const value = find(object, key);
    if (value == nullptr || read_.error()) return std::nullopt;
    const std::string here = child_path(path, key);
    auto parsed = parse_expression(read_.text(*value, here), kind);
    if (parsed) return std::move(*parsed);
    read_.fail(here, parsed.error().message);
    return std::nullopt;
  }
  /// A field of one cell, as in a profile's cost: read inside a reduction, and taken out of it.
  std::optional<Expression> of_cell(const Json& object, const std::string& path, const char* key, Kind kind,
                                    const std::string& otherwise) {
    const Json* const value = find(object, key);
    const std::string here = child_path(path, key);
    const std::string text = value == nullptr ? otherwise : read_.text(*value, here);
    if (read_.error()) return std::nullopt;
    auto parsed = parse_expression(fmt::format("{}({})", kind == Kind::truth ? "count" : "max", text), Kind::number);
    if (parsed) return parsed->parts.front();
    read_.fail(here, parsed.error().message);
    return std::nullopt;
  }

  Part part(const Json& value, const std::string& path, bool name_required = true) {
    Part part;
    part.name = name_required ? text(value, path, "name") : optional_text(value, path, "name");
    part.where_text = optional_text(value, path, "where");
    auto filter = parse_selection(part.where_text);
    if (!filter) read_.fail(child_path(path, "where"), filter.error().message);
    if (filter) part.where = std::move(*filter);
    return part;
  }
  TableLine line(const Json& value, const std::string& path) {
    TableLine line;
    if (!read_.is_object(value, path, {"name", "each", "where", "quantity", "spread", "location"})) return line;
    const Json* const each = find(value, "each");
    line.part = part(value, path, each == nullptr);
    if (each != nullptr && value.contains("name")) read_.fail(path, "has either a name or \"each\"");
    if (each != nullptr && !read_.error()) line.each = read_.choice(*each, child_path(path, "each"), group_keys());
    line.quantity = expression(value, path, "quantity", Kind::number);
    line.spread = expression(value, path, "spread", Kind::number);
    line.location = optional_text(value, path, "location");
    return line;
  }
  Table table(const Json& value, const std::string& path) {
    Table table;
    if (!read_.is_object(
            value, path,
            {"title", "location", "corner", "unit", "quantity", "spread", "rows", "columns", "sort", "published"})) {
      return table;
    }
    table.title = text(value, path, "title");
    table.location = optional_text(value, path, "location");
    table.corner = optional_text(value, path, "corner");
    table.unit = optional_text(value, path, "unit");
    table.quantity = expression(value, path, "quantity", Kind::number);
    table.spread = expression(value, path, "spread", Kind::number);
    each(value, path, "rows", [&](const Json& v, const std::string& at) { table.rows.push_back(line(v, at)); });
    each(value, path, "columns", [&](const Json& v, const std::string& at) { table.columns.push_back(line(v, at)); });
    if (table.rows.empty()) read_.fail(child_path(path, "rows"), "is missing");
    if (table.columns.empty()) table.columns.push_back({});
    if (const Json* published_values = find(value, "published"))
      published(*published_values, child_path(path, "published"), table);
    table.sort = optional_text(value, path, "sort");
    const auto sorted = [&](const TableLine& column) { return column.part.name == table.sort; };
    if (!table.sort.empty() && std::none_of(table.columns.begin(), table.columns.end(), sorted))
      read_.fail(child_path(path, "sort"), fmt::format("no column is called '{}'", table.sort));
    for (const TableLine& row : table.rows) {
      const bool all =
          row.quantity || table.quantity ||
          std::all_of(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.quantity.has_value(); });
      if (!all)
        read_.fail(path,
                   fmt::format("row '{}' has no quantity, neither has the table nor every column", row.part.name));
    }
    return table;
  }
  /// {"ROW": [9.2, [8.76, 69.93], null, …], …}
  void published(const Json& value, const std::string& path, Table& table) {
    if (!value.is_object()) return read_.fail(path, "must be {\"ROW\": [one a column], …}");
    const auto of_groups = [](const TableLine& line) { return !line.each.empty(); };
    if (std::any_of(table.rows.begin(), table.rows.end(), of_groups) ||
        std::any_of(table.columns.begin(), table.columns.end(), of_groups)) {
      return read_.fail(path, "is for rows and columns with names, not with \"each\"");
    }
    table.published.assign(table.rows.size(), std::vector<Published>(table.columns.size()));
    for (const auto& item : value.items()) {
      const std::string here = child_path(path, item.key());
      const auto row =
          std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& r) { return r.part.name == item.key(); });
      if (row == table.rows.end()) return read_.fail(here, "no row has this name");
      if (!item.value().is_array() || item.value().size() != table.columns.size()) {
        return read_.fail(here, fmt::format("must be a list of {}, one a column", table.columns.size()));
      }
      const auto r = static_cast<std::size_t>(row - table.rows.begin());
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        table.published[r][c] = one_published(item.value()[c], child_path(here, c));
    }
  }
  Published one_published(const Json& value, const std::string& path) {
    if (value.is_null()) return {};
    if (value.is_number()) return {number(value, path), std::nullopt};
    if (value.is_array() && value.size() == 2) {
      return {number(value[0], child_path(path, std::size_t{0})), number(value[1], child_path(path, std::size_t{1}))};
    }
    read_.fail(path, "must be a number, [number, spread] or null, not " + value.dump());
    return {};
  }

  Figure figure(const Json& value, const std::string& path) {
    Figure figure;
    if (!read_.is_object(value, path,
                         {"id", "form", "title", "location", "x", "y", "cost", "counts", "by", "x_label", "y_label",
                          "x_log", "y_log", "series"})) {
      return figure;
    }
    figure.id = id(required(value, path, "id"), child_path(path, "id"));
    figure.title = text(value, path, "title");
    figure.location = optional_text(value, path, "location");
    figure.x_label = text(value, path, "x_label");
    figure.y_label = text(value, path, "y_label");
    figure.x_log = optional_flag(value, path, "x_log");
    figure.y_log = optional_flag(value, path, "y_log");
    if (const Json* form = find(value, "form")) {
      const std::string word = read_.choice(*form, child_path(path, "form"), {"points", "profile", "path"});
      if (word == "profile") figure.form = Figure::Form::profile;
      if (word == "path") figure.form = Figure::Form::path;
    }
    each(value, path, "series", [&](const Json& v, const std::string& at) {
      if (read_.is_object(v, at, {"name", "where"})) figure.series.push_back(part(v, at));
    });
    if (figure.series.empty()) read_.fail(child_path(path, "series"), "is missing");
    switch (figure.form) {
      case Figure::Form::profile: profile(value, path, figure); break;
      case Figure::Form::path: path_of(value, path, figure); break;
      case Figure::Form::points: points(value, path, figure); break;
    }
    return figure;
  }
  void profile(const Json& value, const std::string& path, Figure& figure) {
    if (value.contains("x") || value.contains("y") || value.contains("by"))
      read_.fail(path, "a profile has cost and counts, not x, y and by");
    figure.cost = of_cell(value, path, "cost", Kind::number, "total_ms");
    figure.counts = of_cell(value, path, "counts", Kind::truth, "converged");
  }
  void path_of(const Json& value, const std::string& path, Figure& figure) {
    required(value, path, "x");
    required(value, path, "y");
    if (value.contains("by")) read_.fail(child_path(path, "by"), "is for points; a path has a point of every cell");
    figure.x = of_cell(value, path, "x", Kind::number, "");
    figure.y = of_cell(value, path, "y", Kind::number, "");
  }
  void points(const Json& value, const std::string& path, Figure& figure) {
    required(value, path, "x");
    required(value, path, "y");
    figure.x = expression(value, path, "x", Kind::number);
    figure.y = expression(value, path, "y", Kind::number);
    const Json& key = required(value, path, "by");
    if (!read_.error()) figure.key = read_.choice(key, child_path(path, "by"), group_keys());
  }

  Check check(const Json& value, const std::string& path) {
    Check check;
    if (!read_.is_object(value, path,
                         {"id", "claim", "location", "holds", "measure", "each", "problems", "cells", "known_failure",
                          "mutated", "finding"})) {
      return check;
    }
    check.id = id(required(value, path, "id"), child_path(path, "id"));
    check.claim = text(value, path, "claim");
    check.finding = optional_text(value, path, "finding");
    check.location = optional_text(value, path, "location");
    required(value, path, "holds");
    if (auto holds = expression(value, path, "holds", Kind::truth)) check.holds = std::move(*holds);
    check.measure = expression(value, path, "measure", Kind::number);
    each(value, path, "each", [&](const Json& v, const std::string& at) {
      if (read_.is_object(v, at, {"name", "where"})) check.each.push_back(part(v, at));
    });
    const auto least = [&](const char* key) {
      const Json* const number = find(value, key);
      return number == nullptr ? 1 : read_.integer(*number, child_path(path, key), 1, 1'000'000);
    };
    check.min_problems = least("problems");
    check.min_cells = least("cells");
    if (const Json* failure = find(value, "known_failure"))
      known_failure(*failure, child_path(path, "known_failure"), check);
    each(value, path, "mutated",
         [&](const Json& v, const std::string& at) { check.mutated.push_back(mutation(v, at)); });
    if (check.mutated.empty())
      read_.fail(child_path(path, "mutated"), "is missing: how numbers are mutated so that the check must fail");
    return check;
  }
  void known_failure(const Json& value, const std::string& path, Check& check) {
    if (!read_.is_object(value, path, {"reason", "range"})) return;
    KnownFailure failure;
    failure.reason = text(value, path, "reason");
    const Json& range = required(value, path, "range");
    if (!range.is_array() || range.size() != 2)
      return read_.fail(child_path(path, "range"), "must be [minimum, maximum]");
    failure.low = number(range[0], child_path(path, "range"));
    failure.high = number(range[1], child_path(path, "range"));
    if (!check.measure) read_.fail(path, "needs a \"measure\", which lies in its range");
    if (failure.low > failure.high) read_.fail(child_path(path, "range"), "is empty");
    check.known_failure = failure;
  }
  Mutation mutation(const Json& value, const std::string& path) {
    Mutation mutation;
    if (!read_.is_object(value, path, {"where", "field", "times", "to"})) return mutation;
    const Part cells = part(value, path, false);
    mutation.where = cells.where;
    mutation.where_text = cells.where_text;
    mutation.field = text(value, path, "field");
    if (!read_.error() && !field_kind(mutation.field))
      read_.fail(child_path(path, "field"), unknown_field(mutation.field));
    if (const Json* times = find(value, "times")) mutation.times = number(*times, child_path(path, "times"));
    if (const Json* to = find(value, "to")) mutation.to = number(*to, child_path(path, "to"));
    if (value.contains("times") == value.contains("to")) read_.fail(path, "must have either \"times\" or \"to\"");
    return mutation;
  }

  void consistent(const Entry& entry) {
    const bool running = entry.state == State::runs || entry.state == State::needs_data;
    const bool has_source = !entry.suites_of.empty() || !entry.quick.empty() || !entry.quick_trajectories.empty() ||
                            !entry.quick_commands.empty();
    if (running && !has_source)
      read_.fail("suites", "is missing, as are \"trajectories\" and \"commands\": the entry says that it runs");
    if (!running && has_source)
      read_.fail("state", "has suites, trajectories or commands and does not say that it runs");
    if (!running && entry.state != State::is_static && entry.reason.empty()) {
      read_.fail("reason", fmt::format("is missing: why the entry is {}", to_string(entry.state)));
    }
    if (running && entry.tables.empty() && entry.figures.empty())
      read_.fail("tables", "neither tables nor figures are given");
  }

  JsonReader read_;
};

}  // namespace

Result<Entry> read_entry(const Json& document, const std::string& where) { return EntryReader(where).entry(document); }

const std::vector<std::string>& state_names() {
  static const std::vector<std::string> names = {"runs", "needs-data", "static", "not-to-be-had", "not-built"};
  return names;
}

}  // namespace conebench::papers
