"""Growth of regret with K, d and H: the slopes of the envelope over gaps, one row for each agent and setting."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
LEAD = 3
SUBJECT = "rates"
TABLES = {
    "slopes": ("instance", "agent", "setting", "varied", "episodes", "seeds", "slope", "low", "high", "edge", "claimed")
}
GREEDY = "x=0"
LINES = {"K": (0.5, 1.0), "d": (0.5, 1.0, 1.5), "H": (0.5, 1.0, 1.5)}


def panels(tables) -> list:
    """The slopes of each panel: those in K of each instance, then those in d and in H."""
    slopes = [table["slopes"].fillna({"setting": ""}) for table in tables]
    found = [rows[rows["varied"] == varied] for varied in LINES for rows in slopes]
    return [rows for rows in found if len(rows)]


def draw(tables):
    shown = panels(tables)
    heights = [len(rows) + 1.5 for rows in shown]
    size = (style.WIDTH, 0.5 + 0.3 * len(shown) + 0.1 * sum(heights))
    figure, axes = style.subplots(len(shown), 1, figsize=size, squeeze=False, sharex=True, height_ratios=heights)
    for axis, rows in zip(axes.ravel(), shown, strict=True):
        for line, row in enumerate(rows.itertuples()):
            colour = style.colour("greedy" if row.setting == GREEDY else row.agent)
            axis.plot([row.low, row.high], [line, line], color=colour, linewidth=1)
            face = colour if row.edge == "none" else "white"
            axis.plot(row.slope, line, color=colour, marker="o", markersize=3.5, markerfacecolor=face, linestyle="none")
        first = rows.iloc[0]
        for power in LINES[first["varied"]]:
            axis.axvline(power, color="black", linewidth=0.7, linestyle=style.LINES["baseline"], zorder=1)
        labels = [f"{row.agent}, {_words(row.setting)}" for row in rows.itertuples()]
        axis.set_yticks(range(len(rows)), labels)
        axis.set(ylim=(len(rows) - 0.5, -0.7))
        size = f"K = {first['episodes']}, {first['seeds']} seeds"
        axis.set_title(f"{first['instance']}, growth with {first['varied']}; {size}", loc="left")
        axis.tick_params(axis="y", length=0)
    axes.ravel()[-1].set_xlabel("slope of log regret, with its interval")
    return figure


def _words(setting):
    name, _, value = setting.partition("=")
    return f"{name} = {style.power(float(value))}{' (greedy)' * (setting == GREEDY)}" if name else "theory"


def describe(tables):
    shown = panels(tables)
    in_episodes = [rows for rows in shown if rows["varied"].iloc[0] == "K"]
    others = [rows for rows in shown if rows["varied"].iloc[0] != "K"]
    short = style.span(others, "episodes")
    theory = [rows[(rows["agent"] == "bef-rlsvi") & (rows["setting"] == "")]["slope"] for rows in in_episodes]
    values = {"range": style.span(shown, "seeds"), "short": f", and {short} against d and H" if short else ""}
    values |= {"episodes": style.span(in_episodes, "episodes"), "least": min(float(each.iloc[0]) for each in theory)}
    return style.sizes(shown) | values
