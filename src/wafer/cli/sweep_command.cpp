#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "wafer/base/error.h"
#include "wafer/cli/commands.h"
#include "wafer/cli/interrupt.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/progress.h"
#include "wafer/cli/question_options.h"
#include "wafer/report/sweep.h"
#include "wafer/report/sweep_plot.h"
#include "wafer/study/pareto.h"
#include "wafer/study/sweep.h"

namespace wafer::cli {
namespace {

using report::SweepFormat;

struct Options {
  study::Question question;
  std::vector<std::string> axes;
  std::vector<std::string> pareto;
  int64_t threads = 0;
  Outputs outputs;
  std::string plot, x, y = "samples_per_second";
};

study::SweepRequest request_of(const Options& o) {
  study::SweepRequest request{.question = o.question, .axes = {}};
  for (const std::string& text : o.axes) request.axes.emplace_back(text);
  if (o.threads < 0 || o.threads > 1024) {
    throw InputError(
        fmt::format("--threads: expected 0 (one a core) to 1024, found {}", o.threads));
  }
  request.threads = static_cast<int>(o.threads);
  const bool has_model =
      std::any_of(request.axes.begin(), request.axes.end(),
                  [](const study::Axis& axis) { return axis.name() == "model"; });
  if (has_model == !o.question.model.empty()) {
    throw InputError(has_model ? "the model is given twice: as MODEL and as --axis model"
                               : "expected a MODEL, or --axis model=...");
  }
  return request;
}

/// A file and how rows are written to it.
struct Target {
  OutputFile file;
  report::SweepWriter writer;
  Target(const std::string& path, SweepFormat format, std::vector<study::SweepColumn> columns)
      : file(path), writer(format, std::move(columns)) {
    file.write(writer.begin());
  }
};

std::vector<std::unique_ptr<Target>> targets_of(const Options& o,
                                                const std::vector<study::SweepColumn>& columns) {
  std::vector<std::unique_ptr<Target>> all;
  const auto add = [&](const std::string& path, SweepFormat format) {
    if (!path.empty()) all.push_back(std::make_unique<Target>(path, format, columns));
  };
  const std::string& json = o.outputs.json;
  const bool lines = json.ends_with(".jsonl") || json.ends_with(".ndjson");
  add(json, lines ? SweepFormat::JsonLines : SweepFormat::Json);
  add(o.outputs.markdown, SweepFormat::Markdown);
  add(o.outputs.csv.empty() && all.empty() && o.plot.empty() ? "-" : o.outputs.csv,
      SweepFormat::Csv);
  return all;
}

bool prints_rows(const Options& o) {
  return (!o.outputs.any() && o.plot.empty()) || o.outputs.prints() || o.plot == "-";
}

std::optional<report::SweepPlot> plot_of(const Options& o, const study::SweepRequest& request) {
  if (o.plot.empty()) return std::nullopt;
  const uint64_t points = study::points_of(request);
  if (o.pareto.empty() && points > report::MostPlotted) {
    throw InputError(
        fmt::format("--plot: {} points are more than the {} of one plot; plot a front "
                    "(--pareto), or sweep fewer",
                    points, report::MostPlotted));
  }
  if (o.pareto.empty() || !o.x.empty()) return report::SweepPlot(request, o.x, o.y);
  return report::SweepPlot(request, o.pareto[0], o.pareto.at(1));
}

/// Everything that rows go to.
class Sinks {
 public:
  Sinks(const Options& o, const study::SweepRequest& request)
      : columns_(study::columns_of(request)), plot_(plot_of(o, request)) {
    study::points_of(request);  // refuses before any file is opened
    if (!o.pareto.empty()) front_.emplace(columns_, o.pareto);
    if (plot_) plot_file_ = std::make_unique<OutputFile>(o.plot);
    targets_ = targets_of(o, columns_);
  }

  void take(const study::SweepRow& row) {
    ++taken_;
    const auto* reason = std::get_if<std::string>(&row.values.back());
    if (reason != nullptr && first_reason_.empty()) first_reason_ = *reason;
    if (front_) return front_->add(row);
    put(row);
  }

  void finish() {
    if (front_) {
      for (const study::SweepRow& row : front_->rows()) put(row);
    }
    for (const auto& target : targets_) {
      target->file.write(target->writer.end());
      target->file.commit();
    }
    if (!plot_) return;
    plot_file_->write(report::svg(plot_->plot()));
    plot_file_->commit();
  }

