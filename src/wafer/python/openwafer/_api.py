"""The functions of openwafer; each is the command of its name."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _core
from ._errors import InputError
from ._options import Options, asked, axis_text, takes_options
from ._progress import Progress, telling
from ._records import Answer, Comparison, Record, Validation, data_frame, has_pandas, wrapped
from ._torch import is_module, model_of

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, "torch.nn.Module"]
Axes = Union[Mapping[str, Any], str, Sequence[str]]


@takes_options
def estimate(
    model: Model,
    example_inputs: Any = None,
    *,
    paper_roofline: bool = False,
    **options: Unpack[Options],
) -> Answer:
    """How fast a network trains or runs, and what limits it.

    model: a built-in name (models()), a free form such as
        "gpt:layers=24,hidden=2048,heads=16,vocab=50257", or the path of an .onnx file, of a Hugging
        Face config.json or of its folder; or a torch.nn.Module.
    example_inputs: of a module: a tensor, a tuple of them or a dict of keyword arguments. Their
        first dimension is the batch, which `batch` sets. export() keeps the file that is asked of.
    paper_roofline: also the roofline as HPEC 2024 counts it.

    Returns an Answer: answer.samples_per_second, answer.memory.weights_bytes ...; print(answer) is
    the text of the command line. Raises InputError where the question is wrong, CapacityError where
    the network does not fit the machine."""
    with model_of(model, example_inputs) as name:
        told, text = _core.estimate(asked(name, options), paper_roofline)
    return Answer(json.loads(told), text)


@takes_options
def compare(
    model: Model,
    machines: Union[str, Sequence[Path]],
    example_inputs: Any = None,
    **options: Unpack[Options],
) -> Comparison:
    """The same job on several machines, side by side.

    model, example_inputs: as for estimate().
    machines: names or paths of TOML files, each with xN for N systems or GPUs and :MODE where it
        has several: ["wse2", "wse3x4", "a100-80gbx256"]. Ratios are to the first that can do it.

    Returns a Comparison: a machine that cannot do it has a row with a reason. Raises InputError and
    CapacityError where no machine can do it."""
    _refuse_machine(options)
    names = machines.split(",") if isinstance(machines, str) else [os.fspath(m) for m in machines]
    with model_of(model, example_inputs) as name:
        told, text = _core.compare(asked(name, options), names)
    return Comparison(json.loads(told), text)


@takes_options
def sweep(
    model: Optional[Model] = None,
    axis: Axes = (),
    *,
    example_inputs: Any = None,
    pareto: Union[str, Sequence[str]] = (),
    threads: int = 0,
    frame: Optional[bool] = None,
    progress: Progress = None,
    **options: Unpack[Options],
) -> Any:
    """The same question over ranges of its numbers and machines.

    model, example_inputs: as for estimate(); None where an axis is "model".
    axis: values by name, {"batch": [256, 512], "machine": ["wse2", "h100x8"]}, or texts of the
        command line, ["batch=64..4096:x2", "wse2.clock_hz=8e8..1e9:1e8"]. Names are options, or
        numbers of a machine by their TOML key. Every combination is asked, the last axis turning
        fastest.
    pareto: only points that no other beats in these keys, two or more.
    threads: 0 is one a core; answers do not depend on it.
    frame: True for a pandas DataFrame, False for a list of dicts; None: a frame where pandas is.
    progress: called with (done, of); True for tqdm's bar, False for none; None: a bar on a terminal
        where tqdm is.

    Returns a row a point, in order. Columns are keys of docs/json.md (in a frame "object.key" is the
    key of an object); a point without an answer has a reason. Warns where no point has one. Raises
    InputError for axes and options that are wrong, KeyboardInterrupt at Ctrl-C."""
    axes = _axes(axis)
    has_model = any(text.startswith("model=") for text in axes)
    is_given = model is not None and model != ""
    if has_model == is_given:
        raise InputError(
            "the model is given twice: as model and as an axis"
            if is_given
            else "expected a model, or an axis of the name model"
        )
    keys = pareto.split(",") if isinstance(pareto, str) else list(pareto)
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(model_of(model, example_inputs)) if is_given else None
        heard = stack.enter_context(telling(progress, "sweeping"))
        swept = _core.sweep(asked(name, options), axes, keys, threads, heard)
    _warn_if_none(swept)
    if has_pandas() if frame is None else frame:
        return data_frame(swept.rows, swept.columns)
    return [_nested(swept, row) for row in swept.rows]


def validate(
    file: Optional[Path] = None, *, cross: bool = False, progress: Progress = None
) -> Validation:
    """Predictions held against published measurements.

    file: CSV with the columns of validation/README.md; None: the rows that come with openwafer.
    cross: also fits without each model and without each source in turn, and the error on what was
        left out; takes some seconds.
    progress: as for sweep().

    Returns a Validation: .rows with predicted and measured of each row, .groups with the error by
    machine, mode and phase. Raises InputError for a file that cannot be read."""
    path = _core.find_data("validation/system.csv") if file is None else os.fspath(file)
    with telling(progress, "predicting") as heard:
        told, text = _core.validate(path, cross, heard)
    return Validation(json.loads(told), text)


def machines(name: Optional[Path] = None) -> Any:
    """The machines that are described, as a list of Records; with `name` (or the path of a TOML
    file) every number of that one with unit, mark and source. Raises InputError for one that is not
    there or not right."""
    return wrapped(json.loads(_core.machines("" if name is None else os.fspath(name))))


def models() -> list[Record]:
    """The networks that are built in: name, parameters, seq_len, sizes, and where their shape is
    from."""
    listed: list[Record] = wrapped(json.loads(_core.models()))
    return listed


def _refuse_machine(options: Mapping[str, Any]) -> None:
    if options.get("machine") is not None:
        raise TypeError("compare(): machines are given in machines, not in machine")


def _axes(axis: Axes) -> list[str]:
    if isinstance(axis, str):
        return [axis]
    if isinstance(axis, Mapping):
        return [axis_text(name, values) for name, values in axis.items()]
    return list(axis)


def _warn_if_none(swept: _core.Swept) -> None:
    if swept.answered or not swept.points:
        return
    first = swept.rows[0][-1] if swept.rows else "see the rows without pareto"
    warnings.warn(
        f"none of {swept.points} points has an answer; the first: {first}", stacklevel=4
    )


def _nested(swept: _core.Swept, row: list[Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, of_machine, value in zip(swept.columns, swept.of_machine, row):
        outer, dot, inner = name.partition(".")
        if dot and not of_machine:
            out.setdefault(outer, {})[inner] = value
        else:
            out[name] = value
    return out
