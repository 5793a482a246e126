#include "wafer/models/names.h"

#include "wafer/base/error.h"

namespace wafer::models {
namespace {

constexpr Names Bert = {
    .word = "bert.embeddings.word_embeddings",
    .positions = "bert.embeddings.position_embeddings.weight",
    .token_types = "bert.embeddings.token_type_embeddings",
    .embedding_norm = "bert.embeddings.LayerNorm",
    .layer = "bert.encoder.layer.",
    .qkv = {},
    .query = "attention.self.query",
    .key = "attention.self.key",
    .value = "attention.self.value",
    .out = "attention.output.dense",
    .attention_norm = "attention.output.LayerNorm",
    .mlp_norm = "output.LayerNorm",
    .gate = {},
    .up = "intermediate.dense",
    .down = "output.dense",
    .final_norm = {},
    .pooler = "bert.pooler.dense",
    .head_dense = "cls.predictions.transform.dense",
    .head_norm = "cls.predictions.transform.LayerNorm",
    .output = "cls.predictions.decoder",
    .output_bias = "cls.predictions.bias",
    .classifier = "classifier",
};

constexpr Names Gpt2 = {
    .word = "transformer.wte",
    .positions = "transformer.wpe.weight",
    .token_types = {},
    .embedding_norm = {},
    .layer = "transformer.h.",
    .qkv = "attn.c_attn",
    .query = {},
    .key = {},
    .value = {},
    .out = "attn.c_proj",
    .attention_norm = "ln_1",
    .mlp_norm = "ln_2",
    .gate = {},
    .up = "mlp.c_fc",
    .down = "mlp.c_proj",
    .final_norm = "transformer.ln_f",
    .pooler = {},
    .head_dense = {},
    .head_norm = {},
    .output = "lm_head",
    .output_bias = "lm_head.bias",
    .classifier = "score",
    .classifier_bias = false,
    .matrices_in_out = true,
};

constexpr Names GptJ = {
    .word = "transformer.wte",
    .positions = {},
    .token_types = {},
    .embedding_norm = {},
    .layer = "transformer.h.",
    .qkv = {},
    .query = "attn.q_proj",
    .key = "attn.k_proj",
    .value = "attn.v_proj",
    .out = "attn.out_proj",
    .attention_norm = "ln_1",
    .mlp_norm = {},
    .gate = {},
    .up = "mlp.fc_in",
    .down = "mlp.fc_out",
    .final_norm = "transformer.ln_f",
    .pooler = {},
    .head_dense = {},
    .head_norm = {},
    .output = "lm_head",
    .output_bias = "lm_head.bias",
    .classifier = "score",
    .classifier_bias = false,
};

constexpr Names GptNeoX = {
    .word = "gpt_neox.embed_in",
    .positions = {},
    .token_types = {},
    .embedding_norm = {},
    .layer = "gpt_neox.layers.",
    .qkv = "attention.query_key_value",
    .query = {},
    .key = {},
    .value = {},
    .out = "attention.dense",
    .attention_norm = "input_layernorm",
    .mlp_norm = "post_attention_layernorm",
    .gate = {},
    .up = "mlp.dense_h_to_4h",
    .down = "mlp.dense_4h_to_h",
    .final_norm = "gpt_neox.final_layer_norm",
    .pooler = {},
    .head_dense = {},
    .head_norm = {},
    .output = "embed_out",
    .output_bias = "embed_out.bias",
    .classifier = "score",
    .classifier_bias = false,
    .matrices_in_out = false,
    .qkv_by_head = true,
};

constexpr Names Llama = {
    .word = "model.embed_tokens",
    .positions = {},
    .token_types = {},
    .embedding_norm = {},
    .layer = "model.layers.",
    .qkv = {},
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .out = "self_attn.o_proj",
    .attention_norm = "input_layernorm",
    .mlp_norm = "post_attention_layernorm",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .final_norm = "model.norm",
    .pooler = {},
    .head_dense = {},
    .head_norm = {},
    .output = "lm_head",
    .output_bias = "lm_head.bias",
    .classifier = "score",
    .classifier_bias = false,
};

constexpr Names Esm = {
    .word = "esm.embeddings.word_embeddings",
    .positions = "esm.embeddings.position_embeddings.weight",
    .token_types = {},
    .embedding_norm = "esm.embeddings.layer_norm",
    .layer = "esm.encoder.layer.",
    .qkv = {},
    .query = "attention.self.query",
    .key = "attention.self.key",
    .value = "attention.self.value",
    .out = "attention.output.dense",
    .attention_norm = "attention.LayerNorm",
    .mlp_norm = "LayerNorm",
    .gate = {},
    .up = "intermediate.dense",
    .down = "output.dense",
    .final_norm = "esm.encoder.emb_layer_norm_after",
    .pooler = "esm.pooler.dense",
    .head_dense = "lm_head.dense",
    .head_norm = "lm_head.layer_norm",
    .output = "lm_head.decoder",
    .output_bias = "lm_head.bias",
    .classifier = "classifier",
};

constexpr Names Vit = {
    .word = "vit.embeddings.patch_embeddings.projection",
    .positions = "vit.embeddings.position_embeddings",
    .token_types = {},
    .embedding_norm = {},
    .layer = "vit.encoder.layer.",
    .qkv = {},
    .query = "attention.attention.query",
    .key = "attention.attention.key",
    .value = "attention.attention.value",
    .out = "attention.output.dense",
    .attention_norm = "layernorm_before",
    .mlp_norm = "layernorm_after",
    .gate = {},
    .up = "intermediate.dense",
    .down = "output.dense",
    .final_norm = "vit.layernorm",
    .pooler = "vit.pooler.dense",
    .head_dense = {},
    .head_norm = {},
    .output = {},
    .output_bias = {},
    .classifier = "classifier",
};

}  // namespace

const Names& names_of(Naming naming) {
  switch (naming) {
    case Naming::Bert:
      return Bert;
    case Naming::Gpt2:
      return Gpt2;
    case Naming::GptJ:
      return GptJ;
    case Naming::GptNeoX:
      return GptNeoX;
    case Naming::Llama:
      return Llama;
    case Naming::Esm:
      return Esm;
    case Naming::Vit:
      return Vit;
  }
  throw InternalError("no such naming");
}

}  // namespace wafer::models
