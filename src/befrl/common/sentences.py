"""Messages are one short line, whatever the user's input contains."""

# Characters of a message, and of a value that is quoted in one.
MESSAGE, VALUE = 700, 100


def one_line(text, most=MESSAGE) -> str:
    """The text on one line, without control characters; one that is too long loses its middle."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    half = (most - 5) // 2
    return line if len(line) <= most else f"{line[:half]} ... {line[-half:]}"


def quoted(value) -> str:
    """A value as it stands in a message."""
    return one_line(repr(value), VALUE)
