#!/usr/bin/env python3
"""Makes tests/data/models/: what transformers and torchvision compute on tiny networks.

    python3 tests/scripts/model_samples.py [folder]

Needs torch 2.8, torchvision 0.23 and transformers 4.51, whose parameters are named as those of
published checkpoints.
Writes values.json: per network its config.json, sequence length, the names and shapes of its
parameters, inputs, outputs and, with labels, the loss, all in f64. Weights and pixels are made by
hashed(), here and in the tests. Checks counts.json, which has the parameters of each config (equal
in transformers 4.51 and 5.24), and fails where this transformers counts otherwise.
"""

import copy
import json
import pathlib
import sys

import numpy
import torch
import torchvision
import transformers
from torch.nn.functional import cross_entropy
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "models"


def hashed(name, count):
    """count numbers in [-1, 1): a 32-bit integer hash of the name and the index."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    x = (numpy.arange(count, dtype=numpy.uint64) + seed) % 2**32
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        x = (x ^ (x >> numpy.uint64(shift))) * numpy.uint64(factor) % numpy.uint64(2**32)
    return x.astype(numpy.float64) / 2**31 - 1


def weight(name, shape):
    """0.3 of hashed(); the scales of norms, which have one dimension, about 1."""
    values = 0.3 * hashed(name, int(numpy.prod(shape))).reshape(shape)
    return values + 1 if len(shape) == 1 and name.endswith("weight") else values


def parameters(model):
    """Of a bare model too by the names that they have in one with a head; those that are read."""
    base = getattr(model, "base_model_prefix", None)
    bare = base and not hasattr(model, base)
    for name, parameter in model.named_parameters():
        full = f"{base}.{name}" if bare else name
        if full != "esm.embeddings.position_embeddings.weight":
            yield full, parameter


def fill(model):
    for name, parameter in parameters(model):
        parameter.data = torch.tensor(weight(name, list(parameter.shape)))


def whole(name, shape, bound):
    """Whole numbers from 0 to bound - 1."""
    values = (hashed(name, int(numpy.prod(shape))) + 1) / 2 * bound
    return torch.tensor(values.astype(numpy.int64).reshape(shape))


def loss_of(logits, labels):
    return cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def record(model, config, architecture, seq, inputs, outputs, loss):
    def flat(values):
        return {name: value.reshape(-1).tolist() for name, value in values.items()
                if name != "pixel_values"}

    entry = {"config": dict(architectures=[architecture], **config), "seq": seq,
             "parameters": [[n, list(p.shape)] for n, p in parameters(model)],
             "inputs": flat(inputs), "outputs": flat(outputs)}
    if loss is not None:
        entry["loss"] = loss.item()
    return entry


def make(architecture, config):
    config_class = CONFIG_MAPPING[config["model_type"]]
    made = config_class.from_dict(copy.deepcopy(config))
    made._attn_implementation = "eager"
    model = getattr(transformers, architecture)(made).double().eval()
    model.tie_weights()
    fill(model)
    return model


def encoder(architecture, seq, masked=None, **config):
    """A BERT or ESM-2 with padding in the second of two sequences."""
    model = make(architecture, config)
    batch = 2
    vocab = config["vocab_size"]
    inputs = {"input_ids": whole("input_ids", (batch, seq), vocab),
              "attention_mask": torch.ones(batch, seq, dtype=torch.int64)}
    inputs["attention_mask"][1, seq - 2:] = 0
    if config["model_type"] == "bert":
        inputs["token_type_ids"] = whole("types", (batch, seq), config.get("type_vocab_size", 2))
    if config["model_type"] == "esm":
        inputs["input_ids"][0, 3] = inputs["input_ids"][1, 1] = config["mask_token_id"]
    with torch.no_grad():
        result = model(**inputs)
    outputs, labels = {}, {}
    if "last_hidden_state" in result:
        outputs = {"last_hidden_state": result.last_hidden_state,
                   "pooler_output": result.pooler_output}
        return record(model, config, architecture, seq, inputs, outputs, None)
    if "start_logits" in result:
        outputs = {"start_logits": result.start_logits, "end_logits": result.end_logits}
        labels = {"start_positions": torch.tensor([3, 0]), "end_positions": torch.tensor([4, 2])}
        loss = (loss_of(result.start_logits, labels["start_positions"])
                + loss_of(result.end_logits, labels["end_positions"])) / 2
        return record(model, config, architecture, seq, {**inputs, **labels}, outputs, loss)
    vocabulary = result["prediction_logits"] if "prediction_logits" in result else result["logits"]
    name = "prediction_logits" if "prediction_logits" in result else "logits"
    if masked is not None:
        positions = whole("masked_positions", (batch, masked), seq)
        inputs["masked_positions"] = positions
        vocabulary = torch.stack([vocabulary[b, positions[b]] for b in range(batch)])
    outputs[name] = vocabulary
    label_name = "next_sentence_label" if "NextSentence" in architecture else "labels"
    labels[label_name] = whole("labels", vocabulary.shape[:-1], vocabulary.shape[-1])
    if vocabulary.dim() == 3:
        labels[label_name][1, 1] = -100
    loss = loss_of(vocabulary, labels[label_name])
    if "seq_relationship_logits" in result:
        outputs["seq_relationship_logits"] = result.seq_relationship_logits
        labels["next_sentence_label"] = torch.tensor([1, 0])
        loss = loss + loss_of(result.seq_relationship_logits, labels["next_sentence_label"])
    return record(model, config, architecture, seq, {**inputs, **labels}, outputs, loss)


def decoder(architecture, seq, **config):
    model = make(architecture, config)
    batch = 2
    inputs = {"input_ids": whole("input_ids", (batch, seq), config["vocab_size"] - 1)}
    given = dict(inputs)
    if "SequenceClassification" in architecture:
        model.config.pad_token_id = config["vocab_size"] - 1
        inputs["input_ids"][1, seq - 2:] = model.config.pad_token_id
        inputs["last_positions"] = torch.tensor([[seq - 1], [seq - 3]])
    with torch.no_grad():
        result = model(**given, use_cache=False)
    if "last_hidden_state" in result:
        outputs = {"last_hidden_state": result.last_hidden_state}
        return record(model, config, architecture, seq, inputs, outputs, None)
    labels = whole("labels", result.logits.shape[:-1], result.logits.shape[-1])
    if labels.dim() == 2:
        labels[0, seq - 1] = labels[1, seq - 1] = -100
    inputs["labels"] = labels
    return record(model, config, architecture, seq, inputs, {"logits": result.logits},
                  loss_of(result.logits, labels))


def images(architecture, **config):
    model = make(architecture, config)
    shape = (2, config.get("num_channels", 3), config["image_size"], config["image_size"])
    inputs = {"pixel_values": torch.tensor(hashed("pixels", int(numpy.prod(shape))).reshape(shape))}
    with torch.no_grad():
        result = model(**inputs)
    if "last_hidden_state" in result:
        outputs = {"last_hidden_state": result.last_hidden_state,
                   "pooler_output": result.pooler_output}
        return record(model, config, architecture, 0, inputs, outputs, None)
    inputs["labels"] = torch.tensor([2, 5])
    return record(model, config, architecture, 0, inputs, {"logits": result.logits},
                  loss_of(result.logits, inputs["labels"]))


class SmallResNet(torch.nn.Module):
    """torchvision's ResNet with stages of `blocks` bottleneck blocks on a stem of `width`."""

    def __init__(self, blocks, width, classes):
        super().__init__()
        block = torchvision.models.resnet.Bottleneck
        self.conv1 = torch.nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(width)
        inside = width
        for stage, count in enumerate(blocks):
            planes, stride, made = width << stage, 1 if stage == 0 else 2, []
            for i in range(count):
                down = None
                if i == 0:
                    conv = torch.nn.Conv2d(inside, planes * 4, 1, stride=stride, bias=False)
                    down = torch.nn.Sequential(conv, torch.nn.BatchNorm2d(planes * 4))
                made.append(block(inside, planes, stride if i == 0 else 1, down))
                inside = planes * 4
            setattr(self, f"layer{stage + 1}", torch.nn.Sequential(*made))
        self.stages = len(blocks)
        self.fc = torch.nn.Linear(inside, classes)

    def forward(self, x):
        x = torch.nn.functional.relu(self.bn1(self.conv1(x)))
        x = torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(x.mean((2, 3)))


