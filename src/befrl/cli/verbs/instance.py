"""Build an instance: theta*, constants, V* and gap."""

from befrl.cli.words import pairs, print_json, show, target

EXAMPLE = "befrl instance riverswim --set kernel=cho states=4 horizon=12 --json"


def arguments(parser):
    parser.add_argument("family", help="a family of `befrl list instances`")
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", help="parameters of the family")
    parser.add_argument("--name", help="name in the study (default: the family's name)")
    parser.add_argument("--out", help="npz file to write")
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    from befrl import instances
    from befrl.study.provenance import made_by

    out, values = target(args.out, ".npz"), pairs(args.set)
    instance = instances.build(args.family, values)
    name = args.name or args.family
    facts = instances.facts(name, instance)
    if out:
        instances.save(out, name, instance, made_by("befrl.instances", *instances.modules(args.family, values)))
    if args.json:
        print_json(**facts)
    elif not out:
        flat = {key: value for key, value in facts.items() if key not in ("parameters", "constants")}
        show([*flat.items(), *facts["parameters"].items(), *facts["constants"].items()])
