"""Covariances and variances of exponential laws, their extremes between two parameters, and KL of the two laws."""

from fractions import Fraction

import numpy as np
from scipy.special import softmax

from befrl.claims.toolbox.laws import REWARDS


def covariance(psi, v):
    """The covariance of psi (S, p) under p(s) ~ exp(psi(s)'v), v (..., p) -> (..., p, p)."""
    mass = softmax(v @ psi.T, axis=-1)
    centred = psi - (mass @ psi)[..., None, :]
    return np.swapaxes(centred, -1, -2) @ (mass[..., None] * centred)


def exp_rest(x):
    """e^x - 1 - x, to rounding error also for small x."""
    small = x**2 / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6))))
    return np.where(np.abs(x) < 1e-2, small, np.expm1(x) - x)


def g(x):
    """(e^x - 1 - x)/x^2, which increases and is 1/2 at 0; for x that are 0 or not tiny."""
    return np.where(x == 0, 0.5, exp_rest(x) / np.where(x == 0, 1.0, x) ** 2)


def divergence(psi, mass, w):
    """KL of a law with these masses (S,) and the law tilted by exp(psi'w), psi (S, p), w (..., p), as a sum of
    nonnegative terms.
    """
    return np.log1p(exp_rest(w @ (psi - mass @ psi).T) @ mass)


def draw_segment(rng, p=None):
    """A random psi (S, p), or indicators, and two points v and w of R^p; p is random if None."""
    p = p or int(rng.integers(1, 5))
    psi = rng.standard_normal((rng.integers(p + 1, p + 5), p)) if rng.random() < 0.8 else np.eye(p + 1)[:, :p]
    v = rng.standard_normal(p)
    return {"psi": psi, "v": v, "w": v + 10.0 ** rng.uniform(-1, 0.7) * rng.standard_normal(p)}


def segment(case):
    """The eigenvalues of the covariances between v and w, the squared distance of v and w, and KL of the two laws."""
    if "cov" in case:  # Gaussian laws, exactly: the diagonal of their covariance, and w - v
        squares = np.square(case["delta"])
        return [case["cov"]], squares.sum(), np.dot(case["cov"], squares) / 2
    psi, v, w = (np.asarray(case[key]) for key in ("psi", "v", "w"))
    spectra = np.linalg.eigvalsh(covariance(psi, v + np.linspace(0, 1, 33)[:, None] * (w - v)))
    KL = np.subtract(*np.logaddexp.reduce(psi @ np.stack([w, v]).T)) - softmax(psi @ v) @ psi @ (w - v)
    return spectra, np.square(w - v).sum(), KL


def draw_reward_segment(rng, p=None):
    """A random reward family, B, c = B'M phi at the first parameter, and the change of M phi; p is random if None."""
    p = p or int(rng.integers(1, 5))
    delta = 10.0 ** rng.uniform(-1, 0.5) * rng.standard_normal(p)
    kind, c = str(rng.choice(list(REWARDS))), rng.normal(0, 2)
    return {"kind": kind, "B": rng.standard_normal(p), "c": c, "delta": delta}


def reward_segment(case):
    """B, the change of M phi, the smallest variance between the two parameters, and KL of the two laws.

    The variances of these families have no minimum between two parameters: the smaller one at the ends counts.
    """
    B, delta = np.asarray(case["B"]), np.asarray(case["delta"])
    if case["kind"] == "unit":  # Gaussian rewards of variance 1, exactly
        return B, delta, Fraction(1), (B @ delta) ** 2 / 2
    family, ends = REWARDS[case["kind"]], case["c"] + np.array([0.0, B @ delta])
    KL = np.subtract(*family.log_partition(ends)[::-1]) - B @ delta * family.mean(ends[0])
    return B, delta, family.variance(ends).min(), KL
