"""Bad rounds of BEF-RLSVI with a small penalty, played and imagined, beside the printed and corrected bounds."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "proof"
COLUMNS = ("instance", "eta", "multiple", "episodes", "seeds", "rounds", "k", "mean", "low", "high")
TABLES = {"bad_rounds": (*COLUMNS, "most", "printed", "corrected")}
LINES = {"played": "solid", "imagined": (0, (4, 1.5))}
MARKERS = ("o", "^", "s", "D", "v")


def draw(tables):
    tables = [table["bad_rounds"] for table in tables]
    figure, axes = style.panels(len(tables), height=2.2)
    colour = style.colour("bef-rlsvi")
    for axis, table in zip(axes, tables, strict=False):
        for marker, (multiple, runs) in zip(MARKERS, table.groupby("multiple", sort=False), strict=False):
            for rounds, part in runs.groupby("rounds", sort=False):
                options = {
                    "color": colour,
                    "linestyle": LINES[rounds],
                    "linewidth": 0.9,
                    "marker": marker,
                    "markersize": 3,
                }
                options["markerfacecolor"] = colour if rounds == "played" else "white"
                axis.fill_between(part["k"], part["low"], part["high"], color=colour, alpha=0.12, linewidth=0)
                axis.plot(part["k"], part["mean"], **options, label=f"{rounds}, {multiple:g} $x_k$")
        first = table.iloc[0]
        axis.axhline(first["printed"], color="black", linestyle="dashed", linewidth=0.9, label="printed bound")
        axis.axhline(first["corrected"], color="black", linestyle="dotted", linewidth=0.9, label="corrected, played")
        imagined = table[(table["rounds"] == "imagined") & (table["multiple"] == first["multiple"])]
        line = {"color": style.GREY, "linestyle": "dashdot", "linewidth": 1.1}
        axis.plot(imagined["k"], imagined["corrected"], **line, label="corrected, imagined")
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="bad rounds up to k")
        axis.set_title(f"{first['instance']}, η = {first['eta']:.2g}")
    style.legend(figure, axes, 3, columnspacing=1.2)
    return figure


def describe(tables):
    tables = [table["bad_rounds"] for table in tables]
    played = [table[table["rounds"] == "played"] for table in tables]
    slack = min(float((table["printed"] / table["most"].clip(lower=1)).min()) for table in played)
    return style.sizes(tables) | {"slack": slack}
