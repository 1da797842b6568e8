"""Our curves of a published experiment, with the authors' numbers where they give any."""

from befrl.analysis import published
from befrl.figures.support import style

SCOPE = "published"
TABLES = {"values": published.COLUMNS, "curves": published.COLUMNS}


def drawn(curves):
    """The curves to draw; of a tuned agent only the tuned one."""
    tuned = set(curves["algorithm"][curves["role"] == "tuned"])
    return curves[(curves["role"] == "tuned") | ~curves["algorithm"].isin(tuned)]


def draw(tables):
    values, curves = tables[0]["values"], drawn(tables[0]["curves"])
    instances = list(dict.fromkeys(curves["instance"]))
    quantity = curves["quantity"].iloc[0]
    returns = quantity == published.CURVES["return"]
    figure, axes = style.panels(len(instances), height=1.9)
    for axis, instance in zip(axes, instances, strict=False):
        shown = curves[curves["instance"] == instance]
        for (variant, algorithm, role), curve in shown.groupby(["variant", "algorithm", "role"], sort=False):
            # A second agent of an algorithm has its own name.
            agent = variant.partition("@")[0]
            alone = shown["variant"][shown["algorithm"] == algorithm].nunique() == 1
            agent = algorithm if alone or agent.endswith(algorithm) else agent
            options = {"markersize": 2.5} | style.options(agent, algorithm)
            options |= {"linestyle": style.LINES.get(role, "solid"), "markevery": 0.2}
            label = agent if role in ("set", "baseline") else f"{agent}, {role}"
            label += f" {style.SURROGATE}" if role == "surrogate" else ""
            axis.plot(curve["episode"], curve["ours"], label=label, **options)
            band = {"color": options["color"], "alpha": 0.18, "linewidth": 0}
            axis.fill_between(curve["episode"], curve["low"], curve["high"], **band)
        for row in _authors(values, instance).itertuples():
            colour = style.colour(row.algorithm) if isinstance(row.algorithm, str) else "black"
            star = {"marker": "*", "markersize": 5, "color": colour, "markeredgecolor": "black", "markeredgewidth": 0.5}
            axis.plot(row.episode, row.authors, linestyle="none", clip_on=False, zorder=4, **star)
        best = values[(values["instance"] == instance) & (values["quantity"] == "optimal value")]
        if len(best) and returns:
            axis.axhline(best["ours"].iloc[0], color="black", linewidth=0.8, linestyle=(0, (1, 1)), label="optimum")
        follows = shown["follows"].iloc[0]
        title = f"{instance},\nas the {follows}" if isinstance(follows, str) else instance
        axis.set(title=title, xlabel="episode k", xlim=(1, shown["episode"].max()))
        if returns:
            axis.set_xscale("log")
    axes[0].set_ylabel(quantity)
    style.legend(figure, axes, 3, **style.TIGHT)
    return figure


def _authors(values, instance):
    named = values["authors"].notna() & values["episode"].notna()
    return values[named & (values["instance"] == instance)]


def _farthest(values):
    """The largest deviation from the authors' numbers, for their code and for their text."""
    drawn = values[values["deviation"].notna() & values["episode"].notna()]
    kinds = drawn["deviation"].abs().groupby(drawn["follows"].fillna(""), sort=False).max()
    words = [f"{share:.0%}{f' as the {follows}' if follows else ''}" for follows, share in kinds.items()]
    return f", from which curves deviate by up to {' and '.join(words)}" if words else ""


def describe(tables):
    values, curves = tables[0]["values"], drawn(tables[0]["curves"])
    source = published.registry.module(values["source"].iloc[0])
    instances = set(curves["instance"])
    starred = any(len(_authors(values, instance)) for instance in instances)
    heading = (";\n" if len(instances) == 1 else "; ") + "stars: the authors' numbers"  # a single panel is narrow
    last = values[values["told_from_uniform"].notna()].drop_duplicates(["instance", "variant"], keep="last")
    untold = last[last["told_from_uniform"] == "no"]
    names = ", ".join(f"{row.variant} on {row.instance}" for row in untold.itertuples())
    words = {
        "stars": f"Stars: the authors' numbers{_farthest(values)}. " if starred else "",
        "stars_heading": heading if starred else "",
        "power": f"Not significantly different from uniform play, which lies within their interval: {names}. "
        if names
        else "",
        "lines": style.line_styles(curves["role"]),
        "surrogates": style.MARKS[style.SURROGATE] if "surrogate" in set(curves["role"]) else "",
    }
    sizes = {"seeds": int(curves["seeds"].max()), "episodes": int(curves["episode"].max())}
    near = _farthest(values)
    sizes |= {"near": f" The authors' numbers{near.replace(', from which', ':')}." if near else ""}
    sizes |= {"range": style.span([curves], "seeds"), "quantity": curves["quantity"].iloc[0].capitalize()}
    about = {"about": source.ABOUT.splitlines()[0].rstrip("."), "citation": source.CITATION}
    return words | sizes | about | {"reward": style.TRACKS[source.TRACK]}
