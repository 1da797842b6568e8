"""Exceptions that end a command with a one-sentence message.

Bad input gives exit code 2, a failed computation or a broken contract exit code 1.
"""


class InputError(ValueError):
    """The user asked for something that does not exist or is out of range."""


class Refused(InputError):
    """Components that cannot work together, refused before anything runs."""


class NotConverged(RuntimeError):
    """The solver did not converge on valid input."""


class ContractError(RuntimeError):
    """An agent or an instance breaks its contract; the message says how."""


def require(holds, sentence: str):
    """Raise `ContractError` unless a condition of a contract holds."""
    if not holds:
        raise ContractError(sentence)


def unknown(kind: str, name, allowed) -> InputError:
    """The error for an unknown name; its message guesses what was meant and lists the allowed names."""
    names = list(map(str, allowed))
    return InputError(f"unknown {kind} '{name}'{guess(name, names)}: choose one of {', '.join(names)}")


def guess(name, allowed) -> str:
    """The allowed name that is most like an unknown one, as ` (did you mean 'chain'?)`; nothing if none is like it."""
    # Imported here because only mistakes need it.
    from difflib import get_close_matches

    known = {str(each).lower(): each for each in allowed}
    close = get_close_matches(str(name).lower(), known, n=1)
    return f" (did you mean '{known[close[0]]}'?)" if close else ""
