#include "conebench/recording.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <set>

#include "fclib_loader/recording.hpp"
#include "python/core.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;
using recording::Matrix;
using recording::Step;

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw recording::Error(recording::detail::text(parts...));
}

/// A step's dictionary, by the names of the format.
class StepReader {
 public:
  explicit StepReader(const py::dict& parts) : parts_(parts) {}

  Step read() const {
    check_names();
    Step step;
    step.block_rows.clear();
    fill(step.block_rows, "block_rows");
    fill(step.cone, "cone");
    fill(step.lower, "lower");
    fill(step.upper, "upper");
    fill(step.mu, "mu");
    if (find("mu").is_none()) step.mu.assign(step.lower.size(), 0.0);
    fill(step.groups, "groups");
    fill(step.shift, "shift");
    fill(step.gap, "gap");
    fill(step.point, "point", {3});
    fill(step.frame, "frame", {3, 3});
    fill(step.identity, "identity");
    fill(step.bodies, "bodies", {2});
    step.M = matrix("M");
    step.J = matrix("J");
    step.G = matrix("G");
    for (const auto& [name, to] :
         {std::pair("v_free", &step.v_free), {"velocity", &step.velocity}, {"b", &step.b}, {"R", &step.R}}) {
      if (const py::object given = find(name); !given.is_none()) *to = vector(name, given);
    }
    step.metric = line("metric", find("metric"));
    step.law = line("law", find("law"));
    step.description = line("description", find("description"));
    step.name = lines("name");
    step.body_names = lines("body_names");
    step.time_step = real("time_step", find("time_step"));
    step.time = real("time", find("time"));
    step.step = integer("step", find("step"));
    if (const py::object answers = find("answers"); !answers.is_none()) read_answers(answers, step);
    return step;
  }

 private:
  py::object find(const char* name) const {
    PyObject* const found = PyDict_GetItemString(parts_.ptr(), name);
    return found == nullptr ? py::object(py::none()) : py::reinterpret_borrow<py::object>(found);
  }

  void check_names() const {
    static const std::set<std::string> known = {
        "block_rows", "cone",       "lower",     "upper",    "mu",    "groups",      "shift",
        "M",          "metric",     "J",         "v_free",   "G",     "b",           "R",
        "law",        "gap",        "time",      "velocity", "point", "frame",       "identity",
        "bodies",     "body_names", "time_step", "name",     "step",  "description", "answers"};
    for (const auto& [name, part] : parts_) {
      const std::string text = py::cast<std::string>(py::str(name));
      if (known.count(text) == 0 && !part.is_none()) fail(text, ": a step has no part of that name");
    }
  }

  /// Numbers in rows, whatever they were.
  template <class Number>
  static auto array(const std::string& name, const py::object& given) {
    const py::array any = py::array::ensure(given);
    const bool numbers = any && std::string("fiub").find(any.dtype().kind()) != std::string::npos;
    if (!numbers || (std::is_integral_v<Number> && any.dtype().kind() == 'f' && any.size() > 0)) {
      PyErr_Clear();
      fail(name, std::is_integral_v<Number> ? ": expected integers" : ": expected numbers");
    }
    return py::array_t<Number, py::array::c_style | py::array::forcecast>(any);
  }
  static Vector vector(const std::string& name, const py::object& given) {
    return vector_of(array<double>(name, given));
  }

  /// An array of one dimension, or of entries of the given shape.
  template <class Number>
  void fill(std::vector<Number>& to, const char* name, const std::vector<py::ssize_t>& entry = {}) const {
    const py::object given = find(name);
    if (given.is_none()) return;
    using Read = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
    const auto values = array<Read>(name, given);
    const auto dimensions = static_cast<std::size_t>(values.ndim());
    bool fits = dimensions == 1 || dimensions == entry.size() + 1;
    for (std::size_t k = 1; k < dimensions && fits; ++k) {
      fits = values.shape(static_cast<py::ssize_t>(k)) == entry[k - 1];
    }
    if (!fits) {
      std::string expected = "n";
      for (const py::ssize_t along : entry) expected += " x " + std::to_string(along);
      fail(name, ": has the shape ", py::cast<std::string>(py::str(values.attr("shape"))), ", expected ", expected);
    }
    to.resize(static_cast<std::size_t>(values.size()));
    for (std::size_t k = 0; k < to.size(); ++k) {
      to[k] = static_cast<Number>(values.data()[k]);
      if (std::is_integral_v<Number> && static_cast<Read>(to[k]) != values.data()[k]) {
        fail(name, ": entry ", k, " is ", values.data()[k], ", out of range");
      }
    }
  }

  Matrix matrix(const char* name) const {
    py::object given = find(name);
    if (given.is_none()) return {};
    if (py::hasattr(given, "tocsr")) {
      const py::object rows = given.attr("tocsr")();
      return compressed(name, rows.attr("data"), rows.attr("indices"), rows.attr("indptr"), rows.attr("shape"));
    }
    if (py::isinstance<py::tuple>(given)) {
      const auto parts = py::cast<py::tuple>(given);
      if (parts.size() != 4) fail(name, ": expected (values, columns, starts, shape)");
      return compressed(name, parts[0], parts[1], parts[2], parts[3]);
    }
    const auto values = array<double>(name, given);
    if (values.ndim() != 2) fail(name, ": has ", values.ndim(), " dimensions, expected 2");
    return Eigen::Map<const Matrix::Dense>(values.data(), values.shape(0), values.shape(1));
  }

