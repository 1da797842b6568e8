"""Coverage of the paper's confidence regions by BEF-RLSVI's estimates, beside what they promise."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "eta", "episodes", "seeds", "parameter", "radius", "k", "covered", "low", "high", "promised")
TABLES = {"regions": COLUMNS}
STYLES = {"printed": (style.VERMILION, "D"), "corrected": (style.BLUE, "o")}
APART = 0.18  # of the two radii on a line


def last(tables) -> list:
    """The shares of seeds that are covered in all episodes, of each instance."""
    return [rows[rows["k"] == rows["episodes"]] for rows in (table["regions"] for table in tables)]


def draw(tables):
    shown = last(tables)
    lines = [each for rows in shown for each in rows.groupby(["instance", "eta", "parameter"], sort=False)]
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.95 + 0.12 * len(lines)))
    for line, (_, rows) in enumerate(lines):
        for row in rows.itertuples():
            colour, marker = STYLES[row.radius]
            at = line + (APART if row.radius == "corrected" else -APART)
            axis.plot([row.low, row.high], [at, at], color=colour, linewidth=0.8)
            axis.plot(row.covered, at, color=colour, marker=marker, markersize=2.8, linestyle="none", clip_on=False)
    axis.axvline(shown[0]["promised"].iloc[0], color="black", linestyle=style.LINES["baseline"], linewidth=0.9)
    names = [f"{instance}, η = {eta:.2g}, {parameter}" for (instance, eta, parameter), _ in lines]
    axis.set_yticks(range(len(lines)), names, fontsize=style.LEAST)
    axis.set(xlim=(-0.01, 1.01), xlabel="seeds covered in all episodes", ylim=(len(lines) - 0.5, -0.5))
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="y", linewidth=0.3)
    for radius, (colour, marker) in STYLES.items():
        axis.plot([], [], color=colour, marker=marker, markersize=2.8, label=f"{radius} radius")
    style.legend(figure, [axis], 2)
    return figure


def describe(tables):
    shown = last(tables)
    least = {radius: 100 * min(rows[rows["radius"] == radius]["covered"].min() for rows in shown) for radius in STYLES}
    values = {"promised": 100 * shown[0]["promised"].iloc[0], "range": style.span(shown, "seeds")}
    return style.sizes(shown) | least | values
