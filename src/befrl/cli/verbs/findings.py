"""Print tables of README and the documentation from a study's results, or bring them up to date in their files."""

import argparse
import re

from befrl.common.defaults import TRACKS
from befrl.common.errors import InputError

EXAMPLE = "befrl findings --results results/reference --cases chain-8_U chain-8_K"
BLOCK = re.compile(r"<!-- befrl findings ([^\n]*) -->\n.*?<!-- end -->", re.DOTALL)  # a printed block of a page


def arguments(parser):
    parser.add_argument("--results", default="results", help="folder of the results (default results)")
    parser.add_argument("--variants", nargs="+", default=[], help="with --cases: a table of these variants instead")
    parser.add_argument("--rivals", nargs="+", default=[], help="with --cases: bef-seed, untuned, beside these, tuned")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cases", nargs="+", metavar="INSTANCE_TRACK", help="who wins in these cases, such as chain-8_U")
    what.add_argument("--answers", nargs="+", metavar="INSTANCE_TRACK", help="the first lines of README")
    what.add_argument("--ledger", action="store_true", help="how many claims have which verdict")
    what.add_argument("--theorem", action="store_true", help="bound, hypotheses, traps and rates of Theorem 1")
    what.add_argument("--certified", action="store_true", help="regret and certificates of bef-seed on every instance")
    what.add_argument("--published", action="store_true", help="our reruns against the numbers of their authors")
    what.add_argument("--coverage", action="store_true", help="how often the intervals contain the mean")
    what.add_argument("--deviations", action="store_true", help="deviations of all algorithms from their sources")
    what.add_argument("--gallery", metavar="FOLDER", help="title, alternative text and picture of the figures there")
    what.add_argument("--update", nargs="+", metavar="FILE", help="print every block of these pages anew, in place")


def call(args):
    if not args.update:
        print(text(args), end="")
        return
    from befrl.common import storage

    for path in args.update:
        storage.write_text(path, updated(storage.read_text(path)))


def updated(page) -> str:
    """A page with every block printed anew by the command in its comment."""
    parser = argparse.ArgumentParser()
    arguments(parser)

    def printed(block):
        return f"<!-- befrl findings {block[1]} -->\n{text(parser.parse_args(block[1].split()))}<!-- end -->"

    return BLOCK.sub(printed, page)


def text(args) -> str:
    """What a command prints."""
    from befrl.analysis import coverage, deviations, finding_tables, findings
    from befrl.claims import ledger
    from befrl.common import tidy
    from befrl.common.layout import Layout
    from befrl.figures.support import gallery

    if (args.variants or args.rivals) and not args.cases:
        raise InputError(f"--{'variants' if args.variants else 'rivals'} needs --cases")
    if args.deviations:
        return deviations.markdown()
    if args.gallery:
        return gallery.markdown(args.gallery)
    layout = Layout(results=args.results)
    if args.ledger or args.answers:
        table = tidy.read(layout.ledger(), ledger.COLUMNS).astype(object).fillna("").to_dict("records")
    if args.ledger:
        return f"{ledger.summary(table)}\n"
    if args.coverage:
        return f"{coverage.markdown(tidy.read(layout.coverage(), coverage.COLUMNS).to_dict('records'))}\n"
    if args.theorem:
        return finding_tables.theorem(layout)
    if args.certified:
        return finding_tables.certified(layout)
    if args.published:
        return finding_tables.published(layout)
    if args.answers:
        verdicts, refuted = ledger.headline(table), ledger.counterexample(table)
        return findings.answers(layout, _cases("answers", args.answers), verdicts, refuted)
    cases = _cases("cases", args.cases)
    if args.variants:
        return finding_tables.variants(layout, cases, args.variants)
    if args.rivals:
        return finding_tables.untuned(layout, cases, args.rivals)
    return findings.markdown(layout, cases)


def _cases(option, names):
    """(instance, track) of each name."""
    cases = [name.rpartition("_")[::2] for name in names]
    wrong = [text for text, case in zip(names, cases, strict=True) if case[1] not in TRACKS]
    if wrong:
        allowed = " or ".join(f"INSTANCE_{track}" for track in TRACKS)
        raise InputError(f"--{option} {wrong[0]} is not allowed: write {allowed}")
    return cases
