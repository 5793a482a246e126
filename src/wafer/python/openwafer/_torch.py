"""A PyTorch module as a model: its graph, written as ONNX by PyTorch's own exporter."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import pathlib
import sys
import tempfile
import warnings
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from ._errors import InputError

Path = Union[str, "os.PathLike[str]"]

# Newest opset that every exporter from PyTorch 1.13 on writes.
_OPSET_OF_TRACES = 17
# Tensors of so many elements or fewer may be constants that shapes are computed from.
_SMALL = 1024


def is_module(model: Any) -> bool:
    """Whether `model` is a torch.nn.Module. Who has one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


@contextlib.contextmanager
def model_of(model: Any, example_inputs: Any) -> Iterator[str]:
    """The model as the module takes it: a name or path as it is, a PyTorch module as a file that is
    there while the context lasts."""
    if is_module(model):
        if example_inputs is None:
            raise TypeError(
                "a PyTorch module needs example_inputs: a tensor, a tuple of them or a dict of "
                "keyword arguments, such as torch.zeros(2, 128, dtype=torch.long)"
            )
        with tempfile.TemporaryDirectory(prefix="openwafer-") as folder:
            path = os.path.join(folder, type(model).__name__ + ".onnx")
            export(model, example_inputs, path)
            yield path
        return
    if example_inputs is not None:
        raise TypeError("example_inputs go with a PyTorch module; a name or file has its own")
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            "expected the name of a model, the path of a file or a torch.nn.Module, found "
            f"{type(model).__name__}; PyTorch is installed by: pip install torch onnx onnxscript"
        )
    yield os.fspath(model)


def export(module: Any, example_inputs: Any, path: Path) -> None:
    """Writes the forward pass of a PyTorch module as an ONNX file without its weights.

    module: a torch.nn.Module, on any device; it is exported as it is in evaluation, and left as it
        was. On the device "meta" no weights are needed at all.
    example_inputs: a tensor, a tuple or list of them, or a dict of keyword arguments. The first
        dimension of each that all share is taken as the batch and left open.
    path: the file; asking of it again needs no PyTorch.

    Raises InputError with the exporter's words where it cannot export the module, ImportError where
    a package is missing."""
    if not is_module(module):
        raise TypeError(f"expected a torch.nn.Module, found {type(module).__name__}")
    args, kwargs = _arguments(module, example_inputs)
    training = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        if _has_graph_exporter():
            _export_graph(module, args, kwargs, os.fspath(path))
        else:
            _export_trace(module, args, kwargs, os.fspath(path))
    finally:
        for part, was in training:
            part.training = was


def _torch() -> Any:
    return sys.modules["torch"]


def _has_graph_exporter() -> bool:
    # torch.export, and the exporter over it, came to stay with PyTorch 2.5.
    onnx = __import__("torch.onnx", fromlist=["export"])
    return "dynamic_shapes" in inspect.signature(onnx.export).parameters


def _arguments(module: Any, example_inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, Sequence) and not isinstance(example_inputs, str):
        return tuple(example_inputs), {}
    if isinstance(example_inputs, _torch().Tensor):
        return (example_inputs,), {}
    raise TypeError(
        "example_inputs: expected a tensor, a tuple or list of tensors, or a dict of keyword "
        f"arguments, found {type(example_inputs).__name__}"
    )


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, _torch().Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)


def _batch_of(args: Any, kwargs: Any) -> Optional[int]:
    """The size that the first dimensions of all inputs share; None where there is none."""
    firsts = {t.shape[0] if t.dim() else None for t in _tensors([args, kwargs])}
    return firsts.pop() if len(firsts) == 1 else None


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, _torch().Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _mapped(item, change) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(_mapped(item, change) for item in value)
    return None if change is _batch_dim else value


def _batch_dim(_: Any) -> dict[int, Any]:
    return {0: _torch().export.Dim("batch", min=1, max=1 << 40)}


def _fixed(problem: BaseException) -> None:
    warnings.warn(
        "the batch of the module could not be left open, so the batch of the example inputs is the "
        f"only micro-batch: {_first_line(problem)}",
        stacklevel=6,
    )


def _first_line(problem: BaseException) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0].strip()}" if lines else type(problem).__name__


