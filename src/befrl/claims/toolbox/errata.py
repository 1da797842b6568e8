"""The errata: every statement that is not true as printed, with its correction and its counterexample, as Markdown."""

import json

from befrl.claims.toolbox.registry import number_of

SHOWN = 300  # characters of a counterexample; longer ones are in the record of the claim
HEAD = """# Errata

Statements of *Bilinear Exponential Family of MDPs: Frequentist Regret Bound with Tractable Exploration & Planning* that
the ledger of claims finds false or ill-posed as printed. Labels and sections are those of the paper's source. This list
is made by the workflow from the records of the claims. `befrl claim C39 --explain` prints derivation, attack and
evidence of one of them, and `docs/claims.md` says how the verdicts are earned.
"""


def errata(records) -> str:
    """All claims whose printed statement does not hold, numbered in the order of the ledger."""
    wrong = sorted((r for r in records if r["verdict"] != "holds"), key=lambda record: number_of(record["id"]))
    return "\n".join([HEAD, *(_entry(number, record) for number, record in enumerate(wrong, start=1))])


def _entry(number, record):
    """One entry: place, printed statement, what is true instead, why, and the counterexample."""
    lines = {
        "Printed": record["statement"],
        "Instead": record["correction"] or "no repair of the statement survives" * (record["verdict"] == "fails"),
        "Why": f"{record['derivation']}\n\n{record['correction_derivation']}".strip(),
        "A step of the proof that fails": "; ".join(s["words"] for s in record["steps"] if not s["survives"]),
        "Open": record["undecided"] or _disagreement(record),
        "Counterexample": _counterexample(record),
    }
    shown = "\n\n".join(f"**{head}.** {_paragraphs(text)}" for head, text in lines.items() if text)
    title = f"## {number}. {record['id']}: {record['title']}"
    return f"{title}\n\n{record['where']}; verdict: {record['verdict']}\n\n{shown}\n"


def _disagreement(record):
    second = record["second"]
    if record["verdict"] != "open" or not second:
        return ""
    return f"the two derivations disagree; the second says {second['verdict']}: {second['argument']}"


def _counterexample(record):
    """The worst instance and the number that it gives, if the instance is short."""
    text = json.dumps(record["instance"])
    where = f"`{text}`" if len(text) <= SHOWN else f"in the record of {record['id']}"
    return f"{where}: {record['worst_case']:.4g}, the {record['meaning']} ({record['grade']})"


def _paragraphs(text):
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip())
