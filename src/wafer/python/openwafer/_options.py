"""The options of a question: the command line's, with '_' for '-'."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import math
import numbers
import os
from typing import Any, Callable, Mapping, Optional, TypedDict, TypeVar

from . import _core


class Options(TypedDict, total=False):
    """What may be said of a question; what is absent or None is chosen for you.

    machine: a name of machines(), or the path of a TOML file; default "wse2".
    phase: "train" (default) or "infer".
    mode: "auto" (default), "streamed", "pipelined" or "resident"; of wafers.
    batch: samples of a step over all systems; default 1024.
    seq: tokens of a sample; default the model's own.
    precision: "16bit" (default), "f16", "bf16", "cb16", "f32" or "tf32".
    systems: wafers, or GPUs; default 1.
    sparsity: zeros in the weights of layers: their share, from 0 (default) to less than 1, or "N:M".
    sparsity_of: the same of some weights, by kernel ("mlp/*") or parameter; the last that matches counts.
    cores: edges of the mesh that a layer lies on with resident weights, as "480x480".
    region: PEs that the kernels of a pipeline may take.
    host_latency: seconds that the host adds to a small batch of inference; default the machine's.
    price: USD for an hour of one wafer or GPU by machine, {"wse2": 100}: asks for cost_usd.
    dim: sizes of the symbolic dimensions of a model file, by name.
    micro_batch: samples that one system works on at a time; default the fastest.
    recompute: "none", "selective" or "full": what the backward pass computes again.
    epoch_samples: samples of an epoch: asks for epoch_seconds.
    tokens: tokens to train on: asks for train_seconds.
    samples_to_target: samples that training takes to a quality: a number, "mlperf-bert-v0.7",
        "mlperf-bert-v2.0" or a CSV file (batch, samples, target, source).
    tp, pp, dp: GPUs that share a layer's matrices, pipeline stages, replicas.
    interleaving: runs of layers that a pipeline stage holds.
    sequence_parallel: tensor ranks share what lies between the matrices.
    sharding: "none", "optimizer", "gradients" or "full": what replicas divide.
    plain_attention: attention keeps its scores, and dropout runs.
    length_variation: deviation of the lengths of unpadded samples / their mean.
    """

    machine: Optional[str | os.PathLike[str]]
    phase: Optional[str]
    mode: Optional[str]
    batch: Optional[float]
    seq: Optional[float]
    precision: Optional[str]
    systems: Optional[float]
    sparsity: Optional[float | str]
    sparsity_of: Optional[Mapping[str, float | str]]
    cores: Optional[str]
    region: Optional[float]
    host_latency: Optional[float]
    price: Optional[Mapping[str, float]]
    dim: Optional[Mapping[str, int]]
    micro_batch: Optional[float]
    recompute: Optional[str]
    epoch_samples: Optional[float]
    tokens: Optional[float]
    samples_to_target: Optional[float | str | os.PathLike[str]]
    tp: Optional[float]
    pp: Optional[float]
    dp: Optional[float]
    interleaving: Optional[float]
    sequence_parallel: Optional[bool]
    sharding: Optional[str]
    plain_attention: Optional[bool]
    length_variation: Optional[float]


def option_types() -> dict[str, str]:
    """Every option of a question, and how its type is written: those of Options, then any other that
    the command line has."""
    types = {name: kind.__forward_arg__ for name, kind in Options.__annotations__.items()}
    for setting in _core.settings():
        name = setting.replace("-", "_")
        if name != "model":
            types.setdefault(name, "Any")
    return types


F = TypeVar("F", bound=Callable[..., Any])


def takes_options(function: F) -> F:
    """Shows the options in the function's signature and help, and refuses others as Python does."""
    plain = inspect.signature(function)
    own = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in option_types().items()
        if name not in plain.parameters
    ]
    allowed = [p.name for p in own + options]

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in allowed:
                near = difflib.get_close_matches(name, allowed, 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise TypeError(f"{function.__name__}(): no option {name!r}{meant}")
        return function(*args, **kwargs)

    checked.__signature__ = plain.replace(parameters=own + options)  # type: ignore[attr-defined]
    lines = (Options.__doc__ or "").split("\n\n", 1)[1]
    checked.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n{lines.rstrip()}\n"
    return checked  # type: ignore[return-value]


def plain_value(value: Any) -> Any:
    """A value as JSON has it: numpy's numbers and paths included; a word for what JSON has not."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else str(float(value))
    return str(value)


def asked(model: Optional[str], options: Mapping[str, Any]) -> str:
    """A question as the module takes it."""
    return json.dumps({"model": model, **{k: plain_value(v) for k, v in options.items()}})


def axis_text(name: str, values: Any) -> str:
    """An axis as the command line has it: NAME=VALUES."""
    if isinstance(values, (str, bool, numbers.Real)) or not hasattr(values, "__iter__"):
        values = [values]
    return f"{name}={','.join(_axis_word(value) for value in values)}"


def _axis_word(value: Any) -> str:
    value = plain_value(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else repr(value)
