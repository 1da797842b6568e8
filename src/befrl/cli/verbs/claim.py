"""Test claims of the paper or of ours, or contest one."""

import json
import textwrap

from befrl.cli.words import natural, print_json, show, target, trials
from befrl.common.defaults import ROOT_SEED, TRIALS
from befrl.common.errors import InputError

EXAMPLE = "befrl claim C39 --explain"
SHOWN = (
    "id",
    "kind",
    "statement",
    "verdict",
    "inherits",
    "grade",
    "worst_case",
    "meaning",
    "correction",
    "rule",
    "seconds",
)


def arguments(parser):
    parser.add_argument("id", nargs="*", help="claims, as in `befrl list claims`")
    parser.add_argument(
        "--contest", metavar="FILE", help="counterexamples, repairs or a test of yours: docs/claims/README.md"
    )
    parser.add_argument("--trials", type=trials, default=TRIALS, help=f"random instances per claim (default {TRIALS})")
    parser.add_argument("--seed", type=natural, default=ROOT_SEED, help="seed of the search")
    parser.add_argument("--out", help="json file to write, for one claim")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--explain", action="store_true", help="print statement, derivation, test and verdict")


def call(args):
    from befrl import claims
    from befrl.common import storage
    from befrl.study.provenance import made_by

    if args.contest:
        return contested(args)
    if not args.id:
        raise InputError("name a claim, such as C39, or a file with --contest")
    described = [claims.describe(name) for name in args.id]
    if args.out and len(args.id) > 1:
        raise InputError("--out takes one claim at a time")
    out = target(args.out, ".json")
    records = [claims.evaluate(name, args.trials, args.seed) for name in args.id]
    if out:
        storage.write_json(out, records[0] | made_by(*claims.modules(described[0].section)))
    if args.json:
        print_json(claims=records)
    elif args.explain:
        print("\n\n".join(explained(record) for record in records))
    elif not out:
        for record in records:
            show([(key, record[key]) for key in SHOWN if record[key] not in ("", None)])


def contested(args):
    """Run a stranger's file through the judge and print what it changes."""
    from befrl.claims import contest

    brought = contest.read(args.contest)
    if args.id not in ([], [brought.id]):
        raise InputError(f"--contest {args.contest}: it is about {brought.id}, not about {' '.join(args.id)}")
    before, after = contest.outcome(brought, args.trials, args.seed)
    rows = contest.changes(before, after)
    if args.json:
        print_json(claim=brought.id, changes=rows, record=after)
        return
    verdicts = before["verdict"], after["verdict"]
    changed = f"changes from {verdicts[0]} to {verdicts[1]}" if len(set(verdicts)) == 2 else f"stays {verdicts[0]}"
    print(f"{brought.id}: the verdict {changed}.")
    for row in rows[1:]:
        if row["before"] != row["after"]:
            print(
                _indented(
                    f"{row['what']}: {row['before']} -> {row['after']} ({row['worst case']:.3g}): {row['statement']}"
                )
            )
    for words in after["weak"]:
        print(_indented(f"the test is now too weak: {words}"))


def explained(record) -> str:
    """The record of a claim as text: quotation, reading, derivation, test, verdict."""
    others = [each for group in ("repairs", "lighter", "others", "mutants") for each in record[group]]
    own = record["kind"] == "ours"
    told = f" from {record['inherits']}" if record["inherits"] else ""
    worst = "" if record["worst_case"] is None else f"{record['worst_case']:.6g}: {record['meaning']}."
    blocks = {
        f"{record['id']}: {record['title']}": record["where"],
        "The paper": "\n\n".join(filter(None, (record["quote"], record["inference"]))),
        "Statement" if own else "Our reading": record["statement"],
        "Corrected statement": record["corrected"],
        "Derivation": record["derivation"],
        "Derivation of the correction": record["correction_derivation"],
        "Test": record["attack"],
        "Verdict": f"{record['verdict']}{told}, known by: {record['grade']}. Rule: {record['rule']}.",
        "Counterexample": record["counterexample"],
        "Open because": record["undecided"],
        "Worst case": f"{worst}\n\n{json.dumps(record['instance'])[:600]}" if worst else "",
        "Also stated" if own else "Also printed": _readings(record["steps"]),
        "Other statements under the same test": _readings(others),
        "Too weak": "\n\n".join(record["weak"]),
        "Second derivation": _derivation(record["second"]),
        "Third derivation": _derivation(record["third"]),
        "Adjudication": record["adjudication"],
        "Objections": record["objections"],
        "Answer of the authors": record["answer"],
        "Our proof uses" if own else "Its proof in the paper uses": ", ".join(record["uses"]),
    }
    return "\n\n".join(f"{head}\n{_indented(text)}" for head, text in blocks.items() if text)


def _derivation(found):
    return f"{found['verdict']}. {found['argument']}" if found else ""


def _readings(readings):
    words = {True: "survives", False: "refuted"}
    return "\n\n".join(f"{words[r['survives']]} ({r['violation']:.3g}): {r['words']}" for r in readings)


def _indented(text):
    style = {"width": 110, "initial_indent": "    ", "subsequent_indent": "    ", "break_long_words": False}
    return "\n\n".join(textwrap.fill(" ".join(paragraph.split()), **style) for paragraph in text.split("\n\n"))
