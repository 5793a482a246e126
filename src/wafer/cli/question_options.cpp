#include "wafer/cli/question_options.h"

#include <fmt/format.h>

#include "wafer/cli/options.h"
#include "wafer/study/cost.h"

namespace wafer::cli {
namespace {

using study::Question;

constexpr std::array Recomputes = {plan::Recompute::None, plan::Recompute::Selective,
                                   plan::Recompute::Full};

void add_what(CLI::App& command, Question& q) {
  command
      .add_option("MODEL", q.model,
                  "a built-in name (wafer models), a free form such as\n"
                  "gpt:layers=24,hidden=2048,heads=16,vocab=50257,\n"
                  "an .onnx file, a Hugging Face config.json or its folder")
      ->required();
  command
      .add_option("--machine", q.machine,
                  "a name (wafer machines) or the path of a TOML file; default wse2")
      ->type_name("MACHINE");
  add_choice(
      command, "--phase", study::Phases, [&q](study::Phase phase) { q.phase = phase; },
      "default train");
  add_choice(
      command, "--mode", study::Modes, [&q](study::Mode mode) { q.mode = mode; },
      "how a wafer runs it; default auto: resident weights for networks that\n"
      "generate, where they fit, else weight streaming");
  command
      .add_option_function<std::string>(
          "--cores", [&q](const std::string& word) { q.cores = study::cores_of(word, "--cores"); },
          "mesh that a layer lies on with resident weights; default: the fastest")
      ->type_name("PxP");
}

void add_sizes(CLI::App& command, Question& q) {
  add_count(command, "--batch", q.batch,
            fmt::format("samples of a step over all systems; default {}", study::DefaultBatch));
  add_count(command, "--seq", q.seq, "tokens of a sample; default: the model's own");
  add_choice(
      command, "--precision", study::Precisions,
      [&q](study::Precision precision) { q.precision = precision; },
      "of weights and activations; default 16bit: any of the 16-bit floats,\n"
      "which the machine computes at one rate");
  add_count(command, "--systems", q.systems, "wafers, or GPUs; default 1");
  command
      .add_option_function<std::string>(
          "--sparsity",
          [&q](const std::string& word) { q.sparsity = study::sparsity_in(word, "--sparsity"); },
          "zeros in the weights of layers: their share, lying anywhere, or N:M,\n"
          "N non-zeros in every M neighbours; default 0")
      ->type_name("X|N:M");
  command
      .add_option_function<std::vector<std::string>>(
          "--sparsity-of",
          [&q](const std::vector<std::string>& words) {
            for (const std::string& word : words) {
              q.sparsity_of.push_back(study::weight_sparsity_in(word));
            }
          },
          "zeros in some weights, by kernel (mlp/up, 'mlp/*', head/vocabulary) or by\n"
          "parameter ('*.layers.0.*'); may be given many times, the last that matches counts")
      ->type_name("PATTERN=X|N:M")
      ->allow_extra_args(false)
      ->take_all();
  add_dims(command, q.dims);
}

void add_pins(CLI::App& command, Question& q) {
  add_count(command, "--micro-batch", q.micro_batch,
            "samples that one system works on at a time; default: the fastest");
  add_choice(
      command, "--recompute", Recomputes,
      [&q](plan::Recompute recompute) { q.recompute = recompute; },
      "what the backward pass computes again; default: none where memory allows");
  add_pes(command, "--region", q.region,
          "PEs that kernels may take in mode pipelined; default: the wafer");
  add_number(command, "--host-latency", q.host_latency,
             "seconds from input to output that the host needs for a batch of\n"
             "inference; default: the machine's; 0 leaves it out");
}

void add_spread(CLI::App& command, Question& q) {
  const std::string chosen = "; default: the fastest that fits";
  study::ClusterPins& c = q.cluster;
  add_count(command, "--tp", c.tensor, "GPUs that share the matrices of a layer" + chosen);
  add_count(command, "--pp", c.pipeline, "pipeline stages" + chosen);
  add_count(command, "--dp", c.data, "replicas" + chosen);
  add_count(command, "--interleaving", c.interleaving,
            "runs of layers that a pipeline stage holds" + chosen);
  command.add_flag_callback(
      "--sequence-parallel", [&c] { c.sequence = true; },
      "tensor ranks share what lies between the matrices, by tokens");
  command.add_flag_callback(
      "--no-sequence-parallel", [&c] { c.sequence = false; }, "they hold it each");
  add_choice(
      command, "--sharding", study::Shardings,
      [&c](plan::Sharding sharding) { c.sharding = sharding; },
      "what replicas divide among themselves: nothing, the optimizer's\n"
      "state, gradients too, weights too" +
          chosen);
  command.add_flag_callback(
      "--plain-attention", [&c] { c.fused = false; },
      "attention keeps its scores, and dropout runs (software before 2022)");
  add_number(command, "--length-variation", c.length_variation,
             "deviation of the lengths of unpadded samples / their mean; default 0");
  for (const char* option :
       {"--tp", "--pp", "--dp", "--interleaving", "--sequence-parallel", "--no-sequence-parallel",
        "--sharding", "--plain-attention", "--length-variation"}) {
    command.get_option(option)->group("On a cluster of GPUs");
  }
}

}  // namespace

void add_question(CLI::App& command, Question& question) {
  add_what(command, question);
  add_sizes(command, question);
  add_pins(command, question);
  add_spread(command, question);
}

void add_durations(CLI::App& command, Question& question) {
  add_number(command, "--epoch-samples", question.epoch_samples,
             "samples of an epoch: tells its time");
  add_number(command, "--tokens", question.tokens, "tokens to train on: tells the time to train");
  command
      .add_option("--samples-to-target", question.samples_to_target,
                  "samples that training takes to a quality, which grow with the batch:\n"
                  "mlperf-bert-v0.7, mlperf-bert-v2.0, a CSV file (batch, samples, target,\n"
                  "source) or a number: tells the time to that quality")
      ->type_name("CURVE");
  command
      .add_option_function<std::vector<std::string>>(
          "--price",
          [&prices = question.prices](const std::vector<std::string>& words) {
            for (const std::string& word : words) study::add_price(prices, word);
          },
          "USD for an hour of one wafer or GPU of a machine: tells the cost of\n"
          "training to the target, else for the tokens, else of an epoch, else\n"
          "of a million samples or tokens decoded; may be given many times")
      ->type_name("MACHINE=USD")
      ->allow_extra_args(false)
      ->take_all();
}

}  // namespace wafer::cli
