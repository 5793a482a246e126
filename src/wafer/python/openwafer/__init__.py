"""How fast would a network train or run on a wafer, and what limits it?

    >>> import openwafer
    >>> answer = openwafer.estimate("bert-large", machine="wse2", batch=8192)
    >>> answer.bound
    'compute'

The functions are the commands of the program `wafer`; options, units and the keys of answers are the
same. docs/python.md leads through them."""

from ._api import compare, estimate, machines, models, sweep, validate
from ._core import version as __version__
from ._errors import CapacityError, Error, InputError, InternalError
from ._options import Options
from ._records import Answer, Comparison, Record, Validation
from ._torch import export

# Tracebacks and help name them as users do.
for _shown in (Answer, CapacityError, Comparison, Error, InputError, InternalError, Record, Validation):
    _shown.__module__ = __name__

__all__ = [
    "Answer",
    "CapacityError",
    "Comparison",
    "Error",
    "InputError",
    "InternalError",
    "Options",
    "Record",
    "Validation",
    "compare",
    "estimate",
    "export",
    "machines",
    "models",
    "sweep",
    "validate",
]
