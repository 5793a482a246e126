"""How far a long call is: a callback, or tqdm's bar."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Optional, Union

Callback = Callable[[int, int], object]
Progress = Union[None, bool, Callback]


@contextlib.contextmanager
def telling(progress: Progress, what: str) -> Iterator[Optional[Callback]]:
    """A callback for `progress`: itself where it is one; tqdm's bar for True, and for None on a
    terminal or in a notebook where tqdm is there; nothing for False.

    Raises ImportError for True without tqdm, and says what to install."""
    if progress is False or callable(progress):
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as missing:
        if progress:
            raise ImportError("a progress bar needs tqdm: pip install tqdm") from missing
        yield None
        return
    # disable=None: not where standard error is no terminal.
    disable = False if progress else None
    with tqdm(desc=what, delay=0.5, leave=False, disable=disable) as bar:
        yield lambda done, of: _tell(bar, done, of)


def _tell(bar: Any, done: int, of: int) -> None:
    bar.total = of
    bar.update(done - bar.n)
