"""List components, or show one: agents, instances, estimators, planners, rewards, claims, figures or verbs."""

import json

from befrl.common.errors import unknown

EXAMPLE = "befrl list agents bef-rlsvi"


def arguments(parser):
    parser.add_argument("what", choices=tuple(KINDS))
    parser.add_argument("name", nargs="?", help="show this one alone, with all that there is to say")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--names", action="store_true", help="print names only, for shell completion and loops")
    form.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    found = KINDS[args.what]()
    if args.name is not None:
        names = [entry["name"] for entry in found]
        if args.name not in names:
            raise unknown(args.what.removesuffix("s"), args.name, names)
        found = [found[names.index(args.name)]]
    if args.names:
        print(*(entry["name"] for entry in found), sep="\n")
    elif args.json:
        print(json.dumps(found, indent=2))
    else:
        for entry in found:
            show(entry, in_full=args.name is not None)


def show(entry, in_full):
    """Print an entry: its first line or, in full, its first paragraph and its file; and its parameters."""
    print(f"{entry['name']}: {entry.get('paragraph', entry['text']) if in_full else entry['text']}")
    for parameter in entry.get("parameters", ()):
        print(f"    {parameter['name']} = {parameter['default']}: {parameter['text']} ({parameter['allowed']})")
    if in_full and entry.get("file"):
        print(f"source: {entry['file']}")


def _described(registry, parameters=False):
    """Names, summaries, first paragraphs and files of a registry's entries and, on request, their parameters."""
    from befrl.common.parameters import describe

    found = []
    for name in registry.names():
        module = registry.module(name)
        paragraph = " ".join((vars(module).get("__doc__") or "").strip().split("\n\n")[0].split())
        text = registry.summary(name)
        entry = {"name": name, "text": text, "paragraph": paragraph or text, "file": vars(module).get("__file__", "")}
        found.append(entry | ({"parameters": describe(module.Parameters)} if parameters else {}))
    return found


def _instances():
    from befrl import instances

    presets = [
        {
            "name": name,
            "text": f"preset: {family} {' '.join(f'{key}={value}' for key, value in values.items())}",
            "parameters": [],
        }
        for name, (family, values) in instances.PRESETS.items()
    ]
    return _described(instances.registry, parameters=True) + presets


def _agents():
    from befrl import agents

    return _described(agents.registry, parameters=True)


def _estimators():
    from befrl.learning import estimators

    return _described(estimators.registry)


def _planners():
    from befrl.planning import planners

    return _described(planners.registry)


def _rewards():
    from befrl.model import rewards

    return _described(rewards.registry)


def _verbs():
    from befrl.cli import verbs

    return _described(verbs.registry)


def _claims():
    from befrl import claims

    return [{"name": name, "text": claims.describe(name)["statement"]} for name in claims.names()]


def _figures():
    from befrl import figures

    return _described(figures.registry)


KINDS = {
    "instances": _instances,
    "agents": _agents,
    "estimators": _estimators,
    "planners": _planners,
    "rewards": _rewards,
    "claims": _claims,
    "figures": _figures,
    "verbs": _verbs,
}
