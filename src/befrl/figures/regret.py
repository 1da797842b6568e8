"""Cumulative regret against episodes: every agent at its theory's constants and at its tuned ones."""

from befrl.figures import style

SCOPE = "case"


def shown(tables):
    """Rows to draw: not the grid, and not the oracle, whose zero has no place on a logarithmic axis."""
    summary = tables[0]["summary"]
    return summary[(summary["role"] != "grid") & (summary["mean"] > 1e-6)].sort_values("mean", ascending=False)


def draw(tables):
    summary, curves = tables[0]["summary"], tables[0]["curves"]
    figure, axes = style.subplots(figsize=(style.WIDTH, 3.5))
    drawn = shown(tables)
    bottom = drawn["mean"].min() / 100 if len(drawn) else 1.0
    for row in drawn.itertuples():
        curve = curves[curves["variant"] == row.variant]
        curve = curve[curve["mean"] > 0]
        line, colour = style.LINES[row.role], style.colour(row.agent)
        # Dashes go on top: where the tuned constants are the theory's both curves stay visible.
        layer = 3 if row.role == "theory" else 2
        marks = {"marker": style.marker(row.agent), "markevery": 0.2, "markersize": 3}
        axes.plot(
            curve["episode"], curve["mean"], color=colour, linestyle=line, label=style.name(row), zorder=layer, **marks
        )
        # A band may reach zero where few seeds have erred yet; the axis cannot.
        low = curve["low"].clip(lower=bottom)
        axes.fill_between(curve["episode"], low, curve["high"], color=colour, alpha=0.18, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="episode k", ylabel="cumulative regret")
    axes.set_xlim(1, summary["episodes"].max())
    axes.set_ylim(bottom, max(summary["high"].max() * 1.6, 10 * bottom))
    axes.set_title(f"{summary['instance'].iloc[0]}, {style.track(summary['track'].iloc[0])}")
    figure.legend(loc="outside lower center", ncols=2, handlelength=2.2, columnspacing=1.2)
    return figure


def describe(tables):
    summary = tables[0]["summary"]
    first = summary.iloc[0]
    dropped = summary[(summary["role"] != "grid") & (summary["mean"] <= 1e-6)]["variant"]
    zero = f" Zero regret, hence not drawn: {', '.join(dropped)}." if len(dropped) else ""
    return {
        "title": f"Cumulative regret on {first['instance']}, {style.track(first['track'])}",
        "caption": (
            f"Exact pseudo-regret summed over episodes, mean over {first['seeds']} seeds; shaded: bootstrap interval "
            f"of the mean (whole curves resampled). Dashed: constants as in the theory. Solid: best of the grid, "
            f"chosen on other seeds. Dotted: no constants to choose. Track {first['track']}: "
            f"{style.track(first['track'])}.{zero}"
        ),
    }
