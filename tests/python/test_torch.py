"""A PyTorch module as a model: parameters and products against PyTorch's own count."""
import copy
import inspect
import sys

import openwafer
import pytest


def test_without_pytorch_says_what_to_install():
    with pytest.raises(TypeError, match="pip install torch"):
        openwafer.estimate(object(), machine="wse2")


def test_example_inputs_belong_to_a_module():
    with pytest.raises(TypeError, match="go with a PyTorch module"):
        openwafer.estimate("gpt2", [1])


torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
nn = torch.nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 256), nn.Linear(256, 8)
        self.norms = nn.Sequential(nn.LayerNorm(256), nn.LayerNorm(256))

    def forward(self, x, scale=None):
        y = self.second(self.norms(torch.relu(self.first(x))))
        return y if scale is None else y * scale


def convolutions():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(16 * 8 * 8, 10),
    )  # fmt: skip


def encoder():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.TransformerEncoder(layer, 3)


def parameters_of(module):
    return sum(p.numel() for p in module.parameters())


# Products of a sample, twice each multiply-add, by hand.
CONVOLUTIONS = 2 * (16 * 16 * 16 * 27 + 16 * 8 * 8 * 10)
ENCODER = 3 * 2 * (32 * 64 * 64 * 4 + 2 * 32 * 32 * 64 + 2 * 32 * 64 * 128)  # qkv, out; scores; MLP


@pytest.mark.parametrize(
    "module, inputs, flops",
    [
        (Mlp(), torch.zeros(1, 64), 2 * (64 * 256 + 256 * 8)),
        (Mlp(), {"x": torch.zeros(4, 64), "scale": torch.ones(4, 1)}, 2 * (64 * 256 + 256 * 8)),
        (convolutions(), (torch.zeros(2, 3, 16, 16),), CONVOLUTIONS),
        (encoder(), torch.zeros(2, 32, 64), ENCODER),
    ],
    ids=["mlp", "keywords", "convolutions", "encoder"],
)
def test_a_module_is_asked_of_like_any_model(module, inputs, flops):
    before = copy.deepcopy(module.state_dict())
    module.train()
    answer = openwafer.estimate(module, inputs, phase="infer", mode="streamed", batch=96)
    assert answer.parameters == parameters_of(module)
    assert answer.model_flops_per_step == pytest.approx(96 * flops)
    assert answer.model == type(module).__name__ + ".onnx"
    # The module is left as it was.
    assert module.training
    for name, tensor in module.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_training_takes_three_times_the_products():
    answer = openwafer.estimate(Mlp(), torch.zeros(2, 64), batch=32)
    assert answer.phase == "train"
    assert answer.model_flops_per_step == pytest.approx(3 * 32 * 2 * (64 * 256 + 256 * 8))


def test_machines_are_compared_and_swept_on_a_module():
    compared = openwafer.compare(Mlp(), ["wse2", "h100"], torch.zeros(2, 64), batch=32)
    assert [row.name for row in compared.rows] == ["wse2", "h100"]
    rows = openwafer.sweep(Mlp(), {"batch": [8, 16]}, example_inputs=torch.zeros(2, 64), frame=False)
    assert [row["batch"] for row in rows] == [8, 16]
    with pytest.raises(openwafer.InputError, match="given twice"):
        openwafer.sweep(Mlp(), {"model": ["gpt2"]}, example_inputs=torch.zeros(2, 64))


def test_an_exported_file_gives_the_same_answer_later(tmp_path):
    module, inputs = encoder(), torch.zeros(2, 32, 64)
    path = tmp_path / "encoder.onnx"
    openwafer.export(module, inputs, path)
    kept = openwafer.estimate(path, batch=64)
    assert kept.step_seconds == openwafer.estimate(module, inputs, batch=64).step_seconds


def test_layers_that_are_alike_are_found():
    layers = openwafer.estimate(encoder(), torch.zeros(2, 32, 64), batch=64).layers
    assert any(row.times >= 2 for row in layers)  # the first may have its input's names


class Control(nn.Module):
    """Its result depends on the numbers that come in."""

    def forward(self, x):
        return x.nonzero()


def test_what_cannot_be_read_is_named():
    with pytest.raises(openwafer.InputError, match="(?i)nonzero"):
        openwafer.estimate(Control(), torch.ones(2, 4))


def test_inputs_are_asked_for_and_of_their_kind():
    with pytest.raises(TypeError, match="needs example_inputs"):
        openwafer.estimate(Mlp())
    with pytest.raises(TypeError, match="expected a tensor"):
        openwafer.estimate(Mlp(), 3)
    with pytest.raises(TypeError, match="torch.nn.Module"):
        openwafer.export("gpt2", torch.zeros(2), "x.onnx")


def test_a_module_that_fails_is_told_in_its_words():
    with pytest.raises(openwafer.InputError, match="cannot export Mlp"):
        openwafer.estimate(Mlp(), torch.zeros(2, 65))


def test_a_package_that_the_exporter_needs_is_named(monkeypatch):
    monkeypatch.setattr("openwafer._torch._has_graph_exporter", lambda: True)
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ImportError, match="pip install onnx onnxscript"):
        openwafer.estimate(Mlp(), torch.zeros(2, 64))


def test_a_module_of_no_memory_is_exported_without_running_it():
    module, inputs = encoder().to("meta"), torch.zeros(2, 32, 64, device="meta")
    if "dynamic_shapes" in inspect.signature(torch.onnx.export).parameters:
        assert openwafer.estimate(module, inputs, batch=64).parameters == parameters_of(module)
    else:  # the tracer before it has to run the module
        with pytest.raises(openwafer.InputError, match="cannot export TransformerEncoder"):
            openwafer.estimate(module, inputs, batch=64)
