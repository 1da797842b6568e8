"""List instances, agents, estimators, planners, rewards, claims, figures, verbs or jobs."""

import importlib

from befrl.cli.words import print_json
from befrl.common.errors import unknown

EXAMPLE = "befrl list agents bef-rlsvi"
PACKAGES = {
    "instances": "befrl.instances",
    "agents": "befrl.agents",
    "estimators": "befrl.learning.estimators",
    "planners": "befrl.planning.planners",
    "rewards": "befrl.model.rewards",
    "claims": "befrl.claims",
    "figures": "befrl.figures",
    "verbs": "befrl.cli.verbs",
    "jobs": "befrl.jobs",
}


def arguments(parser):
    parser.add_argument("what", choices=tuple(PACKAGES))
    parser.add_argument("name", nargs="?", help="show this one alone, with all that there is to say")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--names", action="store_true", help="print names only, for shell completion and loops")
    form.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    found = entries(args.what)
    if args.name is not None:
        names = [entry["name"] for entry in found]
        if args.name not in names:
            raise unknown(args.what.removesuffix("s"), args.name, names)
        found = [found[names.index(args.name)]]
    if args.names:
        print(*(entry["name"] for entry in found), sep="\n")
    elif args.json:
        print_json(**{args.what: found})
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


def entries(what) -> list[dict]:
    """The name and text of each component of a kind and, if it has them, its first paragraph, file and parameters."""
    package = importlib.import_module(PACKAGES[what])
    if what == "claims":
        return [{"name": name, "text": package.describe(name).texts["statement"]} for name in package.names()]
    found = [_described(package.registry, name) for name in package.registry.names()]
    if what == "instances":
        for name, (family, values) in package.PRESETS.items():
            words = " ".join(f"{key}={value}" for key, value in values.items())
            found.append({"name": name, "text": f"preset: {family} {words}", "parameters": []})
    return found


def _described(registry, name):
    from befrl.common.parameters import describe

    module, text = registry.module(name), registry.summary(name)
    paragraph = " ".join((vars(module).get("__doc__") or "").strip().split("\n\n")[0].split())
    entry = {"name": name, "text": text, "paragraph": paragraph or text, "file": vars(module).get("__file__", "")}
    return entry | ({"parameters": describe(module.Parameters)} if hasattr(module, "Parameters") else {})
