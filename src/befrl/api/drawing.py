"""The figure of a comparison, in the style of the study's figures."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError
from befrl.figures import regret
from befrl.figures.support import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Without a date a figure is the same every time.
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def check_path(path: str | PathLike[str]) -> None:
    """Raise if no figure can be written at a path."""
    if Path(path).suffix not in METADATA:
        raise InputError(f"{path}: cannot be drawn, the name must end in {', '.join(METADATA)}")
    storage.check_target(path)


def draw(
    summary: pd.DataFrame,
    curves: pd.DataFrame,
    level: float,
    path: str | PathLike[str] | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the regret of every label but the oracle's, in a new figure or in `ax`; write it if a path is given."""
    import matplotlib

    if path is not None:
        check_path(path)
    summary = summary.assign(agent=summary["variant"])  # a label is an agent here, with a style of its own
    learning = summary["algorithm"] != "oracle"
    rows = summary[learning if learning.any() else slice(None)].sort_values("mean", ascending=False, kind="stable")
    with matplotlib.rc_context():  # a notebook keeps its own settings
        style.theme()
        style.start(dict(zip(summary["agent"], summary["algorithm"], strict=True)))
        figure = regret.draw_curves(summary, curves, rows, ax)
        heading = f"{style.heading(summary.iloc[0])}\nshaded: {level:.0%} interval of the mean"
        if ax is None:
            figure.suptitle(heading, fontsize=style.HEADING)
        else:
            ax.set_title(heading, fontsize=style.HEADING)
        if path is not None:
            ending = Path(path).suffix
            with storage.replacing(path) as file:
                figure.savefig(file, format=ending[1:], dpi=300, metadata=METADATA[ending])
    return figure
