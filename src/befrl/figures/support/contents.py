"""The numbers and words that a figure plots: a digest to compare the figures of two machines.

The bytes of drawings differ between machines, by fonts and last digits; contents do not. Of each line, band or set of
markers at most `SAMPLES` points are kept, evenly spaced with both ends, to six significant digits, as one text.
"""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.ticker import FixedLocator

SAMPLES = 9
DIGITS = 6


def contents(figure) -> dict:
    """Texts of the figure and contents of its axes, in the order of drawing."""
    title = figure.get_suptitle()
    return {
        "texts": [title] * bool(title) + [text for text in _texts(figure.texts) if text != title],
        "legends": [_texts(legend.get_texts()) for legend in figure.legends],
        "axes": [_axes(axes) for axes in figure.axes],
    }


def _axes(axes) -> dict:
    legend = axes.get_legend()
    return {
        "title": axes.get_title() or axes.get_title("left"),
        "x": _axis(axes.xaxis, axes.get_xlim()),
        "y": _axis(axes.yaxis, axes.get_ylim()),
        "legend": _texts(legend.get_texts()) if legend else [],
        "texts": _texts(axes.texts),
        "artists": [
            *(_artist("line", line, line.get_xydata()) for line in axes.get_lines()),
            *(_artist("collection", each, _points(each)) for each in axes.collections),
            *(_artist("patch", p, p.get_path().transformed(p.get_patch_transform()).vertices) for p in axes.patches),
        ],
    }


def _axis(axis, limits) -> dict:
    named, scale = isinstance(axis.get_major_locator(), FixedLocator), axis.get_transform()
    # Other ticks follow from the limits.
    places = axis.get_majorticklocs() if named else []
    about = {
        "label": axis.get_label_text(),
        "scale": axis.get_scale(),
        "limits": _numbers(limits),
        "names": axis.get_major_formatter().format_ticks(places) if named else [],
        "places": _numbers(places),
    }
    return about | ({"linear": _numbers([scale.linthresh, scale.linscale])} if about["scale"] == "symlog" else {})


def _artist(kind, artist, points) -> dict:
    points = np.asarray(points, dtype=float).reshape(-1, 2)
    kept = np.unique(np.linspace(0, len(points) - 1, SAMPLES).round().astype(int)) if len(points) else []
    label = str(artist.get_label())
    return {
        "kind": kind,
        "label": "" if label.startswith("_") else label,
        "points": len(points),
        "x": _numbers(points[kept, 0]),
        "y": _numbers(points[kept, 1]),
    }


def _points(collection):
    if isinstance(collection, PathCollection):
        return np.ma.filled(collection.get_offsets(), np.nan)
    corners = [path.vertices for path in collection.get_paths()]
    return np.concatenate(corners) if corners else []


def _texts(artists) -> list[str]:
    return [text.get_text() for text in artists]


def _numbers(values) -> str:
    return " ".join(f"{value:.{DIGITS}g}" for value in values)
