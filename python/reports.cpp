#include <pybind11/stl.h>

#include "cli/stores_argument.hpp"
#include "python/core.hpp"
#include "reports/analysis.hpp"
#include "reports/formats.hpp"
#include "reports/report.hpp"
#include "runners/plan/filter.hpp"

namespace conebench::python {

namespace {

namespace py = pybind11;

/// A file of `conebench report --format csv`, by its name.
py::bytes report_table(const std::vector<std::string>& stores, const std::string& file, bool all_cells,
                       bool force_time_profiles, const std::string& filter, const std::string& by) {
  Result<std::string> text = [&]() -> Result<std::string> {
    const py::gil_scoped_release others_may_run;
    const auto groups = parse_report_groups(by);
    if (!groups) return Error{groups.error().code, "by: " + groups.error().message};
    const auto fits = CellFilter::parse(filter, {.where = "filter", .of_stored_cells = true});
    if (!fits) return fits.error();
    auto read = cli::read_joined(stores, all_cells);
    if (!read) return read.error();
    if (!filter.empty()) *read = filtered(std::move(*read), *fits, filter);
    const StoreContents contents = grouped(std::move(*read), *groups);
    const auto analysis = reports::analyse(contents, force_time_profiles);
    for (const auto& table : reports::csv_files(analysis)) {
      if (table.path == file) return collected(table.content);
    }
    return Error{ErrorCode::internal, "no table " + file};
  }();
  return py::bytes(value_or_raise(std::move(text)));
}

}  // namespace

void add_reports(py::module_& module) { module.def("report_table", &report_table); }

}  // namespace conebench::python
