#include "wafer/models/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "wafer/base/error.h"

namespace wafer::models {
namespace {

const TransformerSpec& transformer(const ModelSpec& spec) {
  return std::get<TransformerSpec>(spec.network);
}

std::string error_of(std::string_view text, const BuildOptions& options = {}) {
  try {
    build(text, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TensorType type_of_input(const ir::Graph& graph, std::string_view name) {
  for (const ir::Input& input : graph.entry().inputs) {
    if (input.name == name) return graph.entry().type_of(input.value);
  }
  ADD_FAILURE() << "no input " << name;
  return {};
}

TensorType type_of_output(const ir::Graph& graph, std::string_view name) {
  for (const ir::Output& output : graph.entry().outputs) {
    if (output.name == name) return graph.entry().type_of(output.value);
  }
  ADD_FAILURE() << "no output " << name;
  return {};
}

bool has_input(const ir::Graph& graph, std::string_view name) {
  const auto& inputs = graph.entry().inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](auto& i) { return i.name == name; });
}

TEST(Catalog, counts_parameters_as_published) {
  // Sums over the parameters of transformers 4.51 and 5.24 (torchvision 0.23 for resnet50) built on
  // the meta device with the published configurations, tied matrices once.
  const std::map<std::string, int64_t> expected = {
      {"bert-tiny", 4'386'178},
      {"bert-mini", 11'171'074},
      {"bert-small", 28'764'674},
      {"bert-medium", 41'374'210},
      {"bert-base", 109'483'778},
      {"bert-large", 335'143'938},
      {"bert-base-mlm", 110'106'428},
      {"bert-large-mlm", 336'226'108},
      {"gpt2", 124'439'808},
      {"gpt2-medium", 354'823'168},
      {"gpt2-large", 774'030'080},
      {"gpt2-xl", 1'557'611'200},
      {"gpt3-111m", 111'050'496},
      {"gpt3-256m", 255'977'024},
      {"gpt3-590m", 590'310'912},
      {"gpt3-1.3b", 1'315'723'264},
      {"gpt3-2.7b", 2'651'553'280},
      {"gpt3-6.7b", 6'658'404'352},
      {"gpt3-13b", 12'853'386'240},
      {"gpt3-20b", 20'256'221'184},
      {"gpt3-175b", 174'604'259'328},
      {"gptj-6b", 6'050'882'784},
      {"llama-7b", 6'738'415'616},
      {"llama2-7b", 6'738'415'616},
      {"llama2-13b", 13'015'864'320},
      {"llama2-70b", 68'976'648'192},
      {"llama3-8b", 8'030'261'248},
      {"llama3-70b", 70'553'706'496},
      {"llama3.1-405b", 405'853'388'800},
      {"codellama-34b", 33'743'970'304},
      {"qwen2-72b", 72'706'203'648},
      {"mistral-7b", 7'241'732'096},
      {"vit-base", 86'567'656},
      {"resnet50", 25'557'032},
      // The published checkpoint; transformers 4 adds a position table that it never reads.
      {"esm2-35m", 33'501'394},
  };
  std::map<std::string, int64_t> counted;
  for (const CatalogEntry& entry : catalog()) {
    counted[entry.spec.name] = parameter_count(build(entry.spec));
  }
  EXPECT_EQ(counted, expected);
}

TEST(Catalog, counts_the_same_in_training_and_in_inference) {
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_EQ(parameter_count(build(entry.spec, {.train = true})),
              parameter_count(build(entry.spec, {.train = false})))
        << entry.spec.name;
  }
}

TEST(Catalog, counts_encoders_of_bert_with_pooler) {
  // Devlin et al. give 110M and 340M; these are BertModel of transformers.
  EXPECT_EQ(encoder_parameters(parse("bert-tiny")), 4'385'920);
  EXPECT_EQ(encoder_parameters(parse("bert-mini")), 11'170'560);
  EXPECT_EQ(encoder_parameters(parse("bert-base")), 109'482'240);
  EXPECT_EQ(encoder_parameters(parse("bert-large")), 335'141'888);
  EXPECT_EQ(encoder_parameters(parse("bert-large-mlm")), 335'141'888);
  EXPECT_EQ(encoder_parameters(parse("gpt2")), std::nullopt);
}

/// 1234567 as 1,234,567.
std::string grouped(int64_t count) {
  std::string text = std::to_string(count);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

TEST(Catalog, is_the_table_of_the_documentation) {
  std::ifstream document(WAFER_SOURCE_DIR "/docs/models.md");
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (inside && line.starts_with("|")) rows.push_back(line);
    if (inside && !line.starts_with("|")) break;
    inside = inside || line.starts_with("|---|---|---|---|");
  }
  std::vector<std::string> expected;
  for (const CatalogEntry& entry : catalog()) {
    expected.push_back("| " + entry.spec.name + " | " +
                       grouped(parameter_count(build(entry.spec))) + " | " +
                       std::to_string(sequence_length(entry.spec)) + " | " + entry.source + " |");
  }
  EXPECT_EQ(rows, expected);
}

TEST(Catalog, names_are_unique_and_have_sources) {
  std::set<std::string> names;
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_TRUE(names.insert(entry.spec.name).second) << entry.spec.name;
    EXPECT_GT(entry.source.size(), 10U) << entry.spec.name;
  }
}

TEST(Build, calls_one_function_for_all_layers) {
  const ir::Graph graph = build("gpt3-175b");
  ASSERT_EQ(graph.functions.size(), 2U);
  const ir::FunctionId layer = graph.find("layer");
  ASSERT_TRUE(layer.valid());
  int calls = 0;
  for (const ir::Op& op : graph.entry().ops) {
    if (op.kind != ir::OpKind::Call) {
      EXPECT_EQ(op.layer, "");
      continue;
    }
    EXPECT_EQ(op.layer, "layer." + std::to_string(calls++));
    EXPECT_EQ(op.attrs.get<ir::FunctionId>(ir::AttrKey::Body), layer);
  }
  EXPECT_EQ(calls, 96);
}

TEST(Build, shares_the_equal_blocks_of_each_stage_of_a_resnet) {
  const ir::Graph graph = build("resnet50");
  EXPECT_EQ(graph.functions.size(), 9U);  // main, and of four stages the first block and the rest
  const std::vector<double> counts = ir::run_counts(graph);
  EXPECT_EQ(counts[graph.find("layer3.first").index], 1);
  EXPECT_EQ(counts[graph.find("layer3.rest").index], 5);
}

TEST(Build, takes_tokens_and_labels_in_training) {
  const ir::Graph graph = build("gpt2", {.dtype = DType::Bf16});
  EXPECT_EQ(type_of_input(graph, "input_ids").text(), "i32[batch,1024]");
  EXPECT_EQ(type_of_input(graph, "labels").text(), "i32[batch,1024]");
  EXPECT_EQ(type_of_input(graph, "transformer.wte.weight").text(), "bf16[50257,768]");
  EXPECT_EQ(type_of_output(graph, "loss").text(), "f32[]");
  EXPECT_EQ(graph.entry().outputs.size(), 1U);
}

TEST(Build, gives_logits_in_inference) {
  const ir::Graph graph = build("llama2-7b", {.seq_len = 100, .train = false});
  EXPECT_FALSE(has_input(graph, "labels"));
  EXPECT_EQ(type_of_output(graph, "logits").text(), "f16[batch,100,32000]");
}

TEST(Build, predicts_masked_positions_alone) {
  // max_predictions_per_seq of the BERT configurations of ModelZoo: 20 at 128 tokens, 80 at 512.
  const BuildOptions at_512{.seq_len = 512, .train = false};
  EXPECT_EQ(type_of_input(build("bert-large-mlm"), "masked_positions").text(), "i32[batch,20]");
  EXPECT_EQ(type_of_output(build("bert-large-mlm", at_512), "prediction_logits").text(),
            "f16[batch,80,30522]");
  EXPECT_EQ(type_of_output(build("bert-large-mlm", at_512), "seq_relationship_logits").text(),
            "f16[batch,2]");
  const BuildOptions all{.train = false, .masked_tokens = 0};
  EXPECT_EQ(type_of_output(build("bert-base-mlm", all), "prediction_logits").text(),
            "f16[batch,128,30522]");
}

TEST(Build, keeps_512_positions_of_bert_at_any_length) {
  const ir::Graph graph = build("bert-large");
  EXPECT_EQ(type_of_input(graph, "input_ids").text(), "i32[batch,128]");
  EXPECT_EQ(type_of_input(graph, "bert.embeddings.position_embeddings.weight").text(),
            "f16[512,1024]");
}

TEST(Build, refuses_more_tokens_than_learned_positions) {
  EXPECT_EQ(error_of("gpt2", {.seq_len = 2048}),
            "gpt2: a sequence of 2048 tokens, but only 1024 learned positions; use at most 1024, "
            "or a model made for more (as gpt2:seq=2048)");
  EXPECT_EQ(error_of("llama2-7b", {.seq_len = 16384}), "no error");  // rotary: no table
}

TEST(Build, refuses_options_that_do_not_fit) {
  EXPECT_EQ(error_of("bert-base", {.seq_len = -1}),
            "bert-base: a sequence has 1 to 16777216 tokens, not -1");
  EXPECT_EQ(error_of("vit-base", {.seq_len = 128}),
            "vit-base: has no sequence length to choose; an image is 197 tokens, not 128");
  EXPECT_EQ(error_of("resnet50", {.seq_len = 128}),
            "resnet50: has no sequence length to choose; an image is 1 token, not 128");
  EXPECT_EQ(error_of("gpt2", {.dtype = DType::I32}),
            "a network is built in f64, f32, f16, bf16 or cb16, not in i32");
  EXPECT_EQ(error_of("bert-base-mlm", {.masked_tokens = 129}),
            "bert-base-mlm: 129 masked tokens do not fit a sequence of 128");
}

TEST(Build, hides_what_is_beyond_a_sliding_window) {
  const ir::Graph within = build("mistral-7b", {.seq_len = 4096});
  EXPECT_TRUE(within.find("layer").valid());
  const ir::Graph beyond = build("mistral-7b", {.seq_len = 4097});
  const ir::Function& layer = beyond.function(beyond.find("windowed_layer"));
  ASSERT_EQ(layer.inputs[1].name, "mask");
  EXPECT_EQ(layer.type_of(layer.inputs[1].value).text(), "f16[1,1,4097,4097]");
}

TEST(Build, lets_the_layers_before_a_window_see_all) {
  ModelSpec spec = parse("llama:layers=3,hidden=8,heads=2,vocab=9");
  std::get<TransformerSpec>(spec.network).window = {.size = 4, .first_layer = 1};
  const ir::Graph graph = build(spec, {.seq_len = 6});
  const std::vector<double> counts = ir::run_counts(graph);
  EXPECT_EQ(counts[graph.find("layer").index], 1);
  EXPECT_EQ(counts[graph.find("windowed_layer").index], 2);
}

TEST(Parse, reads_free_forms) {
  // 145.6 B of Narayanan et al., arXiv:2104.04473, Table 1. Their formula, with L = 80, h = 12288,
  // V = 51200, S = 2048: 12 L h^2 + 13 L h + (V + S) h = 144955146240 + 12779520 + 654311424; it
  // leaves out the final norm's 2 h = 24576.
  const ir::Graph graph = build("gpt:layers=80,hidden=12288,heads=96,vocab=51200");
  EXPECT_EQ(parameter_count(graph), 145'622'237'184 + 24'576);
  EXPECT_EQ(type_of_input(graph, "input_ids").text(), "i32[batch,2048]");
}

TEST(Parse, gives_free_forms_the_shapes_of_their_namesakes) {
  EXPECT_EQ(parameter_count(build("llama:layers=32,hidden=4096,heads=32,vocab=32000")),
            6'738'415'616);  // llama-7b, by its own rule for the width of the MLP
  EXPECT_EQ(parameter_count(
                build("llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=128256")),
            8'030'261'248);  // llama3-8b
  EXPECT_EQ(parameter_count(build("bert:layers=24,hidden=1024,heads=16,vocab=30522")),
            335'143'938);  // bert-large
  EXPECT_EQ(parameter_count(build("gpt:layers=12,hidden=768,heads=12,vocab=50257,seq=1024")),
            124'439'808);  // gpt2
}

TEST(Parse, grows_the_position_table_of_a_free_form_with_the_sequence) {
  const std::string_view form = "gpt:layers=1,hidden=64,heads=2,vocab=100";
  EXPECT_EQ(type_of_input(build(form, {.seq_len = 4096}), "transformer.wpe.weight").text(),
            "f16[4096,64]");
  EXPECT_EQ(type_of_input(build(form, {.seq_len = 10}), "transformer.wpe.weight").text(),
            "f16[2048,64]");
  EXPECT_NE(error_of(std::string(form) + ",seq=128", {.seq_len = 256}), "no error");
}

TEST(Parse, changes_shapes_of_named_models) {
  EXPECT_EQ(transformer(parse("gpt2:seq=2048")).max_positions, 2048);
  EXPECT_EQ(parse("GPT2:seq=2048").name, "gpt2:seq=2048");
  // One layer of llama2-7b is (6738415616 - 2*32000*4096 - 4096) / 32 = 202383360.
  EXPECT_EQ(parameter_count(build("llama2-7b:layers=2")),
            2 * 202'383'360 + 2 * 32000 * 4096 + 4096);
}

TEST(Parse, names_what_is_wrong) {
  const std::map<std::string, std::string> errors = {
      {"bert-larg", "no model \"bert-larg\" (did you mean bert-large?); `wafer models` lists them"},
      {"gpt", "gpt needs a shape, as gpt:layers=12,hidden=768,heads=12,vocab=50257"},
      {"", "no model \"\"; `wafer models` lists them"},
      {"gpt:layers=2,hidden=8",
       "gpt:layers=2,hidden=8: needs heads, vocab, as "
       "gpt:layers=12,hidden=768,heads=12,vocab=50257"},
      {"gpt:layer=2",
       "gpt:layer=2: there is no key \"layer\" (did you mean layers?); keys are layers, hidden, "
       "heads, vocab, ffn, seq, kv_heads"},
      {"gpt:layers", "gpt:layers: expected key=value, found \"layers\""},
      {"gpt:", "gpt:: expected key=value, found \"\""},
      {"gpt:layers=2,layers=3", "gpt:layers=2,layers=3: layers stands twice"},
      {"gpt:layers=x", "gpt:layers=x: layers must be a whole number, not \"x\""},
      {"gpt:layers=2.5", "gpt:layers=2.5: layers must be a whole number, not \"2.5\""},
      {"gpt:layers=99999999999999999999",
       "gpt:layers=99999999999999999999: layers must be a whole number, not "
       "\"99999999999999999999\""},
      {"gpt:layers=0,hidden=8,heads=2,vocab=9",
       "gpt:layers=0,hidden=8,heads=2,vocab=9: layers must be between 1 and 2147483647, not 0"},
      {"gpt:layers=2,hidden=8,heads=-2,vocab=9",
       "gpt:layers=2,hidden=8,heads=-2,vocab=9: heads must be between 1 and 2147483647, not -2"},
      {"gpt:layers=2,hidden=8,heads=2,vocab=9000000000",
       "gpt:layers=2,hidden=8,heads=2,vocab=9000000000: vocab must be between 1 and 2147483647, "
       "not 9000000000"},
      {"gpt:layers=2,hidden=2000000000,heads=2,vocab=9",
       "gpt:layers=2,hidden=2000000000,heads=2,vocab=9\n"
       "  hidden must be between 1 and 1048576, not 2000000000\n"
       "  ffn must be between 1 and 8388608, not 8000000000"},
      {"bert:layers=2,hidden=10,heads=3,vocab=9",
       "bert:layers=2,hidden=10,heads=3,vocab=9\n  heads 3 must divide hidden 10"},
      {"llama:layers=2,hidden=16,heads=4,kv_heads=3,vocab=9",
       "llama:layers=2,hidden=16,heads=4,kv_heads=3,vocab=9\n  kv_heads 3 must divide heads 4"},
      {"llama:layers=2,hidden=6,heads=2,vocab=9",
       "llama:layers=2,hidden=6,heads=2,vocab=9\n  rotary dimensions must be even and at most the "
       "head's 3, not 3"},
      {"gpt:layers=2,hidden=8,heads=2,vocab=9,kv_heads=1",
       "gpt:layers=2,hidden=8,heads=2,vocab=9,kv_heads=1: kv_heads is a key of llama: alone"},
      {"gpt2:hidden=64",
       "gpt2:hidden=64: hidden of a published model cannot be changed, only layers, vocab, ffn, "
       "seq; for other shapes use gpt:, bert: or llama:"},
      {"resnet50:layers=3",
       "resnet50:layers=3: the shape of a network on images cannot be changed"},
  };
  for (const auto& [text, error] : errors) EXPECT_EQ(error_of(text), error);
}

}  // namespace
}  // namespace wafer::models