def _cannot(module: Any, problem: BaseException) -> InputError:
    return InputError(
        f"PyTorch cannot export {type(module).__name__} as ONNX: {_first_line(problem)}. Try "
        "torch.onnx.export yourself and give the file, or a part of the module"
    )


def _export_graph(module: Any, args: Any, kwargs: Any, path: str) -> None:
    """By torch.export, which runs nothing: on example tensors of no memory."""
    torch = _torch()
    try:
        import onnx_ir
        import onnxscript  # noqa: F401
    except ImportError as e:
        raise ImportError(
            "a PyTorch module is written by PyTorch's exporter, which needs: "
            "pip install onnx onnxscript"
        ) from e
    batch = _batch_of(args, kwargs)
    if batch == 1:  # 1 is taken for a size that never changes
        args, kwargs = _mapped((args, kwargs), lambda t: torch.cat([t, t]))
    program, problem = None, None
    real = not any(p.is_meta for p in module.parameters())
    with _distinct(module), _quiet(), torch.no_grad():
        if batch is not None:
            names = list(inspect.signature(module.forward).parameters)
            shapes = dict(zip(names, _mapped(list(args), _batch_dim)))
            shapes.update(_mapped(kwargs, _batch_dim))
            try:
                program = torch.export.export(
                    module, args, kwargs, dynamic_shapes=shapes, strict=False
                )
            except Exception as e:
                problem = e
        try:
            if program is None:
                program = torch.export.export(module, args, kwargs, strict=False)
            written = torch.onnx.export(program, dynamo=True, verbose=False, optimize=False)
            if any("Sequence" in node.op_type for node in written.model.graph.all_nodes()):
                written.optimize()  # takes lists of tensors apart; folds tables too, so only then
        except Exception as e:
            raise _cannot(module, e) from e
    if problem is not None:
        _fixed(problem)
    graph = written.model.graph
    for value in graph.inputs:
        if batch is not None and value.shape is not None and not isinstance(value.shape[0], int):
            value.shape = onnx_ir.Shape(["batch", *list(value.shape)[1:]])
    for name, value in graph.initializers.items():
        tensor = value.const_value
        if tensor is None or (tensor.size <= _SMALL and real):
            continue
        value.const_value = onnx_ir.ExternalTensor(
            "weights-left-out", 0, tensor.nbytes, tensor.dtype,
            shape=onnx_ir.Shape(tensor.shape), name=name,
        )  # fmt: skip
    onnx_ir.save(written.model, path)


def _export_trace(module: Any, args: Any, kwargs: Any, path: str) -> None:
    """By the tracer of PyTorch before 2.5, which runs the module once."""
    torch = _torch()
    batch = _batch_of(args, kwargs)
    names = [f"input_{i}" for i, _ in enumerate(_tensors([args, kwargs]))]
    if kwargs:
        parameters = list(inspect.signature(module.forward).parameters)
        names = parameters[: len(args)] + [n for n in parameters if n in kwargs]
    axes = {name: {0: "batch"} for name in names} if batch is not None else {}
    # With gradients on, layers take their plain path; "preserve" keeps norms apart from products.
    with _distinct(module), _quiet(), torch.enable_grad():
        try:
            torch.onnx.export(
                module,
                (*args, kwargs) if kwargs else args,
                path,
                opset_version=_OPSET_OF_TRACES,
                training=torch.onnx.TrainingMode.PRESERVE,
                input_names=names,
                dynamic_axes=axes,
                do_constant_folding=False,
            )
        except Exception as e:
            pathlib.Path(path).unlink(missing_ok=True)
            raise _cannot(module, e) from e


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's warnings, which are of running the file and not of its graph."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


@contextlib.contextmanager
def _distinct(module: Any) -> Iterator[None]:
    """Parameters that hold the same, such as those of fresh norms or of copied layers, are stored once
    by exporters, as if they were one. Meanwhile the first number of each is one of its own."""
    parameters = [p for p in module.parameters() if p.numel() and not p.is_meta]
    elements = [p.data[(0,) * p.dim()] for p in parameters]
    kept = [element.clone() for element in elements]
    try:
        for i, element in enumerate(elements):
            element.fill_(i + 1)
        yield
    finally:
        for element, value in zip(elements, kept):
            element.copy_(value)
