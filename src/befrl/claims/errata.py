"""The errata: a letter to the authors, made from the records of the claims, as Markdown."""

from befrl.claims import ledger
from befrl.claims.pages import number_of
from befrl.claims.render import cell, forge

THEOREM = "C62"
HEAD = """# Errata: a letter to the authors

To the authors of *Bilinear Exponential Family of MDPs: Frequentist Regret Bound with Tractable Exploration & Planning*
(arXiv:2210.02087).

We implemented BEF-RLSVI and tested the statements of the paper one by one. Much of it stands, and this letter starts
with that. It then lists what does not stand, the most serious first, each with what is true instead as far as we know,
and it ends with misprints. We may have misread you. Each entry links to a page with the derivation, an independent
second derivation and the test; [the guide](claims/README.md) says how to contest an entry, and every page has room for
your answer. The numbers C01 to C81 are those of our list. What we call Theorem 1 is your regret bound, Theorem 2 in
the arXiv version.
"""
TITLES = {
    "fails": (
        "Statements for which we know no repair",
        "There is a counterexample, and no repair in the same generality.",
    ),
    "hypothesis": (
        "Statements that need another order or a further hypothesis",
        "False as printed. What is true has another order in one of the sizes, or needs a hypothesis that the paper "
        "does not state.",
    ),
    "constant": (
        "Statements that need another constant or logarithm",
        "False as printed, true with another constant, logarithm or power of a logarithm. No order changes.",
    ),
    "open": ("Open", "No computation decides these, or the derivations disagree."),
}


def errata(records) -> str:
    """What holds; Theorem 1; what fails, by class; misprints in a table; remarks."""
    ordered = sorted(records, key=lambda record: number_of(record["id"]))
    claims = [record for record in ordered if record["kind"] == "claim"]
    heirs = {}
    for record in claims:
        if record["verdict"] == "inherits":
            heirs.setdefault(record["inherits"], []).append(record)
    blocks = [HEAD, ledger.headline(ledger.rows(ordered)), _holding(claims)]
    blocks += ["## Theorem 1", *(_entry(record, heirs) for record in claims if record["id"] == THEOREM)]
    for verdict, (title, words) in TITLES.items():
        found = [record for record in claims if record["verdict"] == verdict and record["id"] != THEOREM]
        blocks += [f"## {title}", words, *(_entry(record, heirs) for record in found)] if found else []
    return "\n\n".join([*blocks, _misprints(claims, heirs)]) + "\n"


def _holding(claims):
    """What is true as printed, and what is true of the main results once misprints are mended."""
    lines = [
        f"- {_link(record)} {forge(record['title'])} ({record['where']})"
        for record in claims
        if record["verdict"] == "holds"
    ]
    main = [f"- {_link(record)} {forge(record['stands'])}" for record in claims if record["stands"]]
    return "\n\n".join(
        [
            "## What holds",
            "True as printed:",
            "\n".join(lines),
            "True of the main results, once the misprints below are mended:",
            "\n".join(main),
        ]
    )


def _entry(record, heirs):
    """One entry: place, the printed words, the counterexample, what is true instead, and why."""
    lines = {
        "Printed": "\n".join(f"> {line}" for line in record["quote"].splitlines()),
        "Inferred": record["inference"].removeprefix("Our reading: "),
        "Our reading": record["statement"],
        "Counterexample": record["counterexample"],
        "Instead": record["corrected"],
        "Why": record["derivation"] if record["id"] == THEOREM else record["derivation"].split("\n\n")[0],
        "Open because": record["undecided"],
        "The same fault": ", ".join(f"{_link(heir)} {heir['title']}" for heir in heirs.get(record["id"], ())),
    }
    shown = "\n\n".join(
        f"**{head}.** {text}" if not text.startswith(">") else text for head, text in lines.items() if text
    )
    return f"### {_link(record)} {forge(record['title'])}\n\n{record['where']}\n\n{forge(shown)}"


def _misprints(claims, heirs):
    """One table of what the paper implies or says elsewhere."""
    rows = [
        f"| {_link(record)} | {record['where']} | {cell(record['title'])} | {cell(record['corrected'])} | "
        f"{', '.join(map(_link, heirs.get(record['id'], ())))} |"
        for record in claims
        if record["verdict"] == "misprint"
    ]
    head = ["| | place | statement | what it should say | the same in |", "| --- | --- | --- | --- | --- |"]
    return "\n\n".join(["## Misprints", "What the paper implies or says elsewhere.", "\n".join([*head, *rows])])


def _link(record):
    return f"[{record['id']}](claims/{record['id']}.md)"
