"""Test claims of the paper."""

import json
import textwrap

from befrl.cli.words import natural, show, target, trials
from befrl.common.defaults import ROOT_SEED, TRIALS
from befrl.common.errors import InputError

EXAMPLE = "befrl claim C39 --explain"
SHOWN = ("id", "statement", "verdict", "grade", "worst_case", "meaning", "correction", "rule", "seconds")


def arguments(parser):
    parser.add_argument("id", nargs="+", help="claims, as in `befrl list claims`")
    parser.add_argument("--trials", type=trials, default=TRIALS, help=f"random instances per claim (default {TRIALS})")
    parser.add_argument("--seed", type=natural, default=ROOT_SEED, help="seed of the search")
    parser.add_argument("--out", help="json file to write, for one claim")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--explain", action="store_true", help="print statement, derivation, attack and verdict")


def call(args):
    from befrl import claims
    from befrl.common import storage
    from befrl.study.provenance import made_by

    described = [claims.describe(name) for name in args.id]
    if args.out and len(args.id) > 1:
        raise InputError("--out takes one claim at a time")
    out = target(args.out)
    records = [claims.evaluate(name, args.trials, args.seed) for name in args.id]
    if out:
        storage.write_json(out, records[0] | made_by("befrl.claims", *claims.modules(described[0]["module"])))
    if args.json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    elif args.explain:
        print("\n\n".join(explained(record) for record in records))
    elif not out:
        for record in records:
            show([(key, record[key]) for key in SHOWN if record[key] != ""])


def explained(record) -> str:
    """The record of a claim as text: statement, derivation, attack, verdict."""
    second, others = record["second"], record["repairs"] + record["others"] + record["mutants"]
    blocks = {
        f"{record['id']}: {record['title']}": f"{record['where']}\n\n{record['statement']}",
        "Derivation": record["derivation"],
        "Correction": "\n\n".join(filter(None, (record["correction"], record["correction_derivation"]))),
        "Attack": record["attack"],
        "Verdict": f"{record['verdict']}, by {record['grade']}. Rule: {record['rule']}.",
        "Open because": record["undecided"],
        "Worst case": f"{record['worst_case']:.6g}: {record['meaning']}.\n\n{json.dumps(record['instance'])[:600]}",
        "Steps of the proof": _readings(record["steps"]),
        "Other statements under the same attack": _readings(others),
        "Too weak": "\n\n".join(record["weak"]),
        "Second derivation": f"{second['verdict']}. {second['argument']}" if second else "",
        "Its proof in the paper uses": ", ".join(record["uses"]),
    }
    return "\n\n".join(f"{head}\n{_indented(text)}" for head, text in blocks.items() if text)


def _readings(readings):
    words = {True: "survives", False: "refuted"}
    return "\n\n".join(f"{words[r['survives']]} ({r['violation']:.3g}): {r['words']}" for r in readings)


def _indented(text):
    style = {"width": 110, "initial_indent": "    ", "subsequent_indent": "    ", "break_long_words": False}
    return "\n\n".join(textwrap.fill(" ".join(paragraph.split()), **style) for paragraph in text.split("\n\n"))
