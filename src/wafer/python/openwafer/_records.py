"""Answers as Python objects: the keys of docs/json.md as attributes."""

from __future__ import annotations

import html
import json
from typing import Any, Iterator, Mapping, Optional


def wrapped(value: Any) -> Any:
    """`value` with every object in it as a Record."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [wrapped(item) for item in value]
    return value


class Record(Mapping[str, Any]):
    """An object of JSON: `record.key` and `record["key"]` are the same; units are SI."""

    def __init__(self, data: dict[str, Any], text: str = "") -> None:
        self._data = data
        self._text = text

    def __getitem__(self, key: str) -> Any:
        return wrapped(self._data[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in self._data:
            raise AttributeError(f"no key {key!r}; there are {', '.join(self.__dict__.get('_data', ()))}")
        return self[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        return self._data == (other._data if isinstance(other, Record) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def __str__(self) -> str:
        """What the command line prints."""
        return self._text or json.dumps(self._data, indent=2)

    def __getstate__(self) -> dict[str, Any]:
        return {"_data": self._data, "_text": self._text}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def to_dict(self) -> dict[str, Any]:
        """The answer as dicts and lists, a copy."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def _repr_html_(self) -> str:
        return table({key: value for key, value in self._data.items() if is_short(value)})


class Answer(Record):
    """The answer to one question; docs/json.md lists all keys. Rates are a second, times in
    seconds, memory in bytes, energy in joules."""

    model: str
    machine: str
    systems: int
    phase: str
    mode: str
    batch: int
    micro_batch: int
    seq_len: int
    precision: str
    samples_per_second: float
    tokens_per_second: float
    step_seconds: float
    model_flops_per_step: float
    model_flops_per_second: float
    utilization: float
    bound: str
    epoch_seconds: Optional[float]
    train_seconds: Optional[float]
    energy_joules_per_step: float
    expected_error: Optional[float]
    extrapolated: list[str]
    memory: Record
    layers: list[Record]
    parameters: float
    sparsity: float

    def __repr__(self) -> str:
        d = self._data
        return (
            f"<Answer: {d['model']} on {d['machine']}, {d['phase']}, {d['mode']}: "
            f"{d['samples_per_second']:.4g} samples/s, step {d['step_seconds']:.4g} s, "
            f"limited by {d['bound']}>"
        )


class Rows(Record):
    """An answer with a row for each thing asked: a sequence of `rows` as well."""

    rows: list[Record]

    def frame(self) -> Any:
        """The rows as a pandas DataFrame; a key of an object is the column "object.key"."""
        return data_frame([flat(row) for row in self._data["rows"]])

    def _repr_html_(self) -> str:
        return rows_table(self._data["rows"])


class Comparison(Rows):
    """The same job on several machines: `comparison["wse3x4"]` is the row of a machine as it was
    written, `rows` all of them, in order."""

    def __getitem__(self, key: str) -> Any:
        for row in self._data["rows"]:
            if row["name"] == key:
                return Record(row)
        return super().__getitem__(key)

    def __repr__(self) -> str:
        rates = (
            f"{row['name']} {row['samples_per_second']:.4g} samples/s"
            if row.get("samples_per_second") is not None
            else f"{row['name']} no answer"
            for row in self._data["rows"]
        )
        return f"<Comparison: {', '.join(rates)}>"


class Validation(Rows):
    """Predictions held against measurements: `rows`, and `groups` with the error by kind."""

    groups: list[Record]

    def __repr__(self) -> str:
        groups = (
            f"{g['machine']} {g['mode']} {g['phase']} {100 * g['mean']:.1f} % of {g['rows']} rows"
            for g in self._data["groups"]
        )
        return f"<Validation: mean error {'; '.join(groups) or 'of nothing'}>"

    def _repr_html_(self) -> str:
        return rows_table(self._data["groups"])


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the keys of its objects as "object.key"."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            out.update({f"{key}.{inner}": item for inner, item in value.items()})
        else:
            out[key] = value
    return out


def data_frame(rows: list[Any], columns: Optional[list[str]] = None) -> Any:
    """A pandas DataFrame. Raises ImportError that says what to install."""
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("a frame needs pandas: pip install pandas") from missing
    return pandas.DataFrame(rows, columns=columns)


def has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def is_short(value: Any) -> bool:
    return value is not None and not isinstance(value, (dict, list))


def cell(value: Any) -> str:
    words = f"{value:.4g}" if isinstance(value, float) else str(value)
    return html.escape("" if value is None else words)


def table(values: Mapping[str, Any]) -> str:
    lines = (f"<tr><th>{html.escape(k)}</th><td>{cell(v)}</td></tr>" for k, v in values.items())
    return f"<table>{''.join(lines)}</table>"


def rows_table(rows: list[dict[str, Any]]) -> str:
    keys = [k for k in (rows[0] if rows else ()) if any(is_short(row.get(k)) for row in rows)]
    head = "".join(f"<th>{html.escape(key)}</th>" for key in keys)
    body = "".join(
        f"<tr>{''.join(f'<td>{cell(row.get(k))}</td>' for k in keys)}</tr>" for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
