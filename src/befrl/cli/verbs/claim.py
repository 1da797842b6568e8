"""Test claims of the paper."""

import json

from befrl.cli.words import natural, provenance, show, target, whole
from befrl.common.errors import InputError

EXAMPLE = "befrl claim C39 --trials 200 --json"
SHOWN = ("id", "statement", "verdict", "worst_case", "meaning", "correction", "rule", "seconds")


def arguments(parser):
    parser.add_argument("id", nargs="+", help="claims, as in `befrl list claims`")
    parser.add_argument("--trials", type=whole, default=200, help="random instances per claim (default 200)")
    parser.add_argument("--seed", type=natural, default=20221005, help="seed of the search")
    parser.add_argument("--out", help="json file to write")
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    from befrl import claims
    from befrl.common import storage

    out = target(args.out)
    for name in args.id:
        claims.describe(name)
    if out and len(args.id) > 1:
        raise InputError("--out takes one claim at a time")
    records = [claims.evaluate(name, args.trials, args.seed) for name in args.id]
    if out:
        storage.write_json(out, records[0] | provenance("befrl.claims", claims.describe(args.id[0])["module"]))
    if args.json:
        print(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    elif not out:
        for record in records:
            show([(key, record[key]) for key in SHOWN if record[key] != ""])