  static Matrix compressed(const char* name, const py::object& given_values, const py::object& given_columns,
                           const py::object& given_starts, const py::object& shape) {
    const auto values = array<double>(name, given_values);
    const auto columns = array<std::int32_t>(name, given_columns);
    const auto starts = array<std::int32_t>(name, given_starts);
    const auto [rows, cols] = py::cast<std::pair<Eigen::Index, Eigen::Index>>(shape);
    const auto entries = values.size();
    if (rows < 0 || starts.size() != rows + 1 || columns.size() != entries || starts.data()[0] != 0 ||
        starts.data()[rows] != entries) {
      fail(name, ": ", entries, " values, ", columns.size(), " columns and ", starts.size(),
           " starts are no matrix of ", rows, " compressed rows");
    }
    bool ascending = true;
    for (Eigen::Index row = 0; row < rows; ++row) {
      const std::int32_t begin = starts.data()[row], end = starts.data()[row + 1];
      if (end < begin || end > entries) fail(name, ": row ", row, " starts at ", begin, " and ends at ", end);
      for (std::int32_t k = begin; k < end; ++k) {
        const std::int32_t column = columns.data()[k];
        if (column < 0 || column >= cols) fail(name, ": row ", row, " has an entry in column ", column, " of ", cols);
        ascending = ascending && (k == begin || columns.data()[k - 1] < column);
      }
    }
    if (ascending) {
      return Eigen::Map<const Matrix::Sparse>(rows, cols, entries, starts.data(), columns.data(), values.data());
    }
    std::vector<Eigen::Triplet<double, std::int32_t>> all;
    for (Eigen::Index row = 0; row < rows; ++row) {
      for (std::int32_t k = starts.data()[row]; k < starts.data()[row + 1]; ++k) {
        all.emplace_back(static_cast<std::int32_t>(row), columns.data()[k], values.data()[k]);
      }
    }
    Matrix::Sparse sorted(rows, cols);
    sorted.setFromTriplets(all.begin(), all.end());
    return sorted;
  }

  static std::optional<double> real(const std::string& name, const py::object& given) {
    if (given.is_none()) return std::nullopt;
    const auto values = array<double>(name, given);
    if (values.size() != 1) fail(name, ": has ", values.size(), " entries, expected 1");
    return values.data()[0];
  }
  static std::optional<std::int64_t> integer(const std::string& name, const py::object& given) {
    if (given.is_none()) return std::nullopt;
    const auto values = array<std::int64_t>(name, given);
    if (values.size() != 1) fail(name, ": has ", values.size(), " entries, expected 1");
    return values.data()[0];
  }
  static std::string line(const std::string& name, const py::handle& given) {
    if (given.is_none()) return {};
    if (!py::isinstance<py::str>(given) && !py::isinstance<py::bytes>(given)) fail(name, ": expected text");
    return py::cast<std::string>(given);
  }
  std::vector<std::string> lines(const char* name) const {
    const py::object given = find(name);
    std::vector<std::string> result;
    if (given.is_none()) return result;
    if (py::isinstance<py::str>(given) || !py::isinstance<py::iterable>(given)) fail(name, ": expected texts");
    for (const py::handle one : given) result.push_back(line(name, one));
    return result;
  }

  static void read_answers(const py::object& given, Step& step) {
    if (!py::isinstance<py::dict>(given)) fail("answers: expected a dictionary by names");
    for (const auto& [key, value] : py::cast<py::dict>(given)) {
      const std::string name = line("answers", key);
      const std::string path = "answers/" + name;
      if (!py::isinstance<py::dict>(value)) fail(path, ": expected a dictionary");
      recording::Answer& answer = step.answers[name];
      for (const auto& [part, borrowed] : py::cast<py::dict>(value)) {
        const auto what = py::cast<std::string>(py::str(part));
        const std::string at = path + "/" + what;
        const auto content = py::reinterpret_borrow<py::object>(borrowed);
        if (what == "r") {
          answer.r = vector(at, content);
        } else if (what == "iterations") {
          answer.iterations = integer(at, content);
        } else if (what == "seconds") {
          answer.seconds = real(at, content);
        } else if (what == "tolerance") {
          answer.tolerance = real(at, content);
        } else if (what == "status") {
          answer.status = line(at, content);
        } else if (what == "law") {
          answer.law = line(at, content);
        } else if (!content.is_none()) {
          fail(at, ": an answer has no part of that name");
        }
      }
    }
  }

  const py::dict& parts_;
};

/// What is wrong with a step is conebench.Error's.
template <class Do>
auto raising(const Do& act) {
  try {
    return act();
  } catch (const recording::Error& error) {
    raise({ErrorCode::bad_input, error.what()});
  }
}

class Recorder {
 public:
  explicit Recorder(const std::string& path)
      : path_(path), recorder_(raising([&] { return std::make_unique<recording::Recorder>(path); })) {}

  void add(const py::dict& parts) {
    raising([&] {
      Step step;
      try {
        step = StepReader(parts).read();
      } catch (const recording::Error& error) {
        fail(path_, ": step ", steps() + 1, ": ", error.what());
      } catch (const py::cast_error&) {
        fail(path_, ": step ", steps() + 1, ": has a part that can't be read");
      }
      recorder_->add(step);
    });
  }
  std::int64_t steps() const { return recorder_->steps(); }
  void close() {
    raising([&] { recorder_->close(); });
  }

 private:
  std::string path_;
  std::unique_ptr<recording::Recorder> recorder_;
};

}  // namespace

void add_recording(py::module_& module) {
  py::class_<Recorder>(module, "Recorder")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def("add", &Recorder::add, py::arg("step"))
      .def("close", &Recorder::close)
      .def_property_readonly("steps", &Recorder::steps);
  module.def("recording_steps", [](const std::string& path) {
    std::vector<std::string> addresses;
    for (const auto& address : value_or_raise(recording_steps(path))) addresses.push_back(address.string());
    return addresses;
  });
}

}  // namespace conebench::python
