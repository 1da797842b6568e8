"""Adversarial search: edge cases, random instances, and a climb from the worst of them."""

import contextlib
import math
import re
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.evidence import Evidence
from befrl.common.errors import InputError


@dataclass
class Worst:
    """Keeps the largest value seen and the instance that attains it; of equal values (to 1e-9), the first."""

    value: float | Fraction = -math.inf
    instance: dict | None = None
    number: int = 0

    def see(self, value, instance) -> bool:
        self.number += 1
        better = self.instance is None or float(value) > float(self.value) + 1e-9 * abs(float(self.value))
        if better:
            self.value, self.instance = value, instance
        return better


# What a contest adds to every search: instances, a hypothesis that all instances must meet, and who asked for them.
_CONTEST = ContextVar("contest", default=((), None, []))


@contextlib.contextmanager
def contested(instances, allowed):
    """While it lasts, searches see these instances too, and only allowed ones; yields a list of the searches."""
    consulted = []
    token = _CONTEST.set((instances, allowed, consulted))
    try:
        yield consulted
    finally:
        _CONTEST.reset(token)


def search(rng, trials, draw, violation, *, edges=(), climb=True, move=None, grade="search", details=None) -> Evidence:
    """The worst instance among edge cases, `trials` random ones, and `trials` steps of a climb.

    draw(rng) -> instance, a dict of numbers and arrays; violation(instance) -> number, exact where it is a Fraction.
    The climb moves all arrays and floats of the worst random instance by random steps whose size adapts;
    move(rng, instance, step) replaces this where instances have constraints. An exact edge case that is refuted keeps
    its place unless a worse one is found.
    """
    worst, drawn = Worst(), Worst()
    instances, allowed, consulted = _CONTEST.get()
    consulted.append(1)
    for instance in (*edges, *map(given, instances)):
        if allowed is None or allowed(instance):
            worst.see(violation(instance), instance)
    for _ in range(trials):
        instance = draw(rng)
        if allowed is None or allowed(instance):
            drawn.see(violation(instance), instance)
    if climb and drawn.instance is not None:
        step = 0.5
        for _ in range(trials):
            moved = (move or moved_at_random)(rng, drawn.instance, step)
            better = (allowed is None or allowed(moved)) and drawn.see(violation(moved), moved)
            step = min(1.0, 2 * step) if better else max(1e-4, 0.93 * step)
    number = worst.number + drawn.number
    exact = isinstance(worst.value, Fraction | int) and worst.value > 0
    if drawn.instance is not None and not exact:
        worst.see(drawn.value, drawn.instance)
    if worst.instance is None:
        raise InputError(f"none of the {trials} instances of the test is allowed")
    return Evidence(worst.value, listed(worst.instance), grade, number, details=details or {})


def moved_at_random(rng, instance, step):
    """The instance with every float and every array of floats moved in proportion to its size."""
    return {key: _moved(rng, value, step) for key, value in instance.items()}


def _moved(rng, value, step):
    if isinstance(value, float):
        return value + step * max(abs(value), 1e-3) * rng.standard_normal()
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        scale = max(np.abs(value).max(initial=0.0), 1e-3)
        return value + step * scale * rng.standard_normal(value.shape)
    return value


def given(instance):
    """An instance from JSON as a test takes it: arrays for lists of numbers, fractions for texts such as 1/2."""
    if isinstance(instance, dict):
        return {key: given(value) for key, value in instance.items()}
    if isinstance(instance, list):
        values = [given(value) for value in instance]
        return np.array(values) if all(isinstance(value, float | np.ndarray) for value in values) else values
    return Fraction(instance) if isinstance(instance, str) and re.fullmatch(r"-?\d+(/\d+)?", instance) else instance


def listed(instance):
    """The instance with lists in place of arrays and text in place of fractions, ready for JSON."""
    if isinstance(instance, dict):
        return {key: listed(value) for key, value in instance.items()}
    if isinstance(instance, list | tuple):
        return [listed(value) for value in instance]
    if isinstance(instance, np.ndarray | np.generic):
        return instance.tolist()
    return str(instance) if isinstance(instance, Fraction) else instance
