"""Outcomes of injected faults: rejected with one error message, completed, or failed."""

import contextlib
import signal
import sys
import traceback
from dataclasses import dataclass, field

from befrl.common.errors import MESSAGE, InputError, one_line


class Late(BaseException):
    """A case takes too long; not an Exception, which the tested code might catch."""


@contextlib.contextmanager
def at_most(seconds):
    """Raise `Late` in a block that takes too long."""

    def late(number, frame):
        raise Late(f"it takes more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcomes:
    fault: str
    tried: int = 0
    rejected: int = 0
    completed: int = 0
    failures: list = field(default_factory=list)
    seconds: int = 60  # a case that takes longer has failed

    def count(self, case, function):
        """Call a function and count its outcome: it returns None if it completed, or an error message.

        An `InputError` is an error message, too. Any other exception is a failure, and so is a message of several lines
        or of more than MESSAGE characters.
        """
        self.tried += 1
        try:
            with at_most(self.seconds):
                message = function()
        except InputError as error:
            message = one_line(f"befrl: {error}")
        except (AssertionError, Late) as error:
            return self._fail(case, str(error))
        except Exception:
            return self._fail(case, traceback.format_exc(limit=-4))
        if message is None:
            self.completed += 1
        elif "\n" in message.rstrip("\n") or len(message) > MESSAGE + 1 or not message.startswith("befrl"):
            self._fail(case, f"not one short error message: {message[:2000]}")
        else:
            self.rejected += 1

    def _fail(self, case, why):
        self.failures.append((str(case), why))
        print(f"FAILED {self.fault}: {str(case)[:300]}\n{why}", file=sys.stderr)

    @property
    def row(self):
        return self.fault, self.tried, self.rejected, self.completed, len(self.failures)


def table(found) -> str:
    rows = [("fault", "cases", "rejected", "completed", "failed"), *(each.row for each in found)]
    return "\n".join(f"{row[0]:32}" + "".join(f"{cell:>11}" for cell in row[1:]) for row in rows)
