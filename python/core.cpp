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
#if PYBIND11_VERSION_HEX < 0x020C0000
  // It reads arrays of NumPy 2 wrongly, without an error.
  const auto version = pybind11::module_::import("numpy").attr("__version__").cast<std::string>();
  if (!version.starts_with("0.") && !version.starts_with("1.")) {
    throw pybind11::import_error("conebench was built with pybind11 before 2.12, which can't read arrays of NumPy " +
                                 version + "; use NumPy 1, or build with a newer pybind11");
  }
#endif
  module.attr("version") = CONEBENCH_VERSION;
  add_errors(module);
  add_problems(module);
  add_recording(module);
  add_solving(module);
  add_simulating(module);
  add_reports(module);
}
