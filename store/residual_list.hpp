#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conebench {

struct ResidualRecord {
  std::optional<double> value;
  std::string missing;
  std::int64_t worst_block = -1;

  static void fields(auto& visit, auto& residual) {
    visit({"value", "", "NULL: not finite, or not known"}, residual.value);
    visit({"missing", "", "why it is not known, else empty"}, residual.missing);
    visit({"worst_block", "", "index over joint rows, limit rows, intervals, contacts; −1: none"},
          residual.worst_block);
  }
};

/// A cell's residuals in the order of their names. 24 bytes each, where a map of strings takes 144: a store of 500,000
/// cells has ten millions of them. Names and reasons are kept once for the whole process.
class ResidualList {
  struct Label {
    std::string name, missing;
  };
  struct Row {
    double value;  ///< NaN: none
    const Label* label;
    std::int32_t worst_block;
  };
  static_assert(sizeof(Row) == 24);

 public:
  class Iterator {
   public:
    explicit Iterator(const Row* row) : row_(row) {}
    std::pair<const std::string&, ResidualRecord> operator*() const { return {row_->label->name, record_of(*row_)}; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    const Row* row_;
  };

  /// Adds `record`, or replaces the one of that name. A value that is not finite is none.
  void set(std::string_view name, const ResidualRecord& record);
  std::optional<ResidualRecord> find(std::string_view name) const;
  /// Throws std::bad_optional_access where there is none of that name.
  ResidualRecord at(std::string_view name) const { return find(name).value(); }

  Iterator begin() const { return Iterator(rows_.data()); }
  Iterator end() const { return Iterator(rows_.data() + rows_.size()); }
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  void clear() { rows_.clear(); }
  void reserve(std::size_t size) { rows_.reserve(size); }

 private:
  static const Label* kept_once(std::string_view name, std::string_view missing);
  static ResidualRecord record_of(const Row& row);
  std::vector<Row> rows_;
};

}  // namespace conebench
