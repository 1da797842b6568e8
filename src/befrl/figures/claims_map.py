"""What rests on what: from the lemmas to Theorem 1, coloured by verdict."""

import numpy as np

from befrl.common.errors import InputError
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "ledger"
SECTION = "theorem"
TABLES = {"table": ("id", "title", "verdict", "uses")}
THEOREM = "C62"
LOOKS = {  # colour of the box, colour of its text, mark
    "holds": (style.BLUE, "white", "✓"),
    "corrected": (style.ORANGE, "black", "≈"),
    "fails": (style.VERMILION, "white", "✗"),
    "open": (style.PURPLE, "black", "?"),
    "not tried": ("0.88", "black", ""),
}
SWEEPS = 12  # passes that move each claim towards its neighbours, to avoid crossings


def draw(tables):
    table = tables[0]["table"].set_index("id")
    uses = {id: str(row.uses).split() if isinstance(row.uses, str) else [] for id, row in table.iterrows()}
    _check(table, uses)
    columns = layers(uses)
    place = positions(columns, uses)
    figure, axis = style.subplots(1, 1, figsize=(2 * style.WIDTH, 0.24 * max(map(len, columns)) + 0.7))
    for id in place:
        for used in uses[id]:
            (x0, y0), (x1, y1) = place[used], place[id]
            t = np.linspace(0, 1, 30)
            sound = table.loc[used, "verdict"] in ("holds", "not tried")
            colour = "0.75" if sound else LOOKS[table.loc[used, "verdict"]][0]
            height = y0 + (y1 - y0) * t * t * (3 - 2 * t)
            axis.plot(x0 + (x1 - x0) * t, height, color=colour, linewidth=0.5 if sound else 0.9, zorder=1)
    for id, (x, y) in place.items():
        colour, ink, mark = LOOKS[table.loc[id, "verdict"]]
        words = "Theorem 1" if id == THEOREM else f"{id} {mark}".strip()
        box = {"boxstyle": "round,pad=0.3", "facecolor": colour, "edgecolor": "none"}
        axis.text(x, y, words, ha="center", va="center", fontsize=6, color=ink, bbox=box, zorder=2, in_layout=False)
    for verdict in [verdict for verdict in LOOKS if (table.loc[list(place), "verdict"] == verdict).any()]:
        axis.plot([], [], marker="s", linestyle="none", color=LOOKS[verdict][0], label=verdict)
    axis.set_axis_off()
    axis.margins(x=0.05, y=0.04)
    figure.legend(loc="outside lower center", ncols=len(LOOKS))
    return figure


def _check(table, uses):
    """Raise if the ledger lacks a claim that another uses, has one twice, or a verdict that is none."""
    ids = {THEOREM, *uses, *(used for others in uses.values() for used in others)}
    lost, strange = sorted(ids - set(table.index)), sorted(set(map(str, table["verdict"])) - set(LOOKS))
    if lost or strange or table.index.duplicated().any():
        what = f"no row of '{lost[0]}'" if lost else f"the verdict '{strange[0]}'" if strange else "a claim twice"
        raise InputError(f"the ledger has {what}: delete it and run again")


def layers(uses) -> list[list[str]]:
    """The claims that Theorem 1 rests on, by their longest distance from it; the theorem is last."""
    depth, waiting = {THEOREM: 0}, [THEOREM]
    while waiting:
        id = waiting.pop()
        for used in uses[id]:
            if depth.get(used, -1) < depth[id] + 1:
                depth[used] = depth[id] + 1
                waiting.append(used)
    deepest = max(depth.values())
    return [sorted(id for id in depth if depth[id] == level) for level in range(deepest, -1, -1)]


def positions(columns, uses) -> dict[str, tuple[float, float]]:
    """Coordinates of each claim: one column per layer, ordered by the mean height of the neighbours."""
    height = {id: _spread(place, len(column)) for column in columns for place, id in enumerate(column)}
    neighbours = {id: set(uses[id]) & set(height) for id in height}
    for id in height:
        for used in uses[id]:
            neighbours[used] = neighbours[used] | {id}
    for _ in range(SWEEPS):
        for column in columns:
            wish = {id: np.mean([height[other] for other in sorted(neighbours[id])] or [height[id]]) for id in column}
            for place, id in enumerate(sorted(column, key=lambda id: (wish[id], id))):
                height[id] = _spread(place, len(column))
    return {id: (float(level), height[id]) for level, column in enumerate(columns) for id in column}


def _spread(place, size):
    return (place + 0.5) / size


def describe(tables):
    table = tables[0]["table"]
    tried = table[table["verdict"] != "not tried"]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in tried["verdict"].value_counts().sort_index().items())
    return {
        "title": "What Theorem 1 rests on",
        "caption": (
            "Each box is a claim of the ledger; a line leads from a claim to those whose printed proof uses it; the "
            "theorem is on the right. Coloured lines come from claims that do not hold as printed. Of "
            f"{len(table)} claims {len(tried)} were tried: {counts}. The map shows only those that the theorem uses."
        ),
        "seeds": None,
    }
