#include "wafer/models/heads.h"

#include "wafer/base/error.h"
#include "wafer/models/names.h"

namespace wafer::models {
namespace {

/// One prediction: logits [.., classes], which outside training are the output of that name, and
/// the input that holds the right classes [..] in training.
struct Prediction {
  const char* output;
  ValueId logits;
  const char* labels;
};

class HeadBuilder {
 public:
  HeadBuilder(Builder& b, const TransformerSpec& spec, const HeadInputs& inputs)
      : b_(b), spec_(spec), names_(names_of(spec.naming)), in_(inputs) {}

  /// Empty for Head::None.
  std::vector<Prediction> predictions() {
    switch (spec_.head) {
      case Head::None:
        return {};
      case Head::LanguageModel:
        return {{"logits", vocabulary(in_.hidden), "labels"}};
      case Head::MaskedLm:
        return {{"logits", vocabulary(masked()), "labels"}};
      case Head::Pretraining:
        return {{"prediction_logits", vocabulary(masked()), "labels"},
                {"seq_relationship_logits", next_sentence(), "next_sentence_label"}};
      case Head::SequenceClassifier:
        return {
            {"logits", classify(summary(), names_.classifier, names_.classifier_bias), "labels"}};
      case Head::NextSentence:
        return {{"logits", next_sentence(), "next_sentence_label"}};
      case Head::TokenClassifier:
        return {{"logits", classify(in_.hidden, "classifier", true), "labels"}};
      case Head::QuestionAnswering:
        return question_answering();
    }
    throw InternalError("no such head");
  }

  /// [B, D]: tanh(dense(first token)).
  ValueId pooled() {
    const Scope scope(b_, "pooler");
    const ValueId first = first_position(b_, in_.hidden);
    return b_.unary(ir::ElementFn::Tanh, linear(b_, first, names_.pooler, spec_.hidden));
  }

 private:
  /// [B, P, D]: the hidden states to predict.
  ValueId masked() {
    if (in_.masked == 0) return in_.hidden;
    const Scope scope(b_, "masked");
    const Dim batch = b_.shape_of(in_.hidden)[0];
    const ValueId positions = b_.input("masked_positions", {DType::I32, {batch, in_.masked}});
    return take_positions(b_, in_.hidden, positions);
  }

  /// x [B, P, D] -> [B, P, vocab].
  ValueId vocabulary(ValueId x) {
    const Scope scope(b_, "vocabulary");
    if (!names_.head_dense.empty()) {
      x = activate(b_, linear(b_, x, names_.head_dense, spec_.hidden), spec_.activation);
      x = normalize(b_, x, names_.head_norm, spec_.norm, spec_.epsilon);
    }
    const ValueId logits = spec_.tied ? times_transposed(b_, x, in_.word_table)
                                      : linear(b_, x, names_.output, spec_.vocab, {.bias = false});
    if (!spec_.head_bias) return logits;
    const TensorType type{b_.type_of(logits).dtype, {spec_.vocab}};
    return b_.add(logits, b_.parameter(std::string(names_.output_bias), type));
  }

  ValueId classify(ValueId x, std::string_view name, bool bias) {
    const Scope scope(b_, "classifier");
    return linear(b_, x, name, spec_.labels, {.bias = bias});
  }

  /// [B, 2]: does the second sentence follow the first.
  ValueId next_sentence() {
    const ValueId x = pooled();
    const Scope scope(b_, "next_sentence");
    return linear(b_, x, "cls.seq_relationship", 2);
  }

  /// [B, D]: what stands for the whole sequence; of a decoder, its last token.
  ValueId summary() {
    if (spec_.pooler) return pooled();
    if (!spec_.causal) return first_position(b_, in_.hidden);
    const Dim batch = b_.shape_of(in_.hidden)[0];
    const ValueId last = b_.input("last_positions", {DType::I32, {batch, 1}});
    return b_.reshape(take_positions(b_, in_.hidden, last), {batch, spec_.hidden});
  }

  std::vector<Prediction> question_answering() {
    const Scope scope(b_, "classifier");
    const ValueId both = linear(b_, in_.hidden, "qa_outputs", 2);  // [B, S, 2]
    const auto half = [&](int64_t i) {
      const wafer::Shape shape = b_.shape_of(both);
      return b_.reshape(slice_dim(b_, both, 2, i, i + 1), {shape[0], shape[1]});
    };
    const ValueId start = half(0);
    return {{"start_logits", start, "start_positions"}, {"end_logits", half(1), "end_positions"}};
  }

  Builder& b_;
  const TransformerSpec& spec_;
  const Names& names_;
  const HeadInputs& in_;
};

ValueId loss_of(Builder& b, const Prediction& prediction) {
  wafer::Shape shape = b.shape_of(prediction.logits);
  shape.pop_back();
  const ValueId labels = b.input(prediction.labels, {DType::I32, std::move(shape)});
  return mean_loss(b, prediction.logits, labels);
}

}  // namespace

void build_head(Builder& b, const TransformerSpec& spec, const HeadInputs& inputs) {
  const Scope scope(b, "head");
  HeadBuilder head(b, spec, inputs);
  const std::vector<Prediction> predictions = head.predictions();
  if (predictions.empty()) {
    b.output("last_hidden_state", inputs.hidden);
    if (spec.pooler) b.output("pooler_output", head.pooled());
    return;
  }
  if (!inputs.train) {
    for (const Prediction& p : predictions) b.output(p.output, p.logits);
    return;
  }
  ValueId loss = loss_of(b, predictions.front());
  for (size_t i = 1; i < predictions.size(); ++i) loss = b.add(loss, loss_of(b, predictions[i]));
  if (spec.head == Head::QuestionAnswering) loss = b.multiply(loss, 0.5);
  b.output("loss", loss);
}

}  // namespace wafer::models
