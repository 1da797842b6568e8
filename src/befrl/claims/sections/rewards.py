"""Appendix D.3: transport of expected rewards between parameters, and its use in the proofs."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.calculus import nearest_to
from befrl.claims.toolbox.laws import REWARDS, draw_reward, moved, reward_vector
from befrl.claims.toolbox.search import search


def reward_transportation(rng, trials, factor=Fraction(1, 2), segment=False):
    """C39: E_1[r] - E_2[r] = Var/2 * B' M phi."""

    def gap(law):
        if law is EXAMPLE:
            return abs(1 - Fraction(factor))  # E_1 - E_2 = 1 and Var = 1
        family, (c1, c2, points) = REWARDS[law["kind"]], _allowed(law, segment)
        difference = family.mean(c1) - family.mean(c2)
        if abs(c1 - c2) < 1e-4 or abs(difference) < 1e-8 * (1 + abs(family.mean(c1))):
            return 0.0  # rounding, or both sides saturated
        _, distance = nearest_to(difference, lambda c: float(factor) * family.variance(c) * (c1 - c2), points)
        return float(distance / abs(difference))

    return search(rng, trials, draw_reward, gap, edges=[EXAMPLE], move=moved)


EXAMPLE = {"kind": "gaussian", "phi": [1.0], "A": [[[1.0]]], "B": [1.0], "theta": [1.0], "other": [0.0]}


def _allowed(law, segment):
    """c_1, c_2 and a grid of all c_3 = x'theta_3 with theta_3 on the segment, or else in the hypercube."""
    ends = reward_vector(law) * np.array([law["theta"], law["other"]])
    c1, c2 = ends.sum(1)
    low, high = (min(c1, c2), max(c1, c2)) if segment else (ends.min(0).sum(), ends.max(0).sum())
    points = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(high), 257))  # denser where the variance changes
    return c1, c2, np.union1d(points, np.clip([c1, c2, 0.0], low, high))


def reward_by_feature_norm(rng, trials, power=2, factor=1, smallest=0, spectral=False):
    """C40: Var |B' M phi| <= beta^r ||.|| ||a||_{G^-1} for any B."""

    def violation(case):
        delta, a, B = (np.asarray(case[key]) for key in ("delta", "a", "B"))
        size = B @ B
        if size < smallest**2:
            B, size = B * (smallest / np.sqrt(float(size))), smallest**2
        left = (delta @ (a @ B)) ** 2
        of_a = np.linalg.norm(a.astype(float), 2) ** 2 if spectral else (a**2).sum()
        of_product = ((a @ B) ** 2).sum() if power is None else factor**2 * size**power * of_a
        return 1 - (delta @ delta) * of_product / left if left else 0

    return search(rng, trials, _draw_product, violation, edges=PRODUCTS)


ONE = Fraction(1)
PRODUCTS = [{"delta": [ONE], "a": [[ONE]], "B": [ONE / 2]}, {"delta": [ONE], "a": [[ONE, ONE]], "B": [ONE, ONE]}]


def _draw_product(rng):
    """Random Delta, a and B in one to five dimensions, with B of many sizes."""
    d, p = rng.integers(1, 6, 2)
    scale = 10.0 ** rng.uniform(-3, 3)
    return {"delta": rng.standard_normal(d), "a": rng.standard_normal((d, p)), "B": scale * rng.standard_normal(p)}
