"""Algorithms, one file each: a module with a dataclass `Parameters` and a class `Agent` (see `base.py`).

A file here is registered by its name: `bef-rlsvi` in a config or on the command line is `befrl/agents/bef_rlsvi.py`.
"""

import dataclasses
from types import SimpleNamespace

import numpy as np

from befrl.common.parameters import read
from befrl.common.registry import Registry
from befrl.learning import estimators
from befrl.planning import planners

registry = Registry("agent", __name__, __path__, parts=("Agent", "Parameters"), base="BaseAgent")

PARTS = {"estimator": estimators.registry, "planner": planners.registry}  # chosen by parameters of these names
_ZEROS = SimpleNamespace(take=lambda m: np.zeros((1, m)))  # a stream of zeros for parts that draw in their constructors


def parameters(algorithm: str, values: dict, where: str | None = None):
    """The checked parameters of an algorithm."""
    return read(registry.module(algorithm).Parameters, values, where or f"agent '{algorithm}'")


def specification(model, algorithm: str, chosen) -> str:
    """`Agent.specification` of an algorithm; raises `Refused` also if its estimator or planner does not apply."""
    check_parts(model, chosen)
    return registry.module(algorithm).Agent.specification(model, chosen)


def check_parts(model, chosen):
    """Raise `Refused` if the estimator or the planner of these parameters does not apply to a model."""
    if hasattr(chosen, "estimator"):
        PARTS["estimator"].module(chosen.estimator).Estimator(model, 1, chosen.eta, _ZEROS)
    if hasattr(chosen, "planner"):
        PARTS["planner"].module(chosen.planner).Planner(model, 1, chosen.features, _ZEROS)


def idle(algorithm: str) -> list[str]:
    """The parameters of an algorithm that have no effect if the reward is known."""
    fields = dataclasses.fields(registry.module(algorithm).Parameters)
    return [field.name for field in fields if field.metadata.get("rewards")]


def constants(algorithm: str, chosen) -> str:
    """Whose constants an algorithm runs with: "theory", "surrogate", "set" or "none".

    "surrogate" stands in for constants that its source does not give. "set" is the user's `scale`, or a value for a
    parameter that is None by default and replaces a constant of the theory. "none": its theory gives none.
    """
    if not hasattr(chosen, "scale"):
        return "none"
    replaceable = [field.name for field in dataclasses.fields(chosen) if field.default is None]
    if chosen.scale != "theory" or any(getattr(chosen, name) is not None for name in replaceable):
        return "set"
    return "surrogate" if registry.module(algorithm).Agent.surrogate else "theory"


def certifies(algorithm: str) -> bool:
    """Whether the plans of an algorithm have certificates."""
    return registry.module(algorithm).Agent.certifies


def modules(algorithm: str, chosen) -> list[str]:
    """The modules of an algorithm with these parameters: its own, its estimator's and its planner's."""
    parts = [part.module_name(getattr(chosen, key)) for key, part in PARTS.items() if hasattr(chosen, key)]
    return [registry.module_name(algorithm), *parts]
