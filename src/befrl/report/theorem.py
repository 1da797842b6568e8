"""The section on Theorem 1: its verdict, what its proof rests on, and the figures that show why."""

THEOREM = "C62"
# The parts of the section: the names of their figures, in order. Further figures of the section come last.
PARTS = {
    "What its proof rests on": ("claims-map",),
    "What it promises": ("bound", "noise-forms"),
    "What its proof needs, measured": ("coverage-regions", "bad-rounds", "optimism", "optimism-episodes"),
    "Where reward noise does not explore": ("traps",),
    "Rates": ("rates",),
    "What would repair the proof": ("repairs",),
}
FURTHER = "Further figures"


def prepared(claims, figures) -> dict:
    """The theorem's claim, if it was tried, and the section's figures by part; parts without figures are left out."""
    shown = {figure["name"]: figure for figure in figures if figure["section"] == "theorem"}
    listed = {name for names in PARTS.values() for name in names}
    parts = PARTS | {FURTHER: tuple(name for name in shown if name not in listed)}
    found = {title: [shown[name] for name in names if name in shown] for title, names in parts.items()}
    return {
        "claim": next((claim for claim in claims if claim["id"] == THEOREM), None),
        "parts": {title: members for title, members in found.items() if members},
    }
