"""Make an instance: theta*, constants, V* and gap."""

import json

from befrl.cli.words import pairs, provenance, show, target

EXAMPLE = "befrl instance riverswim --set kernel=cho states=4 horizon=12 --json"


def arguments(parser):
    parser.add_argument("family", help="a family of `befrl list instances`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--name", help="name in the study; the family's by default")
    parser.add_argument("--out", help="npz file to write")
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    from befrl import instances

    out = target(args.out)
    instance = instances.build(args.family, pairs(args.set))
    name = args.name or args.family
    facts = instances.facts(name, instance)
    if out:
        instances.save(out, name, instance, provenance("befrl.instances", instances.module_name(args.family)))
    if args.json:
        print(json.dumps(facts, indent=2))
    elif not out:
        flat = {key: value for key, value in facts.items() if key not in ("parameters", "constants")}
        show([*flat.items(), *facts["parameters"].items(), *facts["constants"].items()])
