"""What ends a command with one sentence: bad input, exit code 2, or a computation that failed, exit code 1."""


class InputError(ValueError):
    """The user asked for something that does not exist or is out of range."""


class Refused(InputError):
    """A pairing of parts that cannot work together, known before anything runs."""


class NotConverged(RuntimeError):
    """A solver did not reach its goal; no fault of the input that anybody could name."""


def unknown(kind: str, name, allowed) -> InputError:
    """The sentence for a name that is not one of the allowed ones."""
    return InputError(f"unknown {kind} '{name}': choose one of {', '.join(map(str, allowed))}")
