#include "wafer/models/models.h"

namespace wafer::models {
namespace {

// Where shapes come from.
constexpr const char* Devlin = "Devlin et al., arXiv:1810.04805, section 3";
constexpr const char* Turc = "Turc et al., arXiv:1908.08962, Table 1";
constexpr const char* Radford = "Radford et al. 2019, Table 2, and the released hparams.json";
constexpr const char* CerebrasGpt = "Dey et al., arXiv:2304.03208, Table 1";
constexpr const char* NeoX = "shape of Black et al., arXiv:2204.06745, in GPT-3 style";
constexpr const char* Brown = "Brown et al., arXiv:2005.14165, Table 2.1, all layers dense";
constexpr const char* GptJCard = "Wang and Komatsuzaki 2021, GPT-J-6B model card";
constexpr const char* Llama1 = "Touvron et al., arXiv:2302.13971, Table 2";
constexpr const char* Llama2 = "Touvron et al., arXiv:2307.09288, and the released config.json";
constexpr const char* Llama3 = "Llama team, arXiv:2407.21783, Table 3";
constexpr const char* CodeLlama = "Roziere et al., arXiv:2308.12950, and the released config.json";
constexpr const char* Qwen2 =
    "Yang et al., arXiv:2407.10671, Table 1, and the released config.json";
constexpr const char* Mistral = "Jiang et al., arXiv:2310.06825, Table 1";
constexpr const char* ViT = "Dosovitskiy et al., arXiv:2010.11929, Table 1";
constexpr const char* He = "He et al., arXiv:1512.03385, Table 1 (stride as in torchvision)";
constexpr const char* Lin = "Lin et al., Science 379 (2023), and the released checkpoint";

constexpr int64_t BertWords = 30522, GptWords = 50257, LlamaWords = 32000, Llama3Words = 128256;

TransformerSpec bert_of(int64_t layers, int64_t hidden, int64_t heads,
                        Head head = Head::SequenceClassifier) {
  return bert({layers, hidden, heads, BertWords, 512}, head);
}

TransformerSpec gpt2_of(int64_t layers, int64_t hidden, int64_t heads, int64_t positions = 1024) {
  return gpt2({layers, hidden, heads, GptWords, positions});
}

TransformerSpec gpt3_of(int64_t layers, int64_t hidden, int64_t heads) {
  return gpt2_of(layers, hidden, heads, 2048);
}

/// Sizes of LLaMA and LLaMA 2, and of LLaMA 3.
TransformerSpec llama_of(int64_t layers, int64_t hidden, int64_t heads, int64_t kv_heads,
                         int64_t ffn, int64_t positions = 4096) {
  return llama({layers, hidden, heads, LlamaWords, positions}, kv_heads, ffn);
}

TransformerSpec llama3_of(int64_t layers, int64_t hidden, int64_t heads, int64_t ffn,
                          int64_t positions = 8192) {
  return llama({layers, hidden, heads, Llama3Words, positions}, 8, ffn, 500000);
}

TransformerSpec with_epsilon(TransformerSpec spec, double epsilon) {
  spec.epsilon = epsilon;
  return spec;
}

TransformerSpec llama31(TransformerSpec spec) {
  spec.rotary->scaling = {.kind = RopeScaling::Kind::Llama3,
                          .factor = 8,
                          .low_frequency = 1,
                          .high_frequency = 4,
                          .attention_factor = {},
                          .original_positions = 8192};
  return spec;
}

TransformerSpec qwen2(TransformerSpec spec) {
  spec.qkv_bias = true;
  return spec;
}

TransformerSpec mistral(TransformerSpec spec, int64_t window) {
  spec.window = SlidingWindow{.size = window, .first_layer = 0};
  return spec;
}

}  // namespace

// clang-format off
std::vector<CatalogEntry> catalog() {
  return {
      {{"bert-tiny", bert_of(2, 128, 2)}, Turc},
      {{"bert-mini", bert_of(4, 256, 4)}, Turc},
      {{"bert-small", bert_of(4, 512, 8)}, Turc},
      {{"bert-medium", bert_of(8, 512, 8)}, Turc},
      {{"bert-base", bert_of(12, 768, 12)}, Devlin},
      {{"bert-large", bert_of(24, 1024, 16)}, Devlin},
      {{"bert-base-mlm", bert_of(12, 768, 12, Head::Pretraining)}, Devlin},
      {{"bert-large-mlm", bert_of(24, 1024, 16, Head::Pretraining)}, Devlin},
      {{"gpt2", gpt2_of(12, 768, 12)}, Radford},
      {{"gpt2-medium", gpt2_of(24, 1024, 16)}, Radford},
      {{"gpt2-large", gpt2_of(36, 1280, 20)}, Radford},
      {{"gpt2-xl", gpt2_of(48, 1600, 25)}, Radford},
      {{"gpt3-111m", gpt3_of(10, 768, 12)}, CerebrasGpt},
      {{"gpt3-256m", gpt3_of(14, 1088, 17)}, CerebrasGpt},
      {{"gpt3-590m", gpt3_of(18, 1536, 12)}, CerebrasGpt},
      {{"gpt3-1.3b", gpt3_of(24, 2048, 16)}, CerebrasGpt},
      {{"gpt3-2.7b", gpt3_of(32, 2560, 32)}, CerebrasGpt},
      {{"gpt3-6.7b", gpt3_of(32, 4096, 32)}, CerebrasGpt},
      {{"gpt3-13b", gpt3_of(40, 5120, 40)}, CerebrasGpt},
      {{"gpt3-20b", gpt3_of(44, 6144, 64)}, NeoX},
      {{"gpt3-175b", gpt3_of(96, 12288, 96)}, Brown},
      {{"gptj-6b", gptj({28, 4096, 16, 50400, 2048})}, GptJCard},
      {{"llama-7b", with_epsilon(llama_of(32, 4096, 32, 32, 11008, 2048), 1e-6)}, Llama1},
      {{"llama2-7b", llama_of(32, 4096, 32, 32, 11008)}, Llama2},
      {{"llama2-13b", llama_of(40, 5120, 40, 40, 13824)}, Llama2},
      {{"llama2-70b", llama_of(80, 8192, 64, 8, 28672)}, Llama2},
      {{"llama3-8b", llama3_of(32, 4096, 32, 14336)}, Llama3},
      {{"llama3-70b", llama3_of(80, 8192, 64, 28672)}, Llama3},
      {{"llama3.1-405b", llama31(llama3_of(126, 16384, 128, 53248, 131072))}, Llama3},
      {{"codellama-34b", llama({48, 8192, 64, LlamaWords, 16384}, 8, 22016, 1000000)}, CodeLlama},
      {{"qwen2-72b", qwen2(llama({80, 8192, 64, 152064, 131072}, 8, 29568, 1000000))}, Qwen2},
      {{"mistral-7b", mistral(llama_of(32, 4096, 32, 8, 14336, 32768), 4096)}, Mistral},
      {{"vit-base", vit({12, 768, 12, 0, 197}, {224, 16, 3}, 1000)}, ViT},
      {{"resnet50", ResNetSpec{.blocks = {3, 4, 6, 3}}}, He},
      {{"esm2-35m", esm2({12, 480, 20, 33, 1026})}, Lin},
  };
}
// clang-format on

}  // namespace wafer::models
