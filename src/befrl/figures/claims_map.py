"""Dependencies of the claims, from the lemmas to Theorem 1, coloured by verdict."""

from graphlib import TopologicalSorter

import numpy as np

from befrl.common.errors import InputError
from befrl.figures.support import style

SCOPE = "table"
SUBJECT = "ledger"
SECTION = "theorem"
TABLES = {"table": ("id", "kind", "title", "verdict", "uses")}
THEOREM = "C62"
YELLOW = "#F0E442"
STYLES = {  # colour of the box, colour of its text, mark
    "holds": (style.BLUE, "white", "✓"),
    "misprint": (style.SKY, "black", "·"),
    "constant": (YELLOW, "black", "≈"),
    "hypothesis": (style.ORANGE, "black", "≠"),
    "inherits": ("0.7", "black", "→"),
    "fails": (style.VERMILION, "white", "✗"),
    "open": (style.PURPLE, "black", "?"),
    "not tried": ("0.88", "black", ""),
}
SWEEPS = 12  # passes that move each claim towards its neighbours, to avoid crossings


def draw(tables):
    table = tables[0]["table"].set_index("id")
    uses = {id: str(row.uses).split() if isinstance(row.uses, str) else [] for id, row in table.iterrows()}
    _check(table, uses)
    verdicts = table["verdict"]
    columns = layers(uses)
    place = positions(columns, uses)
    figure, axis = style.subplots(1, 1, figsize=(2 * style.WIDTH, 0.24 * max(map(len, columns)) + 0.7))
    t = np.linspace(0, 1, 30)
    for user, used in [(id, used) for id in place for used in uses[id]]:
        (x0, y0), (x1, y1) = place[used], place[user]
        sound = verdicts[used] in ("holds", "misprint", "inherits", "not tried")
        options = {"color": "0.75" if sound else STYLES[verdicts[used]][0], "linewidth": 0.5 if sound else 0.9}
        axis.plot(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t * t * (3 - 2 * t), zorder=1, **options)
    for id, (x, y) in place.items():
        colour, ink, mark = STYLES[verdicts[id]]
        words = "Theorem 1" if id == THEOREM else f"{id} {mark}".strip()
        box = {"boxstyle": "round,pad=0.3", "facecolor": colour, "edgecolor": "none"}
        axis.text(x, y, words, ha="center", va="center", fontsize=6, color=ink, bbox=box, zorder=2, in_layout=False)
    for verdict in [verdict for verdict in STYLES if verdict in {verdicts[id] for id in place}]:
        axis.plot([], [], marker="s", linestyle="none", color=STYLES[verdict][0], label=verdict)
    axis.set_axis_off()
    axis.margins(x=0.05, y=0.04)
    figure.legend(loc="outside lower center", ncols=len(STYLES))
    return figure


def _check(table, uses):
    ids = {THEOREM, *uses, *(used for others in uses.values() for used in others)}
    lost, strange = sorted(ids - set(table.index)), sorted(set(map(str, table["verdict"])) - set(STYLES))
    if lost or strange or table.index.duplicated().any():
        what = f"no row of '{lost[0]}'" if lost else f"the verdict '{strange[0]}'" if strange else "a claim twice"
        raise InputError(f"the ledger has {what}: delete it and run again")


def layers(uses) -> list[list[str]]:
    """The claims that Theorem 1 rests on, by their longest distance from it; the theorem is last."""
    depth = {THEOREM: 0}
    for id in reversed([*TopologicalSorter(uses).static_order()]):
        for used in uses[id] if id in depth else ():
            depth[used] = max(depth.get(used, 0), depth[id] + 1)
    return [sorted(id for id in depth if depth[id] == level) for level in range(max(depth.values()), -1, -1)]


def positions(columns, uses) -> dict[str, tuple[float, float]]:
    """Coordinates of each claim: one column per layer, ordered by the mean height of the neighbours."""
    height = {id: (place + 0.5) / len(column) for column in columns for place, id in enumerate(column)}
    neighbours = {id: {other for other in height if other in uses[id] or id in uses[other]} for id in height}
    for _ in range(SWEEPS):
        for column in columns:
            wish = {id: np.mean([height[other] for other in sorted(neighbours[id])] or [height[id]]) for id in column}
            for place, id in enumerate(sorted(column, key=lambda id: (wish[id], id))):
                height[id] = (place + 0.5) / len(column)
    return {id: (float(level), height[id]) for level, column in enumerate(columns) for id in column}


def describe(tables):
    table = tables[0]["table"]
    table = table[table["kind"] != "ours"]
    tried = table[table["verdict"] != "not tried"]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in tried["verdict"].value_counts().sort_index().items())
    return {"claims": len(table), "tried": len(tried), "counts": counts}
