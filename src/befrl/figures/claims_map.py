"""What fails in the proof of Theorem 1 and what it takes along, from left to right; the other claims as strips."""

from graphlib import TopologicalSorter

from befrl.claims.pages import THEOREM
from befrl.common.errors import InputError
from befrl.figures.support import style
from befrl.figures.support.captions import CAPTIONS

SCOPE = "table"
SECTION = "theorem"
LEAD = 1
SUBJECT = "ledger"
TABLES = {"table": ("id", "kind", "title", "verdict", "uses")}
YELLOW = "#F0E442"
STYLES = {  # colour of the box, colour of its text; on the page, too
    "holds": (style.BLUE, "white"),
    "misprint": (style.SKY, "black"),
    "constant": (YELLOW, "black"),
    "hypothesis": (style.ORANGE, "black"),
    "inherits": ("#B3B3B3", "black"),
    "fails": (style.VERMILION, "black"),
    "open": (style.PURPLE, "black"),
    "not tried": ("#E0E0E0", "black"),
}
BROKEN = ("hypothesis", "inherits", "fails", "open")  # not true with another constant alone
PAGE = "../docs/claims/{}.md"  # from the folder of figures
LINE = 0.115  # inches
SIDE = 0.42  # from the middle of a box to its side


def draw(tables):
    table, uses = _paper(tables)
    verdicts = table["verdict"]
    links = broken(uses, verdicts)
    columns = layers(links)
    places = positions(columns, links)
    words = {id: lines(id) for id in places}
    rows = max(sum(len(words[id]) + 1 for id in column) for column in columns)
    size = (style.WIDTH, LINE * rows + 0.95)
    figure, (axis, strips) = style.subplots(2, 1, figsize=size, height_ratios=(LINE * rows, 0.65))
    for user, used in ((user, used) for user, several in links.items() for used in several):
        (x0, y0), (x1, y1) = places[used], places[user]
        axis.plot([x0, x0 + SIDE, x1 - SIDE, x1], [y0, y0, y1, y1], color="0.6", linewidth=0.7, zorder=1)
    for id, (x, y) in places.items():
        colour, ink = STYLES[verdicts[id]]
        box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "white", "url": PAGE.format(id)}
        place = {"ha": "center", "va": "center", "fontsize": style.LEAST, "linespacing": 1.05}
        axis.text(x, y, "\n".join(words[id]), color=ink, bbox=box, url=PAGE.format(id), zorder=2, **place)
    axis.set(xlim=(-0.5, len(columns) - 0.5), ylim=(0, 1))
    needed = needs(uses)
    _strips(
        strips,
        {
            "used by Theorem 1, but true, at least up to a misprint or a constant": verdicts[
                [id for id in needed if id not in places]
            ],
            "not used by Theorem 1": verdicts[[id for id in table.index if id not in needed]],
        },
    )
    for each in (axis, strips):
        each.set_axis_off()
    for verdict in [verdict for verdict in STYLES if verdict in set(verdicts)]:
        axis.plot([], [], marker="s", linestyle="none", color=STYLES[verdict][0], label=verdict)
    style.legend(figure, [axis], 4, **style.TIGHT)
    return figure


def _paper(tables):
    """The claims of the paper, without ours, and the claims that each uses; raise if a row is lost or damaged."""
    table = tables[0]["table"].set_index("id")
    table = table[table["kind"] != "ours"]
    uses = {id: str(row.uses).split() if isinstance(row.uses, str) else [] for id, row in table.iterrows()}
    _check(table, uses)
    return table, uses


def _strips(axis, groups):
    """The number of claims of each class in each group, as a strip."""
    most = max(len(group) for group in groups.values())
    for line, (name, verdicts) in enumerate(groups.items()):
        start, counts = 0, verdicts.value_counts()
        for verdict in [verdict for verdict in STYLES if verdict in counts]:
            colour, ink = STYLES[verdict]
            axis.barh(line, counts[verdict], left=start, height=0.45, color=colour)
            place = {"ha": "center", "va": "center", "color": ink, "fontsize": style.SMALL}
            axis.text(start + counts[verdict] / 2, line, str(counts[verdict]), **place)
            start += counts[verdict]
        axis.text(0, line - 0.3, f"{name}: {len(verdicts)}", va="bottom", fontsize=style.SMALL)
    axis.set(xlim=(0, most), ylim=(len(groups) - 0.7, -0.8))


def lines(id) -> list[str]:
    """The number and the short name of a claim, in lines."""
    return f"{id}\n{CAPTIONS['claims-map']['names'].get(id, '')}".strip().split("\n")


def _check(table, uses):
    ids = {THEOREM, *uses, *(used for others in uses.values() for used in others)}
    lost, strange = sorted(ids - set(table.index)), sorted(set(map(str, table["verdict"])) - set(STYLES))
    if lost or strange or table.index.duplicated().any():
        what = f"no row of '{lost[0]}'" if lost else f"the verdict '{strange[0]}'" if strange else "a claim twice"
        raise InputError(f"the ledger has {what}: delete it and run again")


def needs(uses, start=THEOREM) -> set[str]:
    """A claim and all those that it rests on."""
    return {start}.union(*(needs(uses, used) for used in uses[start]))


def broken(uses, verdicts) -> dict[str, list[str]]:
    """The broken claims on which each broken claim on the way to the theorem rests, directly or through true ones."""

    def nearest(id):
        return {found for used in uses[id] for found in ({used} if verdicts[used] in BROKEN else nearest(used))}

    shown = [id for id in sorted(needs(uses)) if verdicts[id] in BROKEN or id == THEOREM]
    links = {id: nearest(id) for id in shown}
    # Without links that follow from others.
    return {
        id: sorted(used - set().union(*(needs(links, other) - {other} for other in used))) for id, used in links.items()
    }


def layers(links) -> list[list[str]]:
    """The claims by their longest distance from the theorem, which is last."""
    depth = {THEOREM: 0}
    for id in reversed([*TopologicalSorter(links).static_order()]):
        for used in links[id] if id in depth else ():
            depth[used] = max(depth.get(used, 0), depth[id] + 1)
    return [sorted(id for id in depth if depth[id] == level) for level in range(max(depth.values()), -1, -1)]


def positions(columns, links) -> dict[str, tuple[float, float]]:
    """Coordinates of each claim: one column per layer, from the theorem on ordered by the mean height of its users."""
    height = {THEOREM: 0.5}
    for column in reversed(columns[:-1]):
        users = {id: [height[user] for user in height if id in links[user]] for id in column}
        ordered = sorted(column, key=lambda id: (-sum(users[id]) / len(users[id]), id))
        height |= {id: 1 - (place + 0.5) / len(column) for place, id in enumerate(ordered)}
    return {id: (float(level), height[id]) for level, column in enumerate(columns) for id in column}


def describe(tables):
    table, uses = _paper(tables)
    tried = table[table["verdict"] != "not tried"]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in tried["verdict"].value_counts().sort_index().items())
    values = {"claims": len(table), "tried": len(tried), "counts": counts, "needed": len(needs(uses)) - 1}
    return values | {"broken": len(broken(uses, table["verdict"])) - 1}
