"""The errata: a letter to the authors, made from the records of the claims, as Markdown."""

import re

from befrl.claims import ledger
from befrl.claims.pages import THEOREM, folder, number_of
from befrl.claims.render import cell, forge

PART = re.compile(r"\[\[(\w+)\]\]")


def errata(records) -> str:
    """The text of docs/claims/letter.md with the entries of the records; sections without entries are left out."""
    ordered = sorted(records, key=lambda record: number_of(record["id"]))
    claims = [record for record in ordered if record["kind"] == "claim"]
    heirs = {}
    for record in claims:
        if record["verdict"] == "inherits":
            heirs.setdefault(record["inherits"], []).append(record)
    rest = [record for record in claims if record["id"] != THEOREM]
    parts = {
        verdict: "\n\n".join(_entry(record, heirs) for record in rest if record["verdict"] == verdict)
        for verdict in ("fails", "hypothesis", "constant", "open")
    }
    parts["headline"] = ledger.headline(ledger.rows(ordered))
    parts["theorem"] = "".join(_entry(record, heirs) for record in claims if record["id"] == THEOREM)
    holding = [record for record in claims if record["verdict"] == "holds"]
    parts["holds"] = "\n".join(f"- {_link(record)} {forge(record['title'])} ({record['where']})" for record in holding)
    stand = [f"- {_link(record)} {forge(record['stands'])}" for record in claims if record["stands"]]
    parts["stands"] = "\n".join(stand)
    parts["misprint"] = _misprints(claims, heirs)
    sections = re.split(r"(?m)^(?=## )", folder().joinpath("letter.md").read_text(encoding="utf-8"))
    kept = [section for section in sections if all(parts[name] for name in PART.findall(section))]
    return PART.sub(lambda found: parts[found[1]], "".join(kept))


def _entry(record, heirs):
    """One entry: place, the printed words, the counterexample, what is true instead, and why."""
    lines = {
        "Printed": "\n".join(f"> {line}" for line in record["quote"].splitlines()),
        "Inferred": _capital(record["inference"].removeprefix("Our reading: ")),
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
    shown = shown.replace("](../", "](")  # links of a page start in docs/claims, those of the letter in docs
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
    return "\n".join([*head, *rows]) if rows else ""


def _capital(text):
    """The sentence with a capital letter; a formula stays as it is."""
    return text[:1].upper() + text[1:]


def _link(record):
    return f"[{record['id']}](claims/{record['id']}.md)"
