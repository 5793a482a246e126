#include "wafer/study/measurement.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "wafer/base/error.h"
#include "wafer/models/models.h"

namespace wafer::study {
namespace {

constexpr std::array Required = {"id", "machine", "model", "phase", "batch", "predict", "expect"};

// Reads the cells of one row; the first that cannot be read is the row's problem.
class RowReader {
 public:
  RowReader(const Csv& csv, size_t row) : csv_(csv), row_(row) {}

  std::string text(const char* column) const { return std::string(csv_.cell(row_, column)); }
  const std::string& problem() const { return problem_; }

  std::optional<double> number(const char* column) {
    return read<double>(column, "a number", csv_.cell(row_, column));
  }
  std::optional<int64_t> count(const char* column) {
    return read<int64_t>(column, "a whole number", csv_.cell(row_, column));
  }

  // "480x480"
  std::optional<int64_t> cores() {
    const std::string_view cell = csv_.has("cores") ? csv_.cell(row_, "cores") : "";
    if (cell.empty()) return std::nullopt;
    try {
      return cores_of(cell, "cores");
    } catch (const InputError&) {
      fail("cores", "the edges of a square mesh, as 480x480");
      return std::nullopt;
    }
  }

  // "dense", "0.75", "75%", "75% unstructured", "2:4".
  plan::Sparsity sparsity() {
    std::string_view cell = csv_.cell(row_, "sparsity");
    if (cell.empty()) return {};
    const std::string_view unstructured = " unstructured";
    if (cell.ends_with(unstructured)) cell.remove_suffix(unstructured.size());
    const std::optional<plan::Sparsity> sparsity = plan::sparsity_named(cell);
    if (!sparsity) fail("sparsity", "dense, a fraction or percentage below all, or N:M");
    return sparsity.value_or(plan::Sparsity());
  }

  template <typename Enum>
  Enum word(const char* column, std::optional<Enum> (*named)(std::string_view), Enum otherwise,
            const char* expected) {
    const std::string_view cell = csv_.cell(row_, column);
    if (cell.empty()) return otherwise;
    const std::optional<Enum> value = named(cell);
    if (!value) fail(column, expected);
    return value.value_or(otherwise);
  }

  void fail(const char* column, const std::string& expected) {
    if (!problem_.empty()) return;
    problem_ = fmt::format("line {}, column {}: expected {}, found \"{}\"", csv_.line(row_), column,
                           expected, csv_.cell(row_, column));
  }

 private:
  template <typename Number>
  std::optional<Number> read(const char* column, const char* expected, std::string_view cell) {
    if (cell.empty()) return std::nullopt;
    Number value = 0;
    const char* const end = cell.data() + cell.size();
    const auto [rest, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc() && rest == end && std::isfinite(static_cast<double>(value))) {
      return value;
    }
    fail(column, expected);
    return std::nullopt;
  }

