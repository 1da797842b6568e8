"""How numbers, names, formulas and records are written on the page."""

import json
import math
import numbers
import re

from markupsafe import Markup, escape

from befrl.report.formulas import formula, plain

DASH = "–"
GREEK = {"alpha": "α", "beta": "β", "delta": "δ", "theta": "θ", "phi": "φ", "psi": "ψ", "sigma": "σ"}
FORMULA = re.compile(r"\$([^$]+)\$")
EMPHASIS = {"strong": re.compile(r"\*\*(.+?)\*\*"), "em": re.compile(r"(?<![\w*])\*([^*]+)\*(?![\w*])")}


def missing(value) -> bool:
    return value is None or (isinstance(value, numbers.Real) and math.isnan(value))


def number(value, digits: int = 3) -> str:
    """A number with `digits` significant digits and all digits before the point: 0.159, 12.3, 1,234; or a dash."""
    if missing(value):
        return DASH
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return str(value)
    if isinstance(value, numbers.Integral) or value == 0:
        text = f"{int(value):,}"
    elif math.isinf(value):
        text = "∞" if value > 0 else "-∞"
    else:
        text = f"{value:.{digits - 1}e}"
        exponent = int(text.split("e")[1])  # after rounding, so that 9.999 is 10.0 and not 10.00
        if -3 <= exponent <= 8:
            text = f"{value:,.{max(0, digits - 1 - exponent)}f}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def percent(share) -> str:
    """A share between 0 and 1 as a percentage."""
    return DASH if missing(share) else f"{100 * share:.1f}"


def between(low, high, brackets: str = "", joint: str = " – ") -> str:
    """The two ends of a range: [1.23, 4.56] or 1.23 – 4.56."""
    opening, closing = brackets or ("", "")
    return DASH if missing(low) and missing(high) else f"{opening}{number(low)}{joint}{number(high)}{closing}"


def span(values, thing: str) -> str:
    """The range of some whole numbers, such as '5 seeds' or '5 to 20 seeds'; empty without numbers."""
    known = {int(value) for value in values if not missing(value)}
    ends = sorted({min(known), max(known)}) if known else []
    return f"{' to '.join(map(number, ends))} {thing}{'' if ends == [1] else 's'}" if ends else ""


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
        parts = [f"{record(str(key))}: {record(item, width, inner)}" for key, item in value.items()]
    elif all(isinstance(item, numbers.Real) for item in value):
        return line  # the page wraps it
    else:
        parts = [record(item, width, inner) for item in value]
    return line[0] + "\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}{line[-1]}"


def slug(name) -> str:
    """A name as part of an address: letters and digits joined by single hyphens."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", str(name))) or "unnamed"


def by_number(name) -> list:
    """Sort key of a name with numbers: C9 before C10, and C45 before C45b."""
    parts = re.findall(r"[0-9]+|[^0-9]+", str(name))
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


def mathematics(text) -> Markup:
    """Text with formulas, safe for the page: `$x_k$` as MathML, *x* and **x** emphasised, everything else escaped."""
    words = " ".join(str(text).replace("\0", "").split())
    marked = str(escape(FORMULA.sub("\0", words)))  # a formula may contain stars
    for tag, pattern in EMPHASIS.items():
        marked = pattern.sub(rf"<{tag}>\1</{tag}>", marked)
    formulas = iter(FORMULA.findall(words))
    return Markup(re.sub("\0", lambda _: formula(next(formulas)), marked))


def paragraphs(text) -> Markup:
    """Paragraphs, separated by blank lines, and lists, whose items start with a hyphen or a star."""
    found = Markup("")
    for part in filter(None, str(text).split("\n\n")):
        head, *items = re.split(r"(?m)^[-*] ", part)
        found += Markup("<p>{}</p>").format(mathematics(head)) if head.strip() else Markup("")
        listed = Markup("").join(Markup("<li>{}</li>").format(mathematics(item)) for item in items)
        found += Markup("<ul>{}</ul>").format(listed) if items else Markup("")
    return found


def compact(text) -> str:
    """Text for one element that keeps its line breaks: formulas as lines, a line for each paragraph and item."""
    parts = re.split(r"\n\s*\n|\n(?=[-*] )", str(text).replace("**", ""))
    lines = (" ".join(part.split()) for part in parts)
    return "\n".join(FORMULA.sub(lambda found: plain(found[1]), line) for line in lines if line)
