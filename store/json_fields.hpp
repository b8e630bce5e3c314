#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/field.hpp"

namespace conebench {

/// Puts a record's fields into a JSON object; a number that is not finite is null.
class JsonWriter {
 public:
  explicit JsonWriter(nlohmann::json& object) : object_(object) {
    if (object_.is_null()) object_ = nlohmann::json::object();
  }
  template <class Value>
  void operator()(const Field& field, const Value& value) {
    object_[field.name] = value;
  }
  void operator()(const Field& field, double value) {
    object_[field.name] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  }
  template <class Value>
  void operator()(const Field& field, const std::optional<Value>& value) {
    if (value) {
      (*this)(field, *value);
    } else {
      object_[field.name] = nullptr;
    }
  }
  void json_text(const Field& field, const std::string& text) {
    auto value = nlohmann::json::parse(text, nullptr, false);
    object_[field.name] = value.is_discarded() ? nlohmann::json(text) : std::move(value);
  }
  template <class Fields>
  void group(const char* name, Fields fields) {
    JsonWriter inner(object_[name]);
    fields(inner);
  }

 private:
  nlohmann::json& object_;
};

/// The reverse. Throws what nlohmann's json throws where a field is not there or of another type; null is a number that
/// is not finite.
class JsonReader {
 public:
  explicit JsonReader(const nlohmann::json& object) : object_(object) {}
  template <class Value>
  void operator()(const Field& field, Value& value) {
    object_.at(field.name).get_to(value);
  }
  void operator()(const Field& field, double& value) {
    const nlohmann::json& found = object_.at(field.name);
    value = found.is_null() ? std::nan("") : found.get<double>();
  }
  template <class Value>
  void operator()(const Field& field, std::optional<Value>& value) {
    const nlohmann::json& found = object_.at(field.name);
    value = found.is_null() ? std::nullopt : std::optional(found.get<Value>());
  }
  void json_text(const Field& field, std::string& text) { text = object_.at(field.name).dump(); }
  template <class Fields>
  void group(const char* name, Fields fields) {
    JsonReader inner(object_.at(name));
    fields(inner);
  }

 private:
  const nlohmann::json& object_;
};

template <class Record>
nlohmann::json json_of(const Record& record) {
  nlohmann::json object = nlohmann::json::object();
  JsonWriter writer(object);
  Record::fields(writer, record);
  return object;
}

}  // namespace conebench
