"""One thread for linear algebra in the user's process, as the command line has it."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra with one thread: more of them change the last bits."""
    with threadpool_limits(limits=1):
        yield
