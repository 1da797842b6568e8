"""Measure speed and memory on one core."""

import json

EXAMPLE = "befrl bench --json"


def arguments(parser):
    parser.add_argument("--quick", action="store_true", help="a tenth of the episodes, for a first look")
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    from befrl.analysis import benchmark

    table = benchmark.measure(quick=args.quick)
    print(json.dumps(table, indent=2) if args.json else benchmark.text(table))
