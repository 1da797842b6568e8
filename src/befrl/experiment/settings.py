"""Names of settings: an algorithm's parameters as text, and labels for the points of a grid."""

from dataclasses import asdict

from befrl import agents


def setting_text(algorithm: str, parameters: dict, varied: str | None = None) -> str:
    """The parameters that differ from the algorithm's defaults, as `name=value`, in the order of their declaration.

    The parameter that a grid varies, if any, is left out: the tables give it columns of its own.
    """
    default, given = (asdict(agents.parameters(algorithm, values)) for values in ({}, parameters))
    return " ".join(f"{key}={value}" for key, value in given.items() if key != varied and value != default[key])


def label(agent: str, parameter: str, value) -> str:
    """The label of a point of an agent's grid: `bef-rlsvi@x=3`."""
    return f"{agent}@{parameter}={value}"


def split(label: str) -> tuple[str, str | None]:
    """The agent of a label, and the parameter that its grid varies, or None off the grid."""
    agent, on_grid, point = label.partition("@")
    return agent, point.partition("=")[0] if on_grid else None
