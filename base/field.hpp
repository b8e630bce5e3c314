#pragma once

namespace conebench {

/// A field of a record, with its name in SQL, JSON, CSV and Python. A record lists its fields in a static member
/// `fields(visit, record)`, which calls visit(Field, member) for a plain value, visit.json_text(Field, member) for a
/// text that is JSON, and visit.group(name, [](auto& visit) {…}) for the fields of a nested record. In flat formats
/// their names begin with the group's. Every encoder is such a visitor.
struct Field {
  const char* name;
  const char* unit = "";  ///< empty: a text, a flag or a pure number
  const char* meaning = "";
};

}  // namespace conebench
