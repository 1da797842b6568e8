"""The three printed forms of Theorem 1's noise scale x_k, on every instance."""

from befrl.figures.bound import fact, name_of
from befrl.figures.support import style

SCOPE = "component"
SECTION = "theorem"
SUBJECT = "theorem"
TABLES = {"facts": ("instance", "quantity", "value")}
FORMS = {"theorem": (style.BLUE, "o"), "sketch": (style.VERMILION, "s"), "lemma": (style.GREEN, "^")}


def draw(tables):
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.85 + 0.13 * len(tables)))
    for form, (colour, marker) in FORMS.items():
        values = [fact(table, f"x, {form}") for table in tables]
        dots = {"color": colour, "marker": marker, "markersize": 3.2, "linestyle": "none"}
        axis.plot(values, range(len(tables)), label=form, **dots)
    axis.set_yticks(range(len(tables)), [name_of(table) for table in tables])
    axis.set(xscale="log", xlabel="least xₖ", ylim=(len(tables) - 0.5, -0.5))
    axis.grid(axis="y", linewidth=0.3)
    style.legend(figure, [axis], len(FORMS), handletextpad=0.1, columnspacing=1.0)
    return figure


def describe(tables):
    ratios = [fact(table, "x, theorem") / fact(table, "x, lemma") for table in tables]
    spans = {"least": style.power(min(ratios), 2), "most": style.power(max(ratios), 2)}
    return {"K": int(fact(tables[0], "K of x"))} | spans
