#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/field.hpp"

namespace conebench {

template <class Value>
concept PlainValue = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

/// Packs values to bytes for another process of the same executable. It is not a file format. A type takes part by a
/// function `transfer(archive, value)` in its namespace, which calls `archive(members…)` for packing and unpacking.
class Packer {
 public:
  static constexpr bool reading = false;

  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  /// As a visitor of a record's named fields.
  template <class Value>
  void operator()(const Field&, const Value& value) {
    put(value);
  }
  void json_text(const Field&, const std::string& text) { put(text); }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  std::size_t count(std::size_t size, std::size_t = 0) {
    put(static_cast<std::uint64_t>(size));
    return size;
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <PlainValue Value>
  void put(const Value& value) {
    raw(&value, sizeof value);
  }
  void put(const std::string& text) { raw(text.data(), count(text.size())); }
  template <class Value>
  void put(const std::vector<Value>& values) {
    count(values.size());
    if constexpr (PlainValue<Value>) {
      raw(values.data(), values.size() * sizeof(Value));
    } else {
      for (const Value& value : values) put(value);
    }
  }
  template <class Value>
  void put(const std::map<std::string, Value>& values) {
    count(values.size());
    for (const auto& [name, value] : values) (*this)(name, value);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class Value>
  requires(!PlainValue<Value>) void put(const Value& value) { transfer(*this, value); }

  std::string bytes_;
};

/// Reads the bytes of a Packer. Other bytes give zeros and ok() == false. Sizes are checked before anything is
/// allocated, since the other process may be faulty.
class Unpacker {
 public:
  static constexpr bool reading = true;

  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  /// Whether all bytes were read and valid.
  bool done() const { return ok_ && bytes_.empty(); }
  void require(bool holds) { ok_ = ok_ && holds; }

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  template <class Value>
  void operator()(const Field&, Value& value) {
    get(value);
  }
  void json_text(const Field&, std::string& text) { get(text); }
  template <class Fields>
  void group(const char*, Fields fields) {
    fields(*this);
  }
  void raw(void* to, std::size_t size) {
    require(size <= bytes_.size());
    if (!ok_ || size == 0) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  /// A number of elements. 0 if fewer bytes are left than so many elements of `element` bytes have.
  std::size_t count(std::size_t = 0, std::size_t element = 1) {
    std::uint64_t size = 0;
    get(size);
    require(element == 0 || size <= bytes_.size() / element);
    return ok_ ? static_cast<std::size_t>(size) : 0;
  }

 private:
  template <PlainValue Value>
  void get(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      char byte = 0;
      raw(&byte, 1);
      value = byte != 0;
    } else {
      raw(&value, sizeof value);
    }
  }
  void get(std::string& text) {
    text.assign(count(), '\0');
    raw(text.data(), text.size());
  }
  template <class Value>
  void get(std::vector<Value>& values) {
    if constexpr (PlainValue<Value>) {
      values.assign(count(0, sizeof(Value)), Value{});
      raw(values.data(), values.size() * sizeof(Value));
    } else {
      values.clear();
      for (std::size_t left = count(); left > 0 && ok_; --left) get(values.emplace_back());
    }
  }
  template <class Value>
  void get(std::map<std::string, Value>& values) {
    values.clear();
    for (std::size_t left = count(); left > 0 && ok_; --left) {
      std::string name;
      get(name);
      get(values[name]);
    }
  }
  template <class Value>
  void get(std::optional<Value>& value) {
    bool given = false;
    get(given);
    value.reset();
    if (given) get(value.emplace());
  }
  template <class Value>
  requires(!PlainValue<Value>) void get(Value& value) { transfer(*this, value); }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace conebench
