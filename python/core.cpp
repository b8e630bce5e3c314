#include "python/core.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;

PyObject* error_type = nullptr;

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::wrong_usage: return "wrong_usage";
    case ErrorCode::bad_input: return "bad_input";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::killed: return "killed";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

}  // namespace

void raise(const Error& error) {
  const py::object raised = py::reinterpret_borrow<py::object>(error_type)(error.message);
  raised.attr("code") = name(error.code);
  PyErr_SetObject(error_type, raised.ptr());
  throw py::error_already_set();
}

void add_errors(py::module_& module) {
  error_type = PyErr_NewExceptionWithDoc(
      "conebench.Error", "What went wrong, where, and what to do, in one line. `code`: wrong_usage, bad_input, …",
      PyExc_ValueError, nullptr);
  // What the package itself raises is that.
  PyObject_SetAttrString(error_type, "code", py::str(name(ErrorCode::wrong_usage)).ptr());
  module.attr("Error") = py::handle(error_type);
}

}  // namespace conebench::python

PYBIND11_MODULE(_core, module) {
  using namespace conebench::python;
  add_errors(module);
  add_problems(module);
  add_solving(module);
  add_reports(module);
}
