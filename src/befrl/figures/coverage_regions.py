"""Distance of BEF-RLSVI's estimates from the truth, relative to the radii of the paper's confidence regions."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "eta", "episodes", "seeds", "parameter", "radius", "k", "covered", "promised")
TABLES = {"regions": (*COLUMNS, "median", "upper")}
COLOURS = {"transitions": style.BLUE, "rewards": style.VERMILION}
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
LINES = {"printed": (0, (4, 1.5)), "corrected": "solid"}


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
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, columnspacing=1.2)
    seeds, episodes = style.sizes(tables)
    words = f"BEF-RLSVI at Theorem 1's $x_k$, {seeds} seeds, K = {episodes}"
    figure.suptitle(f"{words}\nlines: medians; shaded: up to the 0.95 quantile", fontsize=8)
    return figure


def _panel(axis, runs):
    """One line for each parameter and radius, and the shares that are covered in all episodes."""
    shares = []
    for (parameter, radius), part in runs.groupby(["parameter", "radius"], sort=False):
        colour, label = COLOURS[parameter], f"{parameter}, {radius}"
        axis.fill_between(part["k"], part["median"], part["upper"], color=colour, alpha=0.12, linewidth=0)
        axis.plot(part["k"], part["median"], color=colour, linestyle=LINES[radius], linewidth=1, label=label)
        shares.append(f"{100 * part['covered'].iloc[-1]:.0f}")
    axis.axhline(1.0, color="black", linestyle="dotted", linewidth=0.9)
    first = runs.iloc[0]
    axis.set(xscale="log", yscale="log", title=f"{first['instance']}, η = {first['eta']:.2g}")
    axis.annotate(f"covered: {', '.join(shares)} %", (0.03, 0.04), xycoords="axes fraction", fontsize=6.5, bbox=PAPER)


def describe(tables):
    tables = [table["regions"] for table in tables]
    seeds, episodes = style.sizes(tables)
    promised = float(tables[0]["promised"].iloc[0])
    least = {
        radius: min(float(table[table["radius"] == radius]["covered"].min()) for table in tables) for radius in LINES
    }
    return {
        "title": "Confidence regions: distance of the estimates over the radius",
        "caption": (
            "Distance of the estimates from the true parameters, relative to the radius of the paper's region (dashed) "
            "and to the smallest one that the ledger confirms (solid): below the dotted line the region contains the "
            f"truth. BEF-RLSVI at Theorem 1's noise scale with a small and a large penalty η, {seeds} seeds, K = "
            f"{episodes}; lines: medians, shaded: up to the 0.95 quantile. In each panel: percentage of the seeds that "
            f"are covered in all episodes, in the order of the legend; {100 * promised:.0f} % are promised. The least "
            f"are {100 * least['printed']:.0f} % with the printed radius, which is too small for large η, and "
            f"{100 * least['corrected']:.0f} % with the corrected one, whose constants hold on a compact set only, "
            "which the estimates leave if η is small."
        ),
        "seeds": seeds,
    }