def resnet(blocks, width, image, classes):
    """Logits with running statistics made by weight(), and the loss with those of the batch."""
    model = SmallResNet(blocks, width, classes).double()
    fill(model)
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.data = torch.tensor(weight(name, list(buffer.shape)))
        elif name.endswith("running_var"):
            buffer.data = torch.tensor(1 + weight(name, list(buffer.shape)))
    shape = (2, 3, image, image)
    inputs = {"pixel_values": torch.tensor(hashed("pixels", int(numpy.prod(shape))).reshape(shape)),
              "labels": torch.tensor([1, 3])}
    with torch.no_grad():
        logits = model.eval()(inputs["pixel_values"])
        loss = loss_of(model.train()(inputs["pixel_values"]), inputs["labels"])
    config = {"blocks": blocks, "width": width, "image": image, "classes": classes}
    return record(model, config, "ResNet", 0, inputs, {"logits": logits}, loss)


BERT = dict(model_type="bert", vocab_size=31, hidden_size=12, num_hidden_layers=2,
            num_attention_heads=3, intermediate_size=20, max_position_embeddings=9)
GPT2 = dict(model_type="gpt2", vocab_size=29, n_positions=8, n_embd=12, n_layer=2, n_head=3)
GPTJ = dict(model_type="gptj", vocab_size=29, n_positions=16, n_embd=16, n_layer=2, n_head=2,
            rotary_dim=4)
NEOX = dict(model_type="gpt_neox", vocab_size=29, hidden_size=32, num_hidden_layers=2,
            num_attention_heads=2, intermediate_size=20, max_position_embeddings=16)