  uint64_t taken() const { return taken_; }
  const std::string& first_reason() const { return first_reason_; }
  std::string summary() const {
    return front_ ? fmt::format("{} on the Pareto front\n", front_->rows().size()) : "";
  }

 private:
  void put(const study::SweepRow& row) {
    if (plot_) plot_->add(row);
    for (const auto& target : targets_) target->file.write(target->writer.row(row));
  }

  std::vector<study::SweepColumn> columns_;
  std::optional<study::ParetoFront> front_;
  std::optional<report::SweepPlot> plot_;
  std::unique_ptr<OutputFile> plot_file_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::string first_reason_;
  uint64_t taken_ = 0;
};

struct Stop {};

// Rows that are there when the user stops it are written as if there were no more.
study::SweepCounts run(const study::SweepRequest& request, Sinks& sinks) {
  const InterruptGuard guard;
  ProgressLine line("sweeping");
  const auto show = line.callback();
  try {
    return study::sweep(
        request, [&](const study::SweepRow& row) { sinks.take(row); },
        [&](size_t done, size_t of) {
          if (InterruptGuard::asked()) throw Stop();
          show(done, of);
        });
  } catch (const Stop&) {
    sinks.finish();
  }
  throw Interrupted{fmt::format("stopped; the rows of the first {} of {} points are written",
                                sinks.taken(), study::points_of(request))};
}

void sweep(const Options& options) {
  const study::SweepRequest request = request_of(options);
  Sinks sinks(options, request);
  const study::SweepCounts counts = run(request, sinks);
  sinks.finish();
  if (!prints_rows(options)) print_out(report::text(counts) + sinks.summary());
  if (counts.answered > 0) return;
  const std::string what = fmt::format("none of {} points has an answer; the first: {}",
                                       counts.points, sinks.first_reason());
  if (counts.no_room > 0) throw CapacityError(what);
  throw InputError(what);
}

void add_outputs(CLI::App& command, Options& o) {
  command
      .add_option("--pareto", o.pareto,
                  "only points that no other beats in these keys, two or more, as in\n"
                  "samples_per_second,energy_joules_per_sample")
      ->type_name("KEY,KEY,...")
      ->delimiter(',');
  add_forms(command, o.outputs);
  command.get_option("--json")->description(
      "an array with a row a line; JSON lines where FILE ends in\n.jsonl; '-' prints it");
  command.get_option("--csv")->description("default '-', which prints it; keys of JSON, SI units");
  command.get_option("--markdown")->description("a table, with values for people");
  command.add_option("--plot", o.plot, "a chart of lines, as SVG")->type_name("FILE.svg");
  command.add_option("--x", o.x, "axis or key of the chart; default: the first axis with numbers")
      ->type_name("NAME");
  command.add_option("--y", o.y, "its key; default samples_per_second")->type_name("KEY");
  add_count(command, "--threads", o.threads, "default: one a core; answers do not depend on it");
}

}  // namespace

void add_sweep(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("sweep", "the same question over ranges of its numbers and machines");
  add_question(*command, options->question);
  command->get_option("MODEL")->required(false);
  add_durations(*command, options->question);
  std::string names;
  for (const std::string& name : study::axis_names()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  command
      ->add_option("--axis", options->axes,
                   "may be given many times; every combination is asked, the last\n"
                   "axis turning fastest. VALUES: 256,512 or FIRST..LAST:STEP or\n"
                   "FIRST..LAST:xFACTOR")
      ->type_name("AXIS=VALUES")
      ->allow_extra_args(false)
      ->required();
  add_outputs(*command, *options);
  command->footer(
      "Axes: " + names +
      ",\nand any number of a machine by its TOML key (wafer machines show NAME), as KEY or\n"
      "MACHINE.KEY. At most 10,000,000 points. A point without an answer has a reason.\n"
      "Examples:\n"
      "  wafer sweep gpt3-1.3b --axis batch=64..4096:x2 --axis machine=wse2,a100-80gbx8\n"
      "  wafer sweep --axis model=gpt2,gpt3-1.3b --axis sparsity=0..0.9:0.1 --csv out.csv\n"
      "  wafer sweep bert-large --axis wse2.clock_hz=8e8..1.2e9:1e8 --plot clock.svg\n"
      "  wafer sweep gpt3-13b --axis machine=h100 --axis systems=8..512:x2 \\\n"
      "    --pareto samples_per_second,energy_joules_per_sample --json -");
  command->callback([options] { sweep(*options); });
}

}  // namespace wafer::cli
