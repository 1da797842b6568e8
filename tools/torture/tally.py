"""What became of the attacks: refused in one sentence, survived, or failed."""

import contextlib
import signal
import sys
import traceback
from dataclasses import dataclass, field

from befrl.common.errors import MESSAGE, InputError, one_line

# An attack that takes longer hangs, unless its tally says otherwise.
SECONDS = 60


@dataclass
class Tally:
    attack: str
    tried: int = 0
    refused: int = 0
    survived: int = 0
    failures: list = field(default_factory=list)
    seconds: int = SECONDS

    def judge(self, case, attack):
        """Count one attack: a function that returns, with None or a sentence, or raises.

        It may raise an `InputError`, whose message is printed as a sentence, and an AssertionError if what it found is
        wrong. Anything else is a failure, as is a sentence of several lines or more than MESSAGE characters.
        """
        self.tried += 1
        try:
            with at_most(self.seconds):
                sentence = attack()
        except InputError as error:
            sentence = one_line(f"befrl: {error}")
        except (AssertionError, Late) as error:
            return self.fail(case, str(error))
        except Exception:
            return self.fail(case, traceback.format_exc(limit=-4))
        if sentence is None:
            self.survived += 1
        elif "\n" in sentence.rstrip("\n") or len(sentence) > MESSAGE + 1 or not sentence.startswith("befrl"):
            self.fail(case, f"not one short sentence: {sentence[:2000]}")
        else:
            self.refused += 1

    def fail(self, case, why):
        self.failures.append((str(case), why))
        print(f"FAILED {self.attack}: {str(case)[:300]}\n{why}", file=sys.stderr)

    @property
    def row(self):
        return self.attack, self.tried, self.refused, self.survived, len(self.failures)


class Late(BaseException):
    """An attack takes too long; not an Exception, which the attacked code might catch."""


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


def table(tallies) -> str:
    rows = [("attack", "tried", "refused in one sentence", "survived", "failed"), *(tally.row for tally in tallies)]
    widths = [max(len(str(row[i])) for row in rows) for i in range(5)]
    lines = [" | ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
