#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "wafer/ir/graph.h"
#include "wafer/models/models.h"

namespace wafer::importers {

/// The network that a Hugging Face config.json describes: `path` is the file or its folder.
/// model_type bert, gpt2, gptj, gpt_neox, llama, mistral, qwen2, vit or esm (ESM-2); the head is
/// that of `architectures`, and where the file has none, what the family was published with. Absent
/// keys mean what they mean to transformers; keys without influence on the network (dropout, token
/// ids, ...) are passed over. docs/models.md lists what is read.
/// Throws InputError naming the file and each key at fault: no JSON, an unknown model_type,
/// architecture or activation, a value of the wrong kind, sizes that do not go together, and
/// options that are not supported.
models::ModelSpec read_huggingface(const std::filesystem::path& path);

/// The same from the text of a config.json; `file` stands for it in messages and is the spec's
/// name.
models::ModelSpec parse_huggingface(std::string_view json, const std::string& file);

/// models::build(read_huggingface(path), options).
ir::Graph import_huggingface(const std::filesystem::path& path,
                             const models::BuildOptions& options = {});

}  // namespace wafer::importers
