"""A published experiment run again: our curves, and the authors' numbers where they give some."""

from befrl import published
from befrl.figures import style

SCOPE = "published"
COLUMNS = tuple(published.COLUMNS)


def draw(tables):
    table = tables[0]
    curves, instances = table[table["quantity"] == "curve"], list(dict.fromkeys(table["instance"]))
    figure, axes = style.subplots(
        1, len(instances), figsize=(style.WIDTH * min(2, 0.5 + 0.5 * len(instances)), 2.6), squeeze=False
    )
    for axis, instance in zip(axes[0], instances, strict=True):
        shown = curves[curves["instance"] == instance]
        for (algorithm, variant, role), curve in shown.groupby(["algorithm", "variant", "role"], sort=False):
            look = {"color": style.colour(algorithm), "linestyle": style.LINES[role]}
            marks = {"marker": style.marker(algorithm), "markevery": 0.2, "markersize": 3}
            axis.plot(curve["episode"], curve["ours"], label=_name(variant, algorithm, role), **look, **marks)
            axis.fill_between(
                curve["episode"], curve["low"], curve["high"], color=look["color"], alpha=0.18, linewidth=0
            )
        for row in _authors(table, instance).itertuples():
            colour = style.colour(row.algorithm) if isinstance(row.algorithm, str) else "black"
            axis.plot(
                row.episode, row.authors, marker="*", markersize=9, color=colour, markeredgecolor="black",
                markeredgewidth=0.5, linestyle="none", clip_on=False, zorder=4,
            )  # fmt: skip
        best = table[(table["instance"] == instance) & (table["quantity"] == "optimal value")]
        if len(best) and curves["unit"].iloc[0] == published.CURVES["return"]:
            axis.axhline(best["ours"].iloc[0], color="black", linewidth=0.8, linestyle=(0, (1, 1)), label="optimum")
        axis.set(title=instance, xlabel="episode k", xlim=(1, shown["episode"].max()))
        if shown["episode"].max() > 1000:
            axis.set_xscale("log")
    axes[0, 0].set_ylabel(curves["unit"].iloc[0])
    handles = {
        label: handle for axis in axes[0] for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2 * min(2, len(instances)))
    return figure


def _name(variant, algorithm, role):
    """The algorithm with what was set; constants of a grid differ between instances and stand in the table."""
    return f"{algorithm}, {role}" if role in ("theory", "tuned") else variant


def _authors(table, instance):
    """The authors' numbers that belong to a point of the curves."""
    named = table["authors"].notna() & table["episode"].notna()
    return table[named & (table["instance"] == instance) & (table["quantity"] != "curve")]


def describe(tables):
    table = tables[0]
    source = published.catalogue.module(table["source"].iloc[0])
    track = style.track(source.TRACK)
    seeds = int(table["seeds"].max())
    stars = (
        "; stars: the authors' numbers" if any(len(_authors(table, name)) for name in set(table["instance"])) else ""
    )
    return {
        "title": f"Published experiment: {source.__doc__.splitlines()[0].split(':')[0]}",
        "caption": (
            f"Our runs, mean over {seeds} seeds, {track}; shaded: bootstrap interval of the mean{stars}. Dashed: constants "
            f"as in the theory; solid: best of the grid, chosen on other seeds; dotted and dash-dotted: no constants, or "
            f"as the authors set them. {source.CITATION}."
        ),
        "seeds": seeds,
    }
