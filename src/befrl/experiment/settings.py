"""How the variants of an agent are named: by a label in a study, and by the text of their setting in tables.

A point of a grid is labelled `agent@parameter=value`. The setting of a run lists the parameters that differ from the
algorithm's defaults, as `name=value`, in the order in which the algorithm declares them.
"""

import dataclasses

from befrl import agents


def label(agent: str, parameter: str | None = None, value=None) -> str:
    """The label of an agent, or of a point of its grid."""
    return agent if parameter is None else f"{agent}@{parameter}={value}"


def split(label: str) -> tuple[str, str | None]:
    """Agent and varied parameter of a label; the parameter is None off the grid."""
    agent, at, point = label.partition("@")
    return agent, point.partition("=")[0] if at else None


def setting_text(algorithm: str, parameters: dict, varied: str | None = None) -> str:
    """The parameters other than the defaults, without the one that a grid varies; empty if there are none."""
    default = dataclasses.asdict(agents.parameters(algorithm, {}))
    given = {key: parameters[key] for key in default if key in parameters and parameters[key] != default[key]}
    return " ".join(f"{key}={value}" for key, value in given.items() if key != varied)
