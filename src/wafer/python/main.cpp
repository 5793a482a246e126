#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <filesystem>
#include <new>
#include <utility>

#include "wafer/base/data_dir.h"
#include "wafer/base/error.h"
#include "wafer/machine/load.h"
#include "wafer/machine/print.h"
#include "wafer/python/question.h"
#include "wafer/report/answer.h"
#include "wafer/report/catalog.h"
#include "wafer/report/compare.h"
#include "wafer/report/validation.h"
#include "wafer/study/compare.h"
#include "wafer/study/fit.h"
#include "wafer/study/pareto.h"
#include "wafer/study/sweep.h"
#include "wafer/study/validate.h"

// The module openwafer._core: questions and answers as JSON, the tables of the command line as
// text. What users see of it is in openwafer/. The GIL is released while anything is computed.

namespace wafer::python {
namespace {

namespace py = pybind11;
using Progress = std::function<void(size_t, size_t)>;
/// An answer for programs and for people.
using Told = std::pair<std::string, std::string>;

// Calls `heard`, and lets Ctrl-C end what is going on. `heard` outlives it.
Progress telling(const py::object& heard) {
  return [&heard](size_t done, size_t of) {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!heard.is_none()) heard(done, of);
  };
}

Told estimate(const std::string& asked, bool paper_roofline) {
  const py::gil_scoped_release free;
  const study::Result result = study::answer(question_of(asked));
  const report::AnswerOptions show{.paper_roofline = paper_roofline};
  return {report::json(result, show), report::text(result, show)};
}

Told compare(const std::string& asked, const std::vector<std::string>& machines) {
  const py::gil_scoped_release free;
  std::vector<study::Contender> contenders;
  for (const std::string& word : machines) contenders.push_back(study::contender(word));
  study::Workbench bench;
  const std::vector<study::CompareRow> rows = study::compare(question_of(asked), contenders, bench);
  return {report::json(rows), report::text(rows)};
}

Told validate(const std::string& file, bool cross, const py::object& heard) {
  const Progress progress = telling(heard);
  const py::gil_scoped_release free;
  study::Workbench bench;
  const std::vector<study::Measurement> rows = study::measurements(study::Csv::load(file));
  report::ValidationReport report{.validation = study::validate(rows, file, bench, progress),
                                  .crosses = {}};
  if (cross) report.crosses = study::cross_validations(study::fit_kinds(), rows, bench, progress);
  return {report::json(report), report::text(report)};
}

struct Swept {
  std::vector<std::string> columns;
  std::vector<bool> of_machine;  ///< of columns: a number of a machine, named as it was given
  std::vector<std::vector<study::Value>> rows;
  uint64_t points = 0, answered = 0, no_room = 0;
};

// JSON knows no infinity and no NaN; neither do these rows.
std::vector<study::Value> finite(std::vector<study::Value> values) {
  for (study::Value& value : values) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number)) value = std::monostate();
  }
  return values;
}

Swept sweep(const std::string& asked, const std::vector<std::string>& axes,
            const std::vector<std::string>& pareto, int threads, const py::object& heard) {
  const Progress progress = telling(heard);
  const py::gil_scoped_release free;
  study::SweepRequest request{.question = question_of(asked), .axes = {}, .threads = threads};
  for (const std::string& text : axes) request.axes.emplace_back(text);
  Swept swept;
  const std::vector<study::SweepColumn> columns = study::columns_of(request);
  for (const study::SweepColumn& column : columns) {
    swept.columns.push_back(column.name);
    swept.of_machine.push_back(column.of_machine);
  }
  std::optional<study::ParetoFront> front;
  if (!pareto.empty()) front.emplace(columns, pareto);
  const auto take = [&](study::SweepRow row) {
    if (front) return front->add(row);
    swept.rows.push_back(finite(std::move(row.values)));
  };
  const study::SweepCounts counts = study::sweep(request, take, progress);
  if (front) {
    for (const study::SweepRow& row : front->rows()) swept.rows.push_back(finite(row.values));
  }
  swept.points = counts.points;
  swept.answered = counts.answered;
  swept.no_room = counts.no_room;
  return swept;
}

std::string machines(const std::string& name) {
  const py::gil_scoped_release free;
  if (!name.empty()) return machine::print_json(machine::load(name));
  std::vector<machine::Machine> all;
  for (const std::string& one : machine::names()) all.push_back(machine::load(one));
  return machine::print_json(all);
}

std::string models() {
  const py::gil_scoped_release free;
  return report::json(study::known_models());
}

// Our errors as classes of openwafer._errors, the others as the command line tells them.
// pybind11 calls it with a copy.
void translate(std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param)
  const auto raise = [](const char* name, const std::string& what) {
    const py::object type = py::module_::import("openwafer._errors").attr(name);
    PyErr_SetString(type.ptr(), what.c_str());
  };
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& e) {
    raise("InputError", e.what());
  } catch (const CapacityError& e) {
    raise("CapacityError", e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    raise("InputError", e.what());
  } catch (const std::bad_alloc&) {
    raise("CapacityError", "this machine's memory does not suffice for it");
  } catch (const InternalError& e) {
    raise("InternalError", std::string("a fault of ours, please report it: ") + e.what());
  }
}

}  // namespace
}  // namespace wafer::python

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  // The module is that namespace.
  using namespace wafer::python;  // NOLINT(google-build-using-namespace)
  using py::literals::operator""_a;
  module.doc() = "Questions and answers as JSON; see the package openwafer.";
  module.attr("version") = WAFER_VERSION;
  py::register_exception_translator(&translate);
  module.def("estimate", &estimate, "asked"_a, "paper_roofline"_a);
  module.def("compare", &compare, "asked"_a, "machines"_a);
  module.def("validate", &validate, "file"_a, "cross"_a, "progress"_a);
  module.def("machines", &machines, "name"_a);
  module.def("models", &models);
  module.def("settings", &wafer::study::axis_names);
  module.def("find_data",
             [](const std::string& relative) { return wafer::find_data(relative).string(); });
  py::class_<Swept>(module, "Swept")
      .def_readonly("columns", &Swept::columns)
      .def_readonly("of_machine", &Swept::of_machine)
      .def_readonly("rows", &Swept::rows)
      .def_readonly("points", &Swept::points)
      .def_readonly("answered", &Swept::answered)
      .def_readonly("no_room", &Swept::no_room);
  module.def("sweep", &sweep, "asked"_a, "axes"_a, "pareto"_a, "threads"_a, "progress"_a);
}
