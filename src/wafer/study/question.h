#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/base/dtype.h"
#include "wafer/base/shape.h"
#include "wafer/base/units.h"
#include "wafer/estimate/answer.h"
#include "wafer/plan/plan.h"

namespace wafer::study {

enum class Phase : uint8_t { Train, Infer };
/// How a network is run. On a wafer: weights stream in layer by layer, or all layers lie on it as a
/// pipeline (training), or all weights lie on it (inference).
enum class Mode : uint8_t { Auto, Streamed, Pipelined, Resident, Cluster };
/// Element type of weights and activations. Any16 is for sources that say "16 bit" and no more; it
/// is priced at the machine's rate for 16-bit floats, as each of them is.
enum class Precision : uint8_t { Any16, F16, Bf16, Cb16, F32, Tf32 };

/// Samples of a step where the user names none.
inline constexpr int64_t DefaultBatch = 1024;

/// How a network is to be spread over a cluster of GPUs; what is absent is chosen.
struct ClusterPins {
  std::optional<int64_t> tensor{}, pipeline{}, data{}, interleaving{};
  std::optional<bool> sequence{};
  std::optional<plan::Sharding> sharding{};
  bool fused = true;            ///< see plan::Parallelism
  double length_variation = 0;  ///< see plan::Plan
};

/// USD for an hour of one wafer or GPU, by machine as it is asked.
using Prices = std::map<std::string, double>;

/// What is asked. Zero and empty stand for "chosen for you".
struct Question {
  std::string
      model{};  ///< a built-in name, a free form, an .onnx file, a config.json or its folder
  std::string machine = "wse2";  ///< a name, or the path of a TOML file
  Phase phase = Phase::Train;
  Mode mode = Mode::Auto;
  int64_t batch = DefaultBatch;  ///< samples of a step over all systems
  std::optional<int64_t> seq{};  ///< tokens of a sample; the model's own where absent
  Precision precision = Precision::Any16;
  int64_t systems = 1;
  std::optional<int64_t> micro_batch{};  ///< samples that one system works on at a time
  std::optional<plan::Recompute> recompute{};
  std::optional<int64_t> cores{};  ///< PEs of an edge of the mesh of a layer, with resident weights
  std::optional<int64_t> region{};                  ///< PEs that kernels of a pipeline may take
  plan::Sparsity sparsity{};                        ///< of the weights of layers
  std::vector<plan::WeightSparsity> sparsity_of{};  ///< of some weights, the last that matches
  std::optional<double> epoch_samples{};            ///< asks for epoch_seconds
  std::optional<double> tokens{};                   ///< asks for train_seconds
  std::string samples_to_target{};       ///< asks for time_to_target_seconds: see target_of
  std::optional<double> host_latency{};  ///< of inference, in seconds; the machine's where absent
  Prices prices{};                       ///< asks for cost: see cost_of
  ClusterPins cluster{};                 ///< on a cluster of GPUs
  DimBindings dims{};                    ///< symbolic dimensions of a model file
};

/// What a prediction rests on, held against the coverage of the validation: see coverage.h.
struct Situation {
  std::string machine{};
  Mode mode = Mode::Streamed;
  Phase phase = Phase::Train;
  int precision_bits = 16;
  double layers = 0;  ///< of the longest run of equal layers
  double hidden = 0;  ///< width of what they pass on
  double seq_len = 0;
  double tokens_per_micro_batch = 0;
  double systems = 1;
  double density = 1;
  std::vector<std::string> kernels{};  ///< implementations of the heavy kernels, sorted
};

/// Samples of training to a quality, and who measured it.
struct Target {
  double samples = 0;
  std::string quality;  ///< in words; empty where only a number was given
  std::string source;
};

/// What is paid for all systems together.
struct Cost {
  double usd = 0;
  /// For what: "target", "training", "epoch", "million_samples", "million_tokens_decoded".
  std::string of;
};

/// What zeros gain, against the same question asked dense.
struct SparseGain {
  Seconds dense_step;
  Joules dense_energy;
  double speed_up = 1;      ///< dense_step / the step
  double energy_ratio = 1;  ///< energy of a step to that of the dense one
  /// Density below which a weight, or a gradient, of this pattern has fewer bytes than dense.
  double weight_break_even = 0, gradient_break_even = 0;
  /// Density of all weights of layers below which the step is shorter than dense; absent where it
  /// never is, or where weights were asked for one by one.
  std::optional<double> step_break_even;
  /// Dense step / the step as the density goes to nothing, and what limits it then.
  std::optional<double> most_speed_up;
  estimate::Bound bound = estimate::Bound::Compute;
};

/// An answer to a question, and what was chosen on the way.
struct Result {
  Question question;
  std::string model;    ///< as asked, of a file its name
  std::string machine;  ///< name
  Mode mode = Mode::Streamed;
  std::string mode_reason;  ///< where it was chosen; empty where asked for
  int64_t seq_len = 1;
  int64_t micro_batch = 1;
  double micro_batches = 1;  ///< that one system runs in a step
  plan::Recompute recompute = plan::Recompute::None;
  std::string micro_batch_reason;
  std::string activation_reason;
  double parameters = 0;
  estimate::Answer answer;
  std::optional<Seconds> epoch{};  ///< of question.epoch_samples
  std::optional<Seconds> train{};  ///< of question.tokens
  std::optional<Target> target{};  ///< of question.samples_to_target, and
  std::optional<Seconds> time_to_target{};
  std::optional<Cost> cost{};          ///< at question.prices
  std::optional<SparseGain> sparse{};  ///< of weight streaming with zeros, where it was asked alone
  Situation situation;
  /// Mean absolute error of predictions of this kind (machine, mode, phase) on models that the fit
  /// has not seen; absent where no published measurement of the kind counts.
  std::optional<double> expected_error{};
  std::vector<std::string> extrapolated;  ///< what is outside the measurements, in words
};

/// Some weights are asked for with zeros.
bool is_sparse(const Question& question);
/// Which zeros a question asks for, in words: "0.75", "2:4, mlp/* 0.9".
std::string sparsity_text(const Question& question);
/// The share of zeros or N:M in a word. Throws InputError that starts with `option`.
plan::Sparsity sparsity_in(std::string_view word, std::string_view option);
/// "PATTERN=VALUE". Throws InputError that starts with "--sparsity-of".
plan::WeightSparsity weight_sparsity_in(std::string_view text);

std::string_view name_of(Phase phase);
std::string_view name_of(Mode mode);
std::string_view name_of(Precision precision);
std::optional<Phase> phase_named(std::string_view name);
std::optional<Mode> mode_named(std::string_view name);
std::optional<Precision> precision_named(std::string_view name);
std::optional<plan::Recompute> recompute_named(std::string_view name);
inline constexpr std::array Shardings = {plan::Sharding::None, plan::Sharding::Optimizer,
                                         plan::Sharding::Gradients, plan::Sharding::Full};

inline constexpr std::array Phases = {Phase::Train, Phase::Infer};
/// That can be asked for; clusters of GPUs have a mode of their own.
inline constexpr std::array Modes = {Mode::Auto, Mode::Streamed, Mode::Pipelined, Mode::Resident};
inline constexpr std::array Precisions = {Precision::Any16, Precision::F16, Precision::Bf16,
                                          Precision::Cb16,  Precision::F32, Precision::Tf32};

/// The edge of a square mesh: "480x480" or "480". Throws InputError that starts with `option`.
int64_t cores_of(std::string_view word, std::string_view option);

/// The type that the network is built in.
DType dtype_of(Precision precision);

/// Throws InputError with all that is wrong with the numbers of a question, by the names of the
/// command's options.
void check(const Question& question);

}  // namespace wafer::study
