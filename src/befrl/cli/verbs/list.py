"""List the available components: agents, instances, estimators, planners, rewards, claims or figures."""

import json

EXAMPLE = "befrl list agents --json"


def arguments(parser):
    parser.add_argument("what", choices=tuple(KINDS))
    parser.add_argument("--json", action="store_true", help="print JSON")


def call(args):
    found = KINDS[args.what]()
    if args.json:
        print(json.dumps(found, indent=2))
        return
    for entry in found:
        print(f"{entry['name']}: {entry['text']}")
        for parameter in entry.get("parameters", ()):
            print(f"    {parameter['name']} = {parameter['default']}: {parameter['text']} ({parameter['allowed']})")


def _described(catalogue, parameters=False):
    """Names and summaries of a catalogue's entries and, on request, their parameters."""
    from befrl.common.parameters import describe

    return [
        {"name": name, "text": catalogue.summary(name)}
        | ({"parameters": describe(catalogue.module(name).Parameters)} if parameters else {})
        for name in catalogue.names()
    ]


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
    return _described(instances.catalogue, parameters=True) + presets


def _agents():
    from befrl import agents

    return _described(agents.catalogue, parameters=True)


def _estimators():
    from befrl.learning import estimators

    return _described(estimators.catalogue)


def _planners():
    from befrl.planning import planners

    return _described(planners.catalogue)


def _rewards():
    from befrl.model import rewards

    return _described(rewards.catalogue)


def _claims():
    from befrl import claims

    return [{"name": name, "text": claims.describe(name)["statement"]} for name in claims.names()]


def _figures():
    from befrl import figures

    return _described(figures.catalogue)


KINDS = {
    "instances": _instances,
    "agents": _agents,
    "estimators": _estimators,
    "planners": _planners,
    "rewards": _rewards,
    "claims": _claims,
    "figures": _figures,
}
