"""Cumulative certificates beside the regret that they bound, for agents with their own constants."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "certified"
SECTION = "repair"
LEAD = 1
TABLES = {
    "summary": regret_columns.SUMMARY,
    "curves": regret_columns.CURVES,
    "certificates": regret_columns.CERTIFICATES,
    "certificate_curves": regret_columns.CERTIFICATE_CURVES,
}
MOST = 3  # agents in the figure
DASHED = (0, (4, 1.5))


def shown(certificates):
    """The agents with the smallest certificates among those that promise something with their own constants."""
    own = certificates[(certificates["variant"] == certificates["agent"]) & (certificates["delta"] < 1)]
    return own.sort_values("certified", kind="stable").head(MOST)


def draw(tables):
    summary, certificates = tables[0]["summary"], tables[0]["certificates"]
    figure, axis = style.subplots(figsize=(style.WIDTH, 2.6))
    rows, names, ends = shown(certificates), style.names(summary), {}
    curves = tables[0]["curves"][tables[0]["curves"]["variant"].isin(rows["variant"])]
    most = float(summary["episodes"].max())
    for row in rows.itertuples():
        regret, bound = (table[table["variant"] == row.variant] for table in (curves, tables[0]["certificate_curves"]))
        options = {"markersize": 2.5, "markevery": 0.2} | style.options(row.agent, row.algorithm)
        lines = (("regret", regret, "mean", "solid"), ("certified", bound, "certified", DASHED))
        for kind, curve, column, line in lines:
            name = f"{names[row.agent]}: {kind}"
            axis.plot(curve["episode"], curve[column], label=name, linestyle=line, **options)
            ends[name] = (curve[column].iloc[-1], options["color"])
        band = {"color": options["color"], "alpha": 0.18, "linewidth": 0}
        axis.fill_between(regret["episode"], regret["low"], regret["high"], **band)
    for column, name, line in (("trivial", "H k", "solid"), ("random", "random play", (0, (1, 1)))):
        total = certificates[column].iloc[0]
        axis.plot([1, most], [total / most, total], color=style.GREY, linestyle=line, linewidth=0.9, label=name)
        ends[name] = (total, style.GREY)
    axis.set(xscale="log", xlabel="episode k", ylabel="cumulative", xlim=(1, most))
    style.with_zero(axis, "y", curves["mean"])
    axis.set_ylim(0, 1.6 * certificates["trivial"].iloc[0])
    style.label_ends(axis, ends)
    return figure


def describe(tables):
    summary, rows = tables[0]["summary"], shown(tables[0]["certificates"])
    if rows.empty:
        return style.case(summary) | {"empty": True}
    best = rows.iloc[0]
    values = {"best": best["agent"], "share": best["certified_share"], "broken": int((rows["broken"] > 0).sum())}
    return style.case(summary[summary["variant"].isin(rows["variant"])]) | values
