"""Completion of command lines by the shell, with argcomplete: agents, instances, claims, and names of parameters.

In bash, after `pip install argcomplete`: eval "$(register-python-argcomplete befrl)".
"""

import importlib
from functools import partial

from befrl.common.parameters import describe

# {argument: the package whose components it names}
PACKAGES = {
    "agent": "befrl.agents",
    "agents": "befrl.agents",
    "instance": "befrl.instances",
    "family": "befrl.instances",
    "id": "befrl.claims",
}
# {(verb, option with NAME=VALUE): the argument that names the component with these parameters}
OWNERS = {
    ("compare", "set"): "instance",
    ("instance", "set"): "family",
    ("run", "instance_set"): "instance",
    ("run", "set"): "agent",
    ("tune", "set"): "instance",
}


def enable(parser):
    """Answer the shell that asks for completions of its command line, and exit."""
    import argcomplete

    verbs = next(action for action in parser._actions if action.dest == "verb").choices
    for name, verb in verbs.items():
        for action in verb._actions:
            if action.dest in PACKAGES:
                action.completer = partial(names, PACKAGES[action.dest])
            elif (name, action.dest) in OWNERS:
                action.completer = partial(parameters, OWNERS[name, action.dest])
    argcomplete.autocomplete(parser)


def names(package, **_) -> list[str]:
    """The names that an argument allows."""
    package = importlib.import_module(package)
    return [*getattr(package, "registry", package).names(), *getattr(package, "PRESETS", ())]


def parameters(owner, parsed_args, **_) -> list[str]:
    """`NAME=` for each parameter of the agent or instance that the command line names."""
    registry, name = importlib.import_module(PACKAGES[owner]).registry, getattr(parsed_args, owner)
    if name not in registry.names():
        return []
    return [f"{each['name']}=" for each in describe(registry.module(name).Parameters)]
