#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/result.hpp"
#include "problems/types.hpp"

/// conebench._core, what the package (conebench/) stands on: arrays, dictionaries and texts, one name a task.
namespace conebench::python {

/// Ends the call with conebench.Error: its text is the one line, its `code` the error's kind ("bad_input", …).
[[noreturn]] void raise(const Error& error);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

inline pybind11::array_t<double> array_of(ConstVectorRef values) {
  return pybind11::array_t<double>(values.size(), values.data());
}

using Numbers = pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;
inline Vector vector_of(const Numbers& values) { return Eigen::Map<const Vector>(values.data(), values.size()); }

void add_errors(pybind11::module_& module);
void add_problems(pybind11::module_& module);
void add_recording(pybind11::module_& module);
void add_solving(pybind11::module_& module);
void add_simulating(pybind11::module_& module);
void add_reports(pybind11::module_& module);

}  // namespace conebench::python
