#include "wafer/study/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "wafer/base/error.h"
#include "wafer/compile/outline.h"
#include "wafer/compile/precision.h"
#include "wafer/importers/huggingface.h"
#include "wafer/importers/onnx.h"
#include "wafer/models/models.h"

namespace wafer::study {
namespace fs = std::filesystem;
namespace {

bool is_path(const std::string& model) {
  const std::string_view text = model;
  return text.find('/') != std::string_view::npos || text.ends_with(".onnx") ||
         text.ends_with(".json");
}

// A name wins over a file or folder of that name, which "./NAME" reaches.
std::optional<models::ModelSpec> built_in(const std::string& model) {
  if (is_path(model)) return std::nullopt;
  try {
    return models::parse(model);
  } catch (const InputError&) {
    std::error_code unreadable;
    if (!fs::exists(model, unreadable)) throw;
    return std::nullopt;
  }
}

// The last part of a path that says something: a config.json goes by its folder.
std::string name_of_file(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  if (name == "config.json") name = whole.parent_path().filename();
  return name.string();
}

// The spec behind a name, a config.json or its folder; nothing for an ONNX file.
std::optional<models::ModelSpec> spec_of(const std::string& model) {
  if (auto spec = built_in(model)) return spec;
  const fs::path path(model);
  std::error_code absent;
  if (fs::is_directory(path, absent) || path.extension() == ".json") {
    models::ModelSpec spec = importers::read_huggingface(path);
    spec.name = name_of_file(path);
    return spec;
  }
  if (path.extension() == ".onnx") return std::nullopt;
  if (!fs::exists(path, absent)) throw InputError(fmt::format("{}: no such file", model));
  throw InputError(
      fmt::format("{}: expected an .onnx file, a config.json or the folder that holds one", model));
}

// Tokens that a sample of a graph is made of: what its attention runs over; without attention the
// length of its first integer input; else 1, as for images.
int64_t tokens_of(const ir::Graph& graph) {
  for (const ir::Function& function : graph.functions) {
    for (const ir::Op& op : function.ops) {
      if (op.kind != ir::OpKind::Attention) continue;
      const Dim& length = function.type_of(op.operands[0]).shape[2];  // q: [B, H, S, D]
      if (length.is_static()) return length.value();
    }
  }
  for (const ir::Input& input : graph.entry().inputs) {
    const TensorType& type = graph.entry().type_of(input.value);
    const bool is_tokens = input.role == ir::Role::Data && is_integer(type.dtype);
    if (is_tokens && type.rank() > 1 && type.shape[1].is_static()) return type.shape[1].value();
  }
  return 1;
}

Network open_onnx(const NetworkRequest& request) {
  const importers::OnnxOptions options{.dims = request.dims,
                                       .batch = request.batch,
                                       .seq = request.seq,
                                       .batch_statistics = request.train};
  Network network{.name = name_of_file(request.model),
                  .graph = importers::import_onnx(request.model, options),
                  .typed_by_file = true};
  network.tokens_per_sample = tokens_of(network.graph);
  if (request.seq && *request.seq != network.tokens_per_sample) {
    throw InputError(
        fmt::format("--seq {}: the samples of {} have {} token{}, and the file does not "
                    "leave that open",
                    *request.seq, request.model, network.tokens_per_sample,
                    network.tokens_per_sample == 1 ? "" : "s"));
  }
  return network;
}

void refuse_dims(const NetworkRequest& request) {
  if (request.dims.empty()) return;
  throw InputError(
      fmt::format("--dim {}: {} has no symbolic dimension of that name; its batch and sequence are "
                  "--batch and --seq",
                  request.dims.begin()->first, request.model));
}

}  // namespace

Network open_network(const NetworkRequest& request) {
  const std::optional<models::ModelSpec> spec = spec_of(request.model);
  if (!spec) return open_onnx(request);
  refuse_dims(request);
  const models::BuildOptions options{
      .seq_len = request.seq.value_or(0), .dtype = request.dtype, .train = request.train};
  return {.name = spec->name,
          .graph = models::build(*spec, options),
          .tokens_per_sample = models::sequence_length(*spec, options)};
}

ir::Graph prepared(const Network& network, DType precision) {
  if (!network.typed_by_file) return compile::outline(network.graph);
  return compile::outline(compile::in_precision(network.graph, precision));
}

std::optional<int64_t> encoder_parameters(const std::string& model) {
  const std::optional<models::ModelSpec> spec = spec_of(model);
  return spec ? models::encoder_parameters(*spec) : std::nullopt;
}

bool is_gpt(const std::string& model) {
  const std::optional<models::ModelSpec> spec = spec_of(model);
  const auto* t = spec ? std::get_if<models::TransformerSpec>(&spec->network) : nullptr;
  if (t == nullptr || t->head != models::Head::LanguageModel) return false;
  using models::Naming;
  return t->naming == Naming::Gpt2 || t->naming == Naming::GptJ || t->naming == Naming::GptNeoX;
}

}  // namespace wafer::study
