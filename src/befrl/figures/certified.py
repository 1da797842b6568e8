"""BEF-SEED beside its rivals on every instance: their regret over that of BEF-SEED with theoretical constants."""

from befrl.common.defaults import TRACKS
from befrl.figures.support import style

SCOPE = "component"
SECTION = "repair"
LEAD = 2
SUBJECT = "certified"
TABLES = {
    "regrets": (
        *("instance", "track", "agent", "role", "episodes", "seeds"),
        *("ratio", "difference_low", "difference_high"),
    ),
    "certificates": ("multiple", "seeds", "episodes", "broken_episodes"),
}
RANGE = (0.02, 50.0)  # ratios beyond are drawn at its ends
DOTS = {"linestyle": "none", "markersize": 3.5, "markeredgewidth": 0.8}


def reduced(tables) -> float:
    """The smaller multiple of the radii of BEF-SEED."""
    return min(table["certificates"]["multiple"].min() for table in tables)


def draw(tables):
    roles, tables = {"set": f"radii x {reduced(tables):g}"}, [table["regrets"] for table in tables]
    size = (style.WIDTH, 1.4 + 0.26 * max(3, len(tables)))
    figure, axes = style.subplots(1, len(TRACKS), figsize=size, sharey=True)
    for axis, track in zip(axes, TRACKS, strict=True):
        for line, table in enumerate(tables):
            _ratios(axis, line, table[table["track"] == track].iloc[1:], roles)
        axis.axvline(1.0, color=style.GREY, linewidth=0.8, zorder=0)
        axis.set(xscale="log", xlim=(RANGE[0] / 1.4, RANGE[1] * 1.4), title=TRACKS[track])
    axes[0].set_yticks(range(len(tables)), [table["instance"].iloc[0] for table in tables])
    axes[0].set_ylim(len(tables) - 0.5, -0.5)
    figure.supxlabel("regret over that of bef-seed", fontsize=7.5)
    labels = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    about = "{range} seeds, K = {episodes}; pale: not significantly different"
    where = {"loc": "outside upper center", "ncols": 2, "title_fontsize": 7}
    about = about.format(range=style.span(tables, "seeds"), **style.sizes(tables))
    figure.legend(labels.values(), labels, title=about, handletextpad=0.1, columnspacing=1.0, **where)
    return figure


def _ratios(axis, line, rows, roles):
    """The rows of an instance and track, without that of BEF-SEED itself; those of an agent on the same height."""
    agents = list(dict.fromkeys(rows["agent"]))
    for row in rows.itertuples():
        at = line + 0.6 * ((agents.index(row.agent) + 0.5) / len(agents) - 0.5)
        colour, marker = style.of(row.agent)
        face = "white" if row.role == "theory" else colour
        alike = row.difference_low <= 0 <= row.difference_high
        dot = {"color": colour, "marker": marker or "o", "markerfacecolor": face, "alpha": 0.35 if alike else 1.0}
        label = f"{row.agent}, {roles.get(row.role, row.role)}"
        axis.plot(min(max(row.ratio, RANGE[0]), RANGE[1]), at, label=label, **dot, **DOTS)
        axis.plot([], [], label=label, **dot | {"alpha": 1.0}, **DOTS)  # of the legend: never pale


def describe(tables):
    regrets, checked = [table["regrets"] for table in tables], [table["certificates"] for table in tables]
    values = style.sizes(regrets) | {"range": style.span(regrets, "seeds"), "low": RANGE[0], "high": RANGE[1]}
    for role in ("theory", "tuned"):
        rows = [row for table in regrets for row in table.itertuples() if row.role == role and row.agent != "bef-seed"]
        values[f"{role}_pairs"] = len(rows)
        values[f"{role}_better"] = sum(row.difference_low > 0 for row in rows)
        values[f"{role}_worse"] = sum(row.difference_high < 0 for row in rows)
    values["multiple"] = reduced(tables)
    for name, multiple in (("theory", 1.0), ("reduced", values["multiple"])):
        rows = [table[table["multiple"] == multiple] for table in checked]
        values[f"{name}_episodes"] = sum(int((part["seeds"] * part["episodes"]).sum()) for part in rows)
        values[f"{name}_broken"] = sum(int(part["broken_episodes"].sum()) for part in rows)
    return values
