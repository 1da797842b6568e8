"""Bad input: one sentence that names the key and the allowed values. The command line exits with code 2."""


class InputError(ValueError):
    """The user asked for something that does not exist or is out of range."""


def unknown(kind: str, name, allowed) -> InputError:
    """The sentence for a name that is not one of the allowed ones."""
    return InputError(f"unknown {kind} '{name}': choose one of {', '.join(map(str, allowed))}")
