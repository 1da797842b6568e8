"""Share of optimistic runs of BEF-RLSVI by episode, at multiples of Theorem 1's noise scale."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "multiple", "episodes", "seeds", "k", "share", "low", "high", "promised")
TABLES = {"optimism": COLUMNS}
MARKERS = ("o", "^", "s", "D", "v")
# All curves are of one agent: they have its colour, paler for less noise.
SHADES = (1.0, 0.85, 0.7, 0.55, 0.4)


def draw(tables):
    tables = [table["optimism"] for table in tables]
    figure, axes = style.panels(len(tables))
    colour = style.colour("bef-rlsvi")
    for axis, table in zip(axes, tables, strict=False):
        for marker, shade, (multiple, part) in zip(
            MARKERS, SHADES, table.groupby("multiple", sort=False), strict=False
        ):
            axis.fill_between(part["k"], part["low"], part["high"], color=colour, alpha=0.1 * shade, linewidth=0)
            look = {"color": colour, "alpha": shade, "marker": marker, "markersize": 3, "linewidth": 0.9}
            axis.plot(part["k"], part["share"], **look, label=f"{multiple:g} $x_k$")
        axis.axhline(table["promised"].iloc[0], color="black", linestyle="dotted", linewidth=0.9, label="Φ(-1)")
        axis.set(xscale="log", xlabel="episode k", ylabel="optimistic runs", ylim=(-0.02, 1.02))
        axis.set_title(table["instance"].iloc[0])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, columnspacing=1.0, handletextpad=0.4)
    seeds, episodes = style.sizes(tables)
    figure.suptitle(f"BEF-RLSVI, {seeds} seeds, K = {episodes}; shaded: interval of the mean", fontsize=8)
    return figure


def describe(tables):
    tables = [table["optimism"] for table in tables]
    seeds, episodes = style.sizes(tables)
    promised = float(tables[0]["promised"].iloc[0])
    multiples = float(tables[0]["multiple"].max()), float(tables[0]["multiple"].min())
    most, fewest = (
        min(float(table[table["multiple"] == multiple]["share"].min()) for table in tables) for multiple in multiples
    )
    return {
        "title": "Optimism by episode, at multiples of Theorem 1's noise",
        "caption": (
            "Share of runs in which the perturbed value of the first state is at least the optimal one, averaged over "
            f"the episodes since the mark before. {seeds} seeds, K = {episodes}; shaded: interval of the mean. The "
            "legend has the multiple of Theorem 1's x; a paler curve has less noise. Dotted: "
            f"Φ(-1) = {promised:.4f}, which the proof needs in every episode. The least share of all "
            f"panels is {most:.2g} at {multiples[0]:g} x and {fewest:.2g} at {multiples[1]:g} x."
        ),
        "seeds": seeds,
    }
