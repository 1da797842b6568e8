"""Names of settings: an algorithm's parameters as text, and the labels of an agent's variants.

Variants are `agent` with its own values, `agent@tuned` and `agent@x=3` for a swept x.
"""

from dataclasses import asdict

from befrl import agents


def setting_text(algorithm: str, parameters: dict) -> str:
    """The parameters that differ from the algorithm's defaults, as `name=value`, in the order of their declaration."""
    if not parameters:
        return ""
    default, given = (asdict(agents.parameters(algorithm, values)) for values in ({}, parameters))
    return " ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in given.items()
        if value != default[key]
    )


def variants(agent: str, values: dict, outcome: dict | None = None, sweep: dict | None = None) -> dict[str, dict]:
    """The values of each variant of an agent by label, from the outcome of its tuning and the values of its sweep."""
    found = {agent: values}
    if outcome is not None:
        found[f"{agent}@tuned"] = values | outcome["configurations"][outcome["chosen"]["tuned"]]["values"]
    for key, points in (sweep or {}).items():
        found |= {f"{agent}@{key}={point:g}": values | {key: point} for point in points}
    return found


def split(label: str) -> tuple[str, str, str | None]:
    """The agent of a label, its role among the agent's variants ("", tuned, sweep) and the swept parameter."""
    agent, _, rest = label.partition("@")
    key, equals, _ = rest.partition("=")
    return (agent, "sweep", key) if equals else (agent, rest, None)