LLAMA = dict(model_type="llama", vocab_size=29, hidden_size=24, intermediate_size=20,
             num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=16)
LONG = dict(rope_theta=500000.0, head_dim=12)
ESM = dict(model_type="esm", vocab_size=33, hidden_size=16, num_hidden_layers=2,
           num_attention_heads=2, intermediate_size=20, max_position_embeddings=12,
           position_embedding_type="rotary", token_dropout=True, emb_layer_norm_before=False,
           pad_token_id=1, mask_token_id=32, layer_norm_eps=1e-5)
VIT = dict(model_type="vit", hidden_size=12, num_hidden_layers=2, num_attention_heads=3,
           intermediate_size=20, image_size=8, patch_size=4)


def values():
    yield encoder("BertForSequenceClassification", 6, **BERT)
    yield encoder("BertForPreTraining", 6, masked=3, **BERT)
    yield encoder("BertForMaskedLM", 6, **BERT)
    yield encoder("BertForTokenClassification", 6, num_labels=4, **BERT)
    yield encoder("BertForQuestionAnswering", 6, **BERT)
    yield encoder("BertForNextSentencePrediction", 6, **BERT)
    yield encoder("BertLMHeadModel", 6, is_decoder=True, **BERT)
    yield encoder("BertModel", 6, hidden_act="gelu_new", layer_norm_eps=1e-5, type_vocab_size=1,
                  **BERT)
    yield decoder("GPT2LMHeadModel", 7, **GPT2)
    yield decoder("GPT2LMHeadModel", 7, tie_word_embeddings=False, n_inner=10,
                  scale_attn_by_inverse_layer_idx=True, activation_function="relu", **GPT2)
    yield decoder("GPT2LMHeadModel", 7, scale_attn_weights=False, **GPT2)
    yield decoder("GPT2ForSequenceClassification", 7, num_labels=3, **GPT2)
    yield decoder("GPT2ForTokenClassification", 7, num_labels=3, **GPT2)
    yield decoder("GPTJForCausalLM", 7, **GPTJ)
    yield decoder("GPTJModel", 7, **{**GPTJ, "rotary_dim": 8})
    yield decoder("GPTNeoXForCausalLM", 7, **NEOX)
    yield decoder("GPTNeoXForCausalLM", 7, use_parallel_residual=False, rotary_pct=1.0,
                  rotary_emb_base=25000, attention_bias=False, tie_word_embeddings=True, **NEOX)
    yield decoder("LlamaForCausalLM", 7, **LLAMA)
    yield decoder("LlamaForCausalLM", 7, attention_bias=True, mlp_bias=True, head_dim=10,
                  tie_word_embeddings=True, **LLAMA)
    yield decoder("LlamaForSequenceClassification", 7, num_labels=3, hidden_act="gelu", **LLAMA)
    yield decoder("LlamaForCausalLM", 7, rope_scaling=dict(type="linear", factor=2.0), **LLAMA)
    yield decoder("LlamaForCausalLM", 20, rope_scaling=dict(rope_type="dynamic", factor=3.0),
                  **LLAMA)
    yield decoder("LlamaForCausalLM", 20, rope_scaling=dict(
        rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=64), **LLAMA, **LONG)
    yield decoder("LlamaForCausalLM", 20, rope_scaling=dict(
        rope_type="yarn", factor=4.0, beta_fast=8.0, original_max_position_embeddings=64),
        **{**LLAMA, "max_position_embeddings": 256}, **LONG)
    mistral = {**LLAMA, "model_type": "mistral"}
    yield decoder("MistralForCausalLM", 7, sliding_window=3, **mistral)
    qwen2 = {**LLAMA, "model_type": "qwen2"}
    yield decoder("Qwen2ForCausalLM", 7, **qwen2)
    yield decoder("Qwen2ForCausalLM", 7, use_sliding_window=True, sliding_window=3,
                  max_window_layers=0, **qwen2)
    yield encoder("EsmForMaskedLM", 8, **ESM)
    yield images("ViTForImageClassification", num_labels=7, **VIT)
    yield images("ViTModel", qkv_bias=False, **VIT)
    yield resnet([2, 1], 4, 32, 5)


def rounded(value):
    """Ten digits: transformers itself computes some steps in f32."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return value


def count(config):
    made = CONFIG_MAPPING[config["model_type"]].from_dict(copy.deepcopy(config))
    with torch.device("meta"):
        model = getattr(transformers, config["architectures"][0])(made)
        model.tie_weights()
    return sum(p.numel() for p in model.parameters())


def main():
    transformers.logging.set_verbosity_error()
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    lines = ",\n".join(json.dumps(rounded(entry)) for entry in values())
    (folder / "values.json").write_text(f"[\n{lines}\n]\n")
    wrong = [f"{entry['config']}: {count(entry['config'])}, not {entry['parameters']}"
             for entry in json.loads((FOLDER / "counts.json").read_text())
             if count(entry["config"]) != entry["parameters"]]
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
