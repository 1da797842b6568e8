"""Ranges of seeds as text: `30` means seeds 0 to 29, `30-59` means seeds 30 to 59."""

from befrl.common.errors import InputError, quoted

MOST = 1_000_000
DIGITS = 9  # of the largest seed


def parse(text: str) -> range:
    """The range of seeds that a text denotes."""
    parts = str(text).split("-")
    if len(parts) <= 2 and all(part.isdecimal() and len(part) <= DIGITS for part in parts):
        seeds = range(int(parts[0])) if len(parts) == 1 else range(int(parts[0]), int(parts[1]) + 1)
        if 0 < len(seeds) <= MOST:
            return seeds
    raise InputError(
        f"seeds = {quoted(str(text))} is not allowed: give a number of seeds (30) or a range (30-59), {MOST} at most, "
        f"with numbers of at most {DIGITS} digits"
    )


def batch(seeds: range) -> str:
    """The name of a batch of seeds: its range as text."""
    return f"{seeds[0]}-{seeds[-1]}"
