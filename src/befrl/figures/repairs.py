"""Which extra hypotheses of the proof of Theorem 1 hold on which instance: a matrix of filled and empty squares."""

from befrl.figures.support import style

SCOPE = "component"
SECTION = "repair"
SUBJECT = "repairs"
TABLES = {
    "hypotheses": ("instance", "H", "hypothesis", "needed", "holds", "claims", "meaning"),
    "answers": ("instance", "H", "proof", "printed"),
}
SIGNS = {
    "theta": "θ",
    "theta_r": "$θ_r$",
    "psi": "ψ",
    "alpha_p": "$α_p$",
    "alpha_r": "$α_r$",
    "eta": "η",
    "C_d": "$C_d$",
}
COLOURS = {True: style.VERMILION, False: style.BLUE}  # by whether the proof needs the hypothesis


def draw(tables):
    cases = [
        (table["hypotheses"][table["hypotheses"]["H"] == answer["H"]].set_index("hypothesis"), answer)
        for table in tables
        for _, answer in table["answers"].iterrows()
    ]
    first = tables[0]["hypotheses"]
    needed = first[first["H"] == first["H"].iloc[0]]
    figure, axis = style.subplots(figsize=(style.WIDTH, 0.115 * len(cases) + 1.9))
    for line, (held, answer) in enumerate(cases):
        squares = [("s", COLOURS[bool(row.needed)], held["holds"][row.hypothesis]) for row in needed.itertuples()]
        answers = [("o", "black", answer["proof"]), ("D", "black", answer["printed"])]
        for column, (marker, colour, filled) in zip(_columns(needed), squares + answers, strict=True):
            options = {"marker": marker, "markersize": 4, "color": colour, "linestyle": "none"}
            axis.plot(column, line, **options, markerfacecolor=colour if filled else "white")
    labels = [f"{_signs(row.meaning.split(':')[0].rstrip('.'))} {_numbers(row.claims)}" for row in needed.itertuples()]
    axis.set_xticks(_columns(needed), [*labels, "all that the proof needs", "all"], rotation=90)
    axis.set_yticks(range(len(cases)), [f"{answer['instance']}, H = {answer['H']}" for _, answer in cases])
    axis.set(xlim=(-0.7, len(needed) + 2.7), ylim=(len(cases) - 0.4, -0.6))
    axis.tick_params(length=0, labelbottom=False, labeltop=True)
    return figure


def _columns(needed):
    return [*range(len(needed)), len(needed) + 1, len(needed) + 2]


def _signs(words):
    """Words with the letters of the paper for their names."""
    return " ".join(SIGNS.get(word, word) for word in words.split())


def _numbers(claims):
    found = str(claims).split()
    return f"({', '.join(found[:2])}{', …' if len(found) > 2 else ''})"


def describe(tables):
    answers = [answer for table in tables for _, answer in table["answers"].iterrows()]
    found = {}
    for form in ("proof", "printed"):
        held = [f"{answer['instance']} with H = {answer['H']}" for answer in answers if answer[form]]
        found[form] = ", ".join(held) or "no instance"
    return found
