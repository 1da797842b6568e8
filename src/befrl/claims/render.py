"""The parts of a claim's page that are made from its record: the verdict, and what became of all readings."""

import re

from befrl.claims.pages import GROUPS, MADE, pages

KINDS = {
    "claim": "",
    "remark": "Remark, not counted: the paper does not say this. ",
    "ours": "A statement of ours, not of the paper. ",
}
NAMES = {
    "printed": "printed",
    "repairs": "repair",
    "lighter": "lighter correction, has to be refuted",
    "steps": "also printed",
    "others": "true statement nearby",
    "mutants": "mutant, has to be refuted",
}
OURS = NAMES | {"printed": "stated", "steps": "also stated"}


def written(text: str, record: dict) -> str:
    """The text of a page with its two made parts, put in or made anew."""
    parts = {"verdict": verdict(record), "outcome": outcome(record)}
    blocks = {name: f"<!-- made: {name} -->\n{part}\n<!-- end -->" for name, part in parts.items()}
    if not MADE.search(text):
        text = re.sub(r"(?m)^# .*\n", lambda title: f"{title[0]}\n{blocks['verdict']}\n", text, count=1)
        return text.replace("\n## Readings\n", f"\n{blocks['outcome']}\n\n## Readings\n")
    return MADE.sub(lambda found: blocks[found[1]], text)


def verdict(record) -> str:
    """Verdict, how it is known, what the correction takes, and the counterexample."""
    told = f" {_link(record['inherits'])}" if record["inherits"] else ""
    lines = [f"{KINDS[record['kind']]}**Verdict: {record['verdict']}{told}**, known by: {record['grade']}."]
    if record["class"].get("why"):
        lines.append(f"Why this class, decided by {record['class']['by']}: {forge(record['class']['why'])}")
    if record["counterexample"]:
        lines.append(f"**Counterexample.** {forge(record['counterexample'])}")
    if record["undecided"]:
        lines.append(f"Open because {forge(record['undecided'])}")
    others = [f"{name} derivation: {record[name]['verdict']}" for name in ("second", "third") if record[name]]
    return "\n\n".join([*lines, *([f"{'; '.join(others).capitalize()}."] if others else [])])


def outcome(record) -> str:
    """A table of all readings, and what the claim rests on and bears."""
    names, proof = (OURS, "Our") if record["kind"] == "ours" else (NAMES, "The paper's")
    rows = [(names["printed"], record["statement"], record["survives"], record["worst_case"], "")]
    rows += [(names[group], *_row(each)) for group in GROUPS for each in record[group]]
    words = {True: "survives", False: "refuted", None: "argued"}
    table = ["| | statement | outcome | worst case | distance from the truth |", "| --- | --- | --- | --- | --- |"]
    for name, statement, survives, worst, distance in rows:
        number = "" if worst is None else f"{worst:.3g}"
        table.append(f"| {name} | {cell(statement)} | {words[survives]} | {number} | {cell(distance)} |")
    bears = [id for id, page in pages().items() if record["id"] in page.uses]
    lines = ["## Outcome of the test", f"The worst case is the {forge(record['meaning'])}.", "\n".join(table)]
    lines += [f"Rule: {record['rule']}. Trials: {record['trials']}, seed {record['seed']}."]
    if record["survives"] is None:
        lines = ["## Outcome", f"Rule: {record['rule']}."]
    lines += [f"{proof} proof uses {', '.join(map(_link, record['uses']))}."] if record["uses"] else []
    lines += [f"On this claim rest {', '.join(map(_link, bears))}."] if bears else []
    return "\n\n".join(lines)


def _row(each):
    return each["words"], each["survives"], each["violation"], each["distance"]


def _link(id):
    return f"[{id}]({id}.md)"


def cell(text):
    """A text in one line without bars, which would end a cell."""
    return forge(" ".join(text.split()).replace(r"\|", r"\Vert ").replace("|", r"\vert "))


def forge(text):
    """Formulas as $`x`$, which every forge renders: no backslash or underscore in them is read as Markdown."""
    return re.sub(r"\$([^$]+)\$", r"$`\1`$", text)
