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
                face = {"markerfacecolor": colour if rounds == "played" else "white", "markersize": 3}
                axis.fill_between(part["k"], part["low"], part["high"], color=colour, alpha=0.12, linewidth=0)
                label = f"{rounds}, {multiple:g} $x_k$"
                line = {"color": colour, "linestyle": LINES[rounds], "linewidth": 0.9}
                axis.plot(part["k"], part["mean"], marker=marker, **face, **line, label=label)
        first = table.iloc[0]
        axis.axhline(first["printed"], color="black", linestyle="dashed", linewidth=0.9, label="printed bound")
        axis.axhline(first["corrected"], color="black", linestyle="dotted", linewidth=0.9, label="corrected, played")
        imagined = table[(table["rounds"] == "imagined") & (table["multiple"] == first["multiple"])]
        line = {"color": style.GREY, "linestyle": "dashdot", "linewidth": 1.1}
        axis.plot(imagined["k"], imagined["corrected"], **line, label="corrected, imagined")
        axis.set(xscale="log", yscale="log", xlabel="episode k", ylabel="bad rounds up to k")
        axis.set_title(f"{first['instance']}, η = {first['eta']:.2g}")
    handles, labels = axes[0].get_legend_handles_labels()
    where = {"loc": "outside lower center", "ncols": 3, "columnspacing": 1.2}
    figure.legend(handles, labels, **where)
    seeds, episodes = style.sizes(tables)
    figure.suptitle(f"BEF-RLSVI, {seeds} seeds, K = {episodes}; shaded: interval of the mean", fontsize=8)
    return figure


def describe(tables):
    tables = [table["bad_rounds"] for table in tables]
    seeds, episodes = style.sizes(tables)
    played = [table[table["rounds"] == "played"] for table in tables]
    slack = min(float((table["printed"] / table["most"].clip(lower=1)).min()) for table in played)
    return {
        "title": "Bad rounds against their bounds",
        "caption": (
            "Episodes 1 to k with a feature norm of at least 1 in the inverse of Gbar^r: played (solid), and expected "
            "of episodes imagined with the estimated transitions (dashed, hollow), at multiples of Theorem 1's noise "
            f"scale. Means over {seeds} seeds, K = {episodes}; shaded: interval of the mean. Dashed black: the printed "
            "bound C_d; dotted: C_d as corrected in C45b, the same for one-hot features with p = 1; dash-dotted: "
            "corrected bound of imagined rounds at the first multiple (C45c). η is a tenth of that above which no "
            f"round can be bad. The printed bound is at least {slack:.2g} times the number of any seed."
        ),
        "seeds": seeds,
    }
