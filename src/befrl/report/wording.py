"""How numbers, names, formulas and records are written on the page."""

import math
import numbers
import re

from markupsafe import Markup, escape

from befrl.report.formulas import formula, plain

DASH = "–"
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
