"""Distance of BEF-RLSVI's estimates from the truth, relative to the radii of the paper's confidence regions."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "eta", "episodes", "seeds", "parameter", "radius", "k", "covered", "promised")
TABLES = {"regions": (*COLUMNS, "median", "upper")}
COLOURS = {"transitions": style.BLUE, "rewards": style.VERMILION}
LINES = {"printed": (0, (4, 1.5)), "corrected": "solid"}
NOTE = {"xycoords": "axes fraction", "fontsize": 6.5, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.5}}


def draw(tables):
    tables = [table["regions"] for table in tables]
    size = (2 * style.WIDTH / 1.25, 1.65 * len(tables) + 0.7)
    figure, axes = style.subplots(len(tables), 2, figsize=size, squeeze=False, sharey=True)
    for line, table in zip(axes, tables, strict=True):
        for axis, eta in zip(line, (table["eta"].min(), table["eta"].max()), strict=True):
            _panel(axis, table[table["eta"] == eta])
        line[0].set_ylabel("distance / radius")
    for axis in axes[-1]:
        axis.set_xlabel("episode k")
    style.legend(figure, axes[0], 4, columnspacing=1.2)
    return figure


def _panel(axis, runs):
    shares = []
    for (parameter, radius), part in runs.groupby(["parameter", "radius"], sort=False):
        colour, label = COLOURS[parameter], f"{parameter}, {radius}"
        axis.fill_between(part["k"], part["median"], part["upper"], color=colour, alpha=0.12, linewidth=0)
        axis.plot(part["k"], part["median"], color=colour, linestyle=LINES[radius], linewidth=1, label=label)
        shares.append(f"{100 * part['covered'].iloc[-1]:.0f}")
    axis.axhline(1.0, color="black", linestyle="dotted", linewidth=0.9)
    first = runs.iloc[0]
    axis.set(xscale="log", yscale="log", title=f"{first['instance']}, η = {first['eta']:.2g}")
    axis.annotate(f"covered: {', '.join(shares)} %", (0.03, 0.04), **NOTE)


def describe(tables):
    tables = [table["regions"] for table in tables]
    least = {
        radius: 100 * min(table[table["radius"] == radius]["covered"].min() for table in tables) for radius in LINES
    }
    return style.sizes(tables) | least | {"promised": 100 * tables[0]["promised"].iloc[0]}
