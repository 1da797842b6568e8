"""Theorem 1 against its lemmas: the order of every printed term in d, H and K, and its constants."""

import itertools
import math

import numpy as np

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.search import Worst
from befrl.model.theorem import TERMS, terms

# Random constants for the printed terms of Theorem 1.
CONSTANTS = ("alpha_p", "beta_p", "alpha_r", "beta_r", "eta", "B_phi_A", "A", "B_A", "delta", "c")


def draw_constants(rng, n):
    """Random constants (n,): alpha <= beta, eta, B_phi_A, |bold A|_2, B_A, delta and c."""
    found = {name: 10.0 ** rng.uniform(-1, 1, n) for name in CONSTANTS}
    for i in "pr":
        found[f"beta_{i}"] = found[f"alpha_{i}"] * 10.0 ** rng.uniform(0, 1, n)
    return found | {"delta": 10.0 ** rng.uniform(-6, -0.5, n)}


FAR = 40 * math.log(10)  # orders are read off between L = 10^40 and L = 10^80
GRID = [(u, v, 6 - u - v) for u, v in itertools.product(range(7), repeat=2) if u + v <= 6]
BAD = TERMS[-2:]  # estimation and learning
ALL_BAD = {"theorem": BAD, "lemma": BAD, "estimation": BAD[:1]}
STATEMENTS = ("theorem", "estimation", "lemma")


def _growths(rng, trials, quantity):
    """How the logarithm of a quantity grows between the two L, if (d, H, K) = L^u, for many directions u (n, 3)."""
    u = np.concatenate([np.array(GRID) / 6, rng.dirichlet(np.ones(3), trials)])
    constants = draw_constants(rng, len(u))
    sizes = (dict(zip("dHK", np.exp(size * u.T), strict=True)) for size in (FAR, 2 * FAR))
    near, far = (np.log(quantity(constants | size)) for size in sizes)
    return u, far - near


def cost_of_bad_rounds(rng, trials, rate=(1.5, 2, 0), of=ALL_BAD):
    """C59: The cost of bad rounds, as stated in three places."""
    worst = Worst()
    for statement, name in ((statement, name) for statement, names in of.items() for name in names):
        u, growth = _growths(rng, trials, lambda z, s=statement, n=name: terms(z)[s][n])
        see_largest(worst, growth / FAR - u @ np.array(rate), {"u": u, "term": f"{statement}: {name}"})
    return evidence_of(worst)


def rate_of_the_formula(
    rng, trials, rate=(1.5, 1.5, 0.5), floor=(0, 0, 0), part=TERMS, logs=True, capped=True, equal=False
):
    """C63: The formula's rate is sqrt(d^3 H^3 K), up to logarithms and with R(K) <= HK."""
    worst = Worst()
    u, growth = _growths(rng, trials, lambda z: sum(terms(z)["theorem"][name] for name in part))
    growth = np.minimum(growth, FAR * (u[:, 1] + u[:, 2])) if capped else growth
    over = (growth - FAR * np.maximum(u @ np.array(rate), u @ np.array(floor))) / (FAR if logs else 1)
    see_largest(worst, np.abs(over) if equal else over, {"u": u})
    return evidence_of(worst)


def constants_of_the_terms(rng, trials, names=TERMS, statements=STATEMENTS, printed=None, summed=False):
    """C64: The constants of the three statements of the same term agree."""
    worst, z = Worst(), _draw_sizes(rng, 10 + trials)
    found = terms(z)
    found["repaired"] |= {name: found["theorem"][name] for name in TERMS if name == printed}
    for name in () if summed else names:
        values = [found[statement][name] for statement in statements if name in found[statement]]
        see_largest(worst, np.log(np.max(values, 0) / np.min(values, 0)), z | {"term": name})
    if summed:
        see_largest(worst, np.log(sum(found["lemma"].values()) / sum(found["theorem"].values())), z)
    return evidence_of(worst)


def _draw_sizes(rng, n):
    """Random constants, d, H and K; the first is an edge in which the noise rules: many episodes, small alpha_r."""
    sizes = {key: np.floor(10.0 ** rng.uniform(0, top, n)) for key, top in (("d", 3), ("H", 4), ("K", 9))}
    z = draw_constants(rng, n) | sizes
    for key, value in {"d": 100, "H": 1e4, "K": 1e9, "alpha_r": 0.1, "beta_r": 1, "delta": 1e-3, "c": 2}.items():
        z[key][0] = value
    return z
