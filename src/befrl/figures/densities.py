"""Laws of the next state in each family, true and estimated, at three (s,a)."""

from befrl.figures.support import style

SCOPE = "component"
SUBJECT = "densities"
TABLES = {"points": ("instance", "kind", "transitions", "curve", "state", "action", "next", "true", "estimated")}
COLOURS = (style.BLUE, style.VERMILION, style.GREEN)


def draw(tables):
    tables = [table["points"] for table in tables]
    columns = min(2, len(tables))
    lines = -(-len(tables) // columns)
    figure, axes = style.subplots(lines, columns, figsize=(style.WIDTH, 1.25 * lines + 0.3), squeeze=False)
    for axis, table in zip(axes.ravel(), tables, strict=False):
        finite = table["kind"].iloc[0] == "probability"
        for number, part in table.groupby("curve"):
            colour = COLOURS[number]
            label = f"s = {part['state'].iloc[0]:.2g}, a = {part['action'].iloc[0]}"
            if finite:
                at = part["next"] + 0.22 * (number - 1)
                axis.bar(at, part["true"], width=0.2, color=colour, alpha=0.35, label=label)
                axis.plot(at, part["estimated"], color=colour, marker="o", markersize=2.5, linestyle="none")
            else:
                axis.plot(part["next"], part["true"], color=colour, alpha=0.45, linewidth=2.0, label=label)
                axis.plot(part["next"], part["estimated"], color=colour, linestyle=(0, (2, 1)), linewidth=0.9)
        # Room for the legend above the curves.
        axis.set(title=table["instance"].iloc[0], ylim=(0, 1.75 * table[["true", "estimated"]].to_numpy().max()))
        axis.legend(loc="upper right", handlelength=1.0, fontsize=style.LEAST, borderpad=0.1, labelspacing=0.2)
        if finite:
            axis.set_xticks(sorted(set(table["next"].astype(int))))
    for axis in axes[:, 0]:
        axis.set_ylabel("density or probability")
    for axis in axes.ravel()[len(tables) - columns : len(tables)]:  # the last of each column
        axis.set_xlabel("next state")
    for spare in axes.ravel()[len(tables) :]:
        spare.set_axis_off()
    return figure


def describe(tables):
    return {"transitions": style.span([table["points"] for table in tables], "transitions"), "seeds": 1}
