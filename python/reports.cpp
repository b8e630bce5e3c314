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

/// A file of `conebench report --format csv`, by its name, and the kind of each of its columns: "text", "count",
/// "number" or "flag".
py::tuple report_table(const std::vector<std::string>& stores, const std::string& file, bool all_cells,
                       bool force_time_profiles, const std::string& filter, const std::string& by) {
  using Table = std::pair<std::string, std::map<std::string, std::string>>;
  Result<Table> table = [&]() -> Result<Table> {
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
    for (const reports::CsvFile& found : reports::csv_files(analysis)) {
      if (found.file.path != file) continue;
      Table text{collected(found.file.content), {}};
      for (const reports::CsvColumn& column : found.columns) text.second[column.name] = to_string(column.kind);
      return text;
    }
    return Error{ErrorCode::internal, "no table " + file};
  }();
  const auto [text, kinds] = value_or_raise(std::move(table));
  return py::make_tuple(py::bytes(text), kinds);
}

}  // namespace

void add_reports(py::module_& module) { module.def("report_table", &report_table); }

}  // namespace conebench::python
