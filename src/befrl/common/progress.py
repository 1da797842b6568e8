"""The progress bar of long computations."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total: int, show: bool) -> Iterator[Callable[[int], object] | None]:
    """A progress bar on a terminal or in a notebook; yields the function that counts steps, or None."""
    if not show or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield None
        return
    from tqdm import tqdm  # most commands show no progress

    with tqdm(total=total, unit="step", unit_scale=True, leave=False) as counter:
        yield counter.update
