"""The table of a comparison as text, Markdown or LaTeX."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from befrl.common.errors import unknown

FORMS = ("text", "markdown", "latex")
HEAD = ("agent", "setting", "mean regret", "", "median", "failed", "minus the best", "", "seconds")
NUMBERS = range(2, len(HEAD))  # columns that are aligned at the right
MARKDOWN = str.maketrans({"|": r"\|"})
LATEX = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {character: f"\\{character}" for character in "&%$#_{}"}
)


def check_form(form: str) -> None:
    """Raise unless a table can be printed in a form."""
    if form not in FORMS:
        raise unknown("form", form, FORMS)


def printed(table: pd.DataFrame, form: str) -> str:
    """The table with intervals in brackets and failures in per cent."""
    check_form(form)
    rows = [HEAD, *map(_cells, table.to_dict("records"))]
    if form == "markdown":
        lines = ["| " + " | ".join(cell.translate(MARKDOWN) for cell in row) + " |" for row in rows]
        rule = "|".join("---:" if i in NUMBERS else "---" for i in range(len(HEAD)))
        return "\n".join([lines[0], f"|{rule}|", *lines[1:]])
    if form == "latex":
        lines = [" & ".join(cell.translate(LATEX) for cell in row) + r" \\" for row in rows]
        columns = "".join("r" if i in NUMBERS else "l" for i in range(len(HEAD)))
        body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        return "\n".join([f"\\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def _cells(row: dict[Hashable, Any]) -> list[str]:
    # One seed has no interval.
    regret, paired = (
        f"[{row[low]:.4g}, {row[high]:.4g}]" if row[low] == row[low] else ""
        for low, high in (("low", "high"), ("difference_low", "difference_high"))
    )
    numbers = [f"{row['median']:.4g}", f"{row['failed']:.0%}", f"{row['difference']:.4g}", paired]
    return [row["agent"], row["setting"], f"{row['mean']:.4g}", regret, *numbers, f"{row['seconds']:.1f}"]