  const Csv& csv_;
  size_t row_;
  std::string problem_;
};

// A network whose learned positions do not reach the sequence that a row states was measured with
// more of them than its name has; their table takes no part in the arithmetic.
std::string with_positions_for(const std::string& model, std::optional<int64_t> seq) {
  try {
    const models::ModelSpec spec = models::parse(model);
    const auto* sizes = std::get_if<models::TransformerSpec>(&spec.network);
    const bool is_short = sizes != nullptr && seq && sizes->learned_positions &&
                          !sizes->resizable_positions && *seq > sizes->max_positions;
    if (!is_short) return model;
    return fmt::format("{}{}seq={}", model, model.find(':') == std::string::npos ? ":" : ",", *seq);
  } catch (const InputError&) {
    return model;  // opening it tells what is wrong
  }
}

// The spread over GPUs that a row states. One that states no tensor or pipeline ranks has none;
// what is said of sharded replicas (FSDP) stands in the workload, and such software fuses
// attention.
// A row with a mode is of a wafer.
ClusterPins pins_of(RowReader& row, const Question& q) {
  if (!row.text("mode").empty()) return {};
  ClusterPins pins{.tensor = row.count("tensor"),
                   .pipeline = row.count("pipeline"),
                   .data = row.count("data"),
                   .interleaving = row.count("interleaving")};
  if (const auto sequence = row.count("sequence_parallel")) pins.sequence = *sequence != 0;
  const std::string workload = row.text("workload");
  const auto says = [&](const char* word) { return workload.find(word) != std::string::npos; };
  pins.fused = says("FSDP");
  pins.sharding = says("FULL_SHARD")      ? plan::Sharding::Full
                  : says("SHARD_GRAD_OP") ? plan::Sharding::Gradients
                                          : plan::Sharding::None;
  if (q.phase == Phase::Train && !pins.tensor) pins.tensor = 1;
  if (q.phase == Phase::Train && !pins.pipeline) pins.pipeline = 1;
  return pins;
}

Question question_of(RowReader& row) {
  Question q;
  q.machine = row.text("machine");
  q.phase = row.word<Phase>("phase", phase_named, Phase::Train, "train or infer");
  q.mode = row.word<Mode>("mode", mode_named, Mode::Auto, "streamed, pipelined or resident");
  q.batch = row.count("batch").value_or(DefaultBatch);
  q.seq = row.count("seq_len");
  q.model = with_positions_for(row.text("model"), q.seq);
  q.precision = row.word<Precision>("precision_class", precision_named, Precision::Any16,
                                    "16bit, f16, bf16, cb16, f32 or tf32");
  q.systems = row.count("n_systems").value_or(1);
  q.micro_batch = row.count("micro_batch");
  if (!row.text("recompute").empty()) {
    q.recompute = row.word<plan::Recompute>("recompute", recompute_named, plan::Recompute::None,
                                            "none, selective or full");
  }
  q.cores = row.cores();
  q.sparsity = row.sparsity();
  q.cluster = pins_of(row, q);
  return q;
}

Measurement measurement_of(const Csv& csv, size_t index) {
  RowReader row(csv, index);
  Measurement m;
  m.id = row.text("id");
  m.source = row.text("source");
  m.line = csv.line(index);
  m.machine = row.text("machine");
  m.mode = row.text("mode");
  m.model = row.text("model");
  m.phase = row.text("phase");
  m.predict = row.text("predict");
  if (m.predict.empty()) return m;  // context: its cells are for people
  m.expect = row.number("expect");
  m.scored = m.expect && (!csv.has("scored") || row.text("scored") == "1");
  m.question = question_of(row);
  m.problem = row.problem();
  return m;
}

// "epoch_seconds:67350" is {"epoch_seconds", 67350}.
struct Quantity {
  std::string name;
  std::optional<double> count;
};

Quantity quantity_of(const std::string& predict) {
  const size_t colon = predict.find(':');
  Quantity q{predict.substr(0, colon), std::nullopt};
  if (colon == std::string::npos) return q;
  const std::string count = predict.substr(colon + 1);
  double value = 0;
  const auto [rest, error] = std::from_chars(count.data(), count.data() + count.size(), value);
  if (error == std::errc() && rest == count.data() + count.size() && value > 0) q.count = value;
  return q;
}

// What only answers of GPUs have; not a number in others.
constexpr double Absent = std::numeric_limits<double>::quiet_NaN();

using Read = double (*)(const estimate::Answer&, double count);
struct Known {
  const char* name;
  bool needs_count;
  Read read;
};
using estimate::Answer;
constexpr std::array Quantities = {
    Known{"samples_per_second", false,
          [](const Answer& a, double) { return a.samples_per_second; }},
    Known{"tokens_per_second", false, [](const Answer& a, double) { return a.tokens_per_second; }},
    Known{"step_seconds", false, [](const Answer& a, double) { return a.step.value; }},
    Known{"epoch_seconds", true,
          [](const Answer& a, double samples) { return samples / a.samples_per_second; }},
    Known{"train_seconds", true,
          [](const Answer& a, double tokens) { return tokens / a.tokens_per_second; }},
    Known{"model_flops_per_second", false,
          [](const Answer& a, double) { return a.model_flops_per_second.value; }},
    Known{"utilization", false, [](const Answer& a, double) { return a.utilization; }},
    Known{"hardware_flops_per_second_per_gpu", false,
          [](const Answer& a, double) {
            return a.cluster ? a.cluster->hardware_flops_per_gpu.value : Absent;
          }},
    Known{"host_latency_seconds", false,
          [](const Answer& a, double) { return a.host_latency ? a.host_latency->value : Absent; }},
    Known{"prefill_tokens_per_second", false,
          [](const Answer& a, double) { return a.prefill_tokens_per_second.value_or(Absent); }},
    Known{"decode_tokens_per_second", false,
          [](const Answer& a, double) { return a.decode_tokens_per_second.value_or(Absent); }},
    Known{"energy_joules_per_step", false,
          [](const Answer& a, double) { return a.energy_per_step.value; }},
};

const Known* known(const std::string& name) {
  for (const Known& k : Quantities) {
    if (name == k.name) return &k;
  }
  return nullptr;
}

void check_columns(const Csv& csv) {
  Problems problems;
  for (const char* column : Required) {
    if (!csv.has(column)) problems.add(fmt::format("column {} is missing", column));
  }
  problems.throw_if_any(fmt::format(
      "{}:1: expected the columns of a measurement file (validation/README.md)", csv.file()));
}

void check_ids(const Csv& csv, const std::vector<Measurement>& all) {
  std::map<std::string, size_t> lines;
  Problems problems;
  for (const Measurement& m : all) {
    const auto [first, is_new] = lines.emplace(m.id, m.line);
    if (is_new) continue;
    problems.add(fmt::format("{}:{}: id \"{}\" stands in line {} already", csv.file(), m.line, m.id,
                             first->second));
  }
  problems.throw_if_any(fmt::format("{}: each row needs an id of its own", csv.file()));
}

}  // namespace

std::vector<Measurement> measurements(const Csv& csv) {
  check_columns(csv);
  std::vector<Measurement> all;
  for (size_t i = 0; i < csv.rows(); ++i) all.push_back(measurement_of(csv, i));
  check_ids(csv, all);
  return all;
}

std::string configuration_of(const Measurement& m) {
  const Question& q = m.question;
  const ClusterPins& c = q.cluster;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", q.model, m.machine,
                     m.mode, q.cores.value_or(0), name_of(q.phase), q.batch, q.seq.value_or(0),
                     name_of(q.precision), q.systems, sparsity_text(q), m.predict,
                     q.recompute ? plan::name_of(*q.recompute) : "", c.tensor.value_or(0),
                     c.pipeline.value_or(0), c.interleaving.value_or(0), c.sequence.value_or(false),
                     c.sharding ? plan::name_of(*c.sharding) : "", c.fused);
}

std::string refuse_quantity(const std::string& predict) {
  const Quantity q = quantity_of(predict);
  const Known* const k = known(q.name);
  if (k == nullptr) return fmt::format("{}: not a quantity that this version predicts", q.name);
  if (k->needs_count && !q.count) {
    return fmt::format("{}: expected a positive number after a colon, found \"{}\"", q.name,
                       predict);
  }
  return {};
}

double predicted(const Measurement& m, const estimate::Answer& answer) {
  const Quantity q = quantity_of(m.predict);
  const Known* const k = known(q.name);
  WAFER_CHECK(k != nullptr, m.predict);
  return k->read(answer, q.count.value_or(0));
}

}  // namespace wafer::study
