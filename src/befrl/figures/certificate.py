"""Cumulative certificates beside the regret that they bound, for agents with their own constants."""

from befrl.analysis import regret_columns
from befrl.figures.support import style

SCOPE = "certified"
TABLES = {
    "summary": regret_columns.SUMMARY,
    "curves": regret_columns.CURVES,
    "certificates": regret_columns.CERTIFICATES,
    "certificate_curves": regret_columns.CERTIFICATE_CURVES,
}
MOST = 4  # agents in the figure
DASHED = (0, (4, 1.5))


def shown(certificates):
    """The agents with the smallest certificates: their own variants, as tuned constants promise nothing."""
    own = certificates[certificates["variant"] == certificates["agent"]]
    return own.sort_values("certified", kind="stable").head(MOST)


def draw(tables):
    summary, certificates = tables[0]["summary"], tables[0]["certificates"]
    figure, axis = style.subplots(figsize=(style.WIDTH, 2.9))
    rows, names = shown(certificates), style.names(summary)
    curves = tables[0]["curves"][tables[0]["curves"]["variant"].isin(rows["variant"])]
    most = float(summary["episodes"].max())
    for row in rows.itertuples():
        curve = curves[curves["variant"] == row.variant]
        bound = tables[0]["certificate_curves"]
        bound = bound[bound["variant"] == row.variant]
        look = {"markersize": 2.5, "markevery": 0.2} | style.options(row.agent, row.algorithm)
        axis.plot(curve["episode"], curve["mean"], label=f"{names[row.agent]}: regret", **look)
        band = {"color": look["color"], "alpha": 0.18, "linewidth": 0}
        axis.fill_between(curve["episode"], curve["low"], curve["high"], **band)
        label = f"{names[row.agent]}: certified"
        axis.plot(bound["episode"], bound["certified"], label=label, linestyle=DASHED, **look)
    for column, label, line in (("trivial", "H k", "solid"), ("random", "random play", (0, (1, 1)))):
        total = certificates[column].iloc[0]
        axis.plot([1, most], [total / most, total], color=style.GREY, linestyle=line, linewidth=0.9, label=label)
    axis.set(xscale="log", xlabel="episode k", ylabel="cumulative regret", xlim=(1, most))
    style.with_zero(axis, "y", curves["mean"])
    axis.set_ylim(0, 1.6 * certificates["trivial"].iloc[0])
    style.legend(figure, [axis], 2, **style.TIGHT)
    return figure


def describe(tables):
    summary, rows = tables[0]["summary"], shown(tables[0]["certificates"])
    best = rows.iloc[0]
    values = {"best": best["agent"], "share": best["certified_share"], "broken": int((rows["broken"] > 0).sum())}
    return style.case(summary[summary["variant"].isin(rows["variant"])]) | values
