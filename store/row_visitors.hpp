#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/field.hpp"
#include "base/utf8.hpp"
#include "problems/used_parts.hpp"
#include "store/blob.hpp"
#include "store/cell_status.hpp"
#include "store/noise.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"

namespace conebench {

/// Lists of texts, of noise and of names with values stand in a column as JSON.
std::string to_column(const std::vector<std::string>& list);
std::string to_column(const std::vector<NoiseRecord>& list);
std::string to_column(const std::map<std::string, std::string>& map);
std::string to_column(const std::map<std::string, double>& map);
/// Empty where the text is not what to_column writes.
void from_column(const std::string& text, std::vector<std::string>& list);
void from_column(const std::string& text, std::vector<NoiseRecord>& list);
void from_column(const std::string& text, std::map<std::string, std::string>& map);
void from_column(const std::string& text, std::map<std::string, double>& map);

/// Makes a column of each field. A number that need not be finite, or known, may be NULL.
class Columns {
 public:
  template <class Value>
  void operator()(const Field& field, const Value&) {
    constexpr bool is_real = std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>;
    if constexpr (is_real) {
      add(field, "REAL", true);
    } else if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>) {
      add(field, "INTEGER", true);
    } else if constexpr (std::is_integral_v<Value>) {
      add(field, "INTEGER", false);
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      add(field, "BLOB", true);
    } else {
      add(field, "TEXT", false);
    }
  }
  void json_text(const Field& field, const std::string&) { add(field, "TEXT", false); }
  template <class Fields>
  void group(const char* name, Fields fields) {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + "_";
    fields(*this);
    prefix_ = outer;
  }
  std::vector<Column> take() { return std::move(columns_); }

 private:
  void add(const Field& field, const char* type, bool may_be_null) {
    columns_.push_back({prefix_ + field.name, type, may_be_null, field.unit, field.meaning});
  }

  std::vector<Column> columns_;
  std::string prefix_;
};

/// Binds a record's fields to a statement's parameters, one after the other. File names and what solvers print need not
/// be UTF-8; every text that SQLite gets is.
class RowBinder {
 public:
  explicit RowBinder(sqlite::Statement& statement, int first = 1) : statement_(statement), next_(first) {}
  void operator()(const Field&, const std::string& value) { text(valid_utf8(value)); }
  void operator()(const Field&, CellStatus value) { statement_.bind(next_++, name(value)); }
  void operator()(const Field&, UsedParts value) { text(to_string(value)); }
  void operator()(const Field&, double value) { statement_.bind(next_++, value); }
  void operator()(const Field&, bool value) { integer(value ? 1 : 0); }
  void operator()(const Field&, int value) { integer(value); }
  void operator()(const Field&, std::int64_t value) { integer(value); }
  /// Beyond 2^63 it shows as negative in SQL and comes back as it was.
  void operator()(const Field&, std::uint64_t value) { integer(static_cast<std::int64_t>(value)); }
  template <class T>
  void operator()(const Field& field, const std::optional<T>& value) {
    if (value) {
      (*this)(field, *value);
    } else {
      statement_.bind_null(next_++);
    }
  }
  void operator()(const Field&, const std::vector<std::string>& list) { text(to_column(list)); }
  void operator()(const Field&, const std::vector<NoiseRecord>& list) { text(to_column(list)); }
  template <class T>
  void operator()(const Field&, const std::map<std::string, T>& map) {
    text(to_column(map));
  }
  /// As 8-byte little-endian floats, as answers before they are packed; none: NULL.
  void operator()(const Field&, const std::vector<double>& values) {
    if (values.empty()) {
      statement_.bind_null(next_++);
    } else {
      statement_.bind(next_++, bytes_of(values));
    }
  }
  void json_text(const Field&, const std::string& value) { text(value); }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }
  int next() const { return next_; }

 private:
  void integer(std::int64_t value) { statement_.bind(next_++, value); }
  void text(const std::string& value) { statement_.bind(next_++, std::string_view(value)); }
  sqlite::Statement& statement_;
  int next_;
};

/// Fills a record's fields from a statement's columns, one after the other.
class RowReader {
 public:
  explicit RowReader(const sqlite::Statement& statement, int first = 0) : statement_(statement), next_(first) {}
  void operator()(const Field&, std::string& value) { value = statement_.text(next_++); }
  void operator()(const Field&, CellStatus& value) { value = cell_status(statement_.text(next_++)); }
  void operator()(const Field&, UsedParts& value) { value = used_parts(statement_.text(next_++)); }
  void operator()(const Field&, double& value) { value = statement_.real(next_++); }
  void operator()(const Field&, bool& value) { value = statement_.integer(next_++) != 0; }
  void operator()(const Field&, int& value) { value = static_cast<int>(statement_.integer(next_++)); }
  void operator()(const Field&, std::int64_t& value) { value = statement_.integer(next_++); }
  void operator()(const Field&, std::uint64_t& value) {
    value = static_cast<std::uint64_t>(statement_.integer(next_++));
  }
  template <class T>
  void operator()(const Field& field, std::optional<T>& value) {
    if (statement_.is_null(next_)) {
      value.reset();
      ++next_;
    } else {
      (*this)(field, value.emplace());
    }
  }
  void operator()(const Field&, std::vector<std::string>& list) { from_column(statement_.text(next_++), list); }
  void operator()(const Field&, std::vector<NoiseRecord>& list) { from_column(statement_.text(next_++), list); }
  template <class T>
  void operator()(const Field&, std::map<std::string, T>& map) {
    from_column(statement_.text(next_++), map);
  }
  void operator()(const Field&, std::vector<double>& values) { values = values_of(statement_.blob(next_++)); }
  void json_text(const Field&, std::string& value) { value = statement_.text(next_++); }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }

 private:
  const sqlite::Statement& statement_;
  int next_;
};

}  // namespace conebench
