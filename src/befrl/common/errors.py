"""Exceptions that end a command with a message of one line: exit code 2 for bad input, otherwise 1."""

MESSAGE, VALUE = 700, 100  # most characters of a message, and of a value quoted in it


class InputError(ValueError):
    """The user asked for something that does not exist or is out of range."""


class Refused(InputError):
    """Components that cannot work together, rejected before anything runs."""


class NotConverged(RuntimeError):
    """The solver did not converge on valid input."""


class ContractError(RuntimeError):
    """An agent or an instance breaks its contract; the message says how."""


def require(holds, message: str):
    """Raise `ContractError` unless a condition of a contract holds."""
    if not holds:
        raise ContractError(message)


def unknown(kind: str, name, allowed) -> InputError:
    """The error for an unknown name: it suggests the closest allowed name and lists all of them."""
    names, shown = list(map(str, allowed)), one_line(name, VALUE)
    return InputError(f"unknown {kind} '{shown}'{guess(name, names)}: choose one of {', '.join(names)}")


def guess(name, allowed) -> str:
    """The allowed name closest to an unknown one, as ` (did you mean 'chain'?)`; empty if none is close."""
    from difflib import get_close_matches  # only errors need it

    known = {str(each).lower(): each for each in allowed}
    close = get_close_matches(str(name).lower(), known, n=1)
    return f" (did you mean '{known[close[0]]}'?)" if close else ""


def one_line(text, most=MESSAGE) -> str:
    """The text on one line without control characters; the middle of a long text is cut out."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    half = (most - 5) // 2
    return line if len(line) <= most else f"{line[:half]} ... {line[-half:]}"


def quoted(value) -> str:
    """A value as shown in a message."""
    return one_line(repr(value), VALUE)
