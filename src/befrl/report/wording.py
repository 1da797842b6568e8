"""How numbers, names and records are written on the page."""

import json
import math
import numbers
import re

from markupsafe import Markup, escape

DASH = "–"
GREEK = {"alpha": "α", "beta": "β", "delta": "δ", "theta": "θ", "phi": "φ", "psi": "ψ", "sigma": "σ"}


def missing(value) -> bool:
    return value is None or (isinstance(value, numbers.Real) and math.isnan(value))


def number(value, digits: int = 3) -> str:
    """A number with `digits` significant digits and all digits before the point: 0.159, 12.3, 1,234; or a dash."""
    if missing(value):
        return DASH
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if isinstance(value, numbers.Integral):
        text = f"{int(value):,}"
    elif value == 0:
        text = "0"
    else:
        # the exponent after rounding, so that 9.999 is 10.0 and not 10.00
        exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
        scientific = exponent < -3 or exponent > 8
        decimals = max(0, digits - 1 - exponent)
        text = f"{value:.{digits - 1}e}" if scientific else f"{value:,.{decimals}f}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def percent(share) -> str:
    """A share between 0 and 1 as a percentage."""
    return DASH if missing(share) else f"{100 * share:.1f}"


def between(low, high, brackets: str = "", joint: str = " – ") -> str:
    """The two ends of a range: [1.23, 4.56] or 1.23 – 4.56."""
    if missing(low) and missing(high):
        return DASH
    opening, closing = brackets or ("", "")
    return f"{opening}{number(low)}{joint}{number(high)}{closing}"


def span(values, thing: str) -> str:
    """The range of some whole numbers, such as '5 seeds' or '5 to 20 seeds'; empty without numbers."""
    known = sorted({int(value) for value in values if not missing(value)})
    if not known:
        return ""
    if known == [1]:
        return f"1 {thing}"
    ends = number(known[0]) if len(known) == 1 else f"{number(known[0])} to {number(known[-1])}"
    return f"{ends} {thing}s"


def count(n: int, thing: str) -> str:
    """A number of things: '1 claim', '2 claims'."""
    return f"{number(n)} {thing}{'' if n == 1 else 's'}"


def duration(seconds) -> str:
    """A duration in seconds, minutes or hours."""
    if missing(seconds):
        return DASH
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{number(seconds / length)} {unit}"
    return f"{number(float(seconds))} s"


def symbol(name: str) -> Markup:
    """A constant in the paper's notation: alpha_p is α with the index p."""
    letter, *indices = (GREEK.get(part, part) for part in str(name).split("_"))
    return Markup("{}<sub>{}</sub>").format(letter, ",".join(indices)) if indices else escape(letter)


def record(value, width: int = 100, indent: str = "") -> str:
    """Indented JSON in which everything that fits the width stays on one line, as do arrays of numbers."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    if len(indent) + len(line) <= width or not isinstance(value, dict | list | tuple) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{_quoted(key)}: {record(item, width, inner)}" for key, item in value.items()]
        opening, closing = "{}"
    elif all(isinstance(item, numbers.Real) for item in value):
        return line  # the page wraps it
    else:
        parts = [record(item, width, inner) for item in value]
        opening, closing = "[]"
    return f"{opening}\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}{closing}"


def _quoted(key):
    return json.dumps(str(key), ensure_ascii=False)


def slug(name) -> str:
    """A name as part of an address: letters and digits joined by single hyphens."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", str(name))) or "unnamed"


def by_number(name) -> list:
    """Sort key of a name with numbers: C9 before C10, and C45 before C45b."""
    parts = re.findall(r"[0-9]+|[^0-9]+", str(name))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
