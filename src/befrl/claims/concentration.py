"""Concentration and anti-concentration of the exploration noise."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaincinv, ndtr

from befrl.claims.toolbox.registry import Finding, Worst, claim, decide

SECTION = "Concentration"
TOLERANCE = 1e-10  # far above the rounding error of `tail_probability`, which is 1e-15
DRAWS = 10_000  # simulated noises per direction
DIMENSIONS = (1, 2, 3, 5, 10, 30, 60)


@claim(
    "C31",
    section=SECTION,
    where="lem:gaussian_anti_concentration, L1059",
    statement="For xi ~ N(0, I_d) and |u| = 1: P(u'xi >= 1) >= Phi(-1).",
)
def gaussian_anti_concentration(rng, trials):
    """The claim is true, with equality: u'xi ~ N(0, |u|^2), so P(u'xi >= 1) = Phi(-1/|u|).

    Neither attack uses this: one inverts the product of the coordinates' characteristic functions, the other
    counts simulated noises.
    """
    return weakest_direction(rng, trials)


def weakest_direction(rng, trials, length=1.0, first_deviation=1.0):
    """Search for the direction u with the smallest P(u'xi >= 1), among those with |u| = length.

    xi is standard normal, except that xi_1 has standard deviation `first_deviation`. In the lemma both arguments
    are 1; other values show that the search detects violations.
    """
    bound = float(ndtr(-1.0))
    weakest, equality = Worst(), 0.0
    level = 1e-6 / (trials + 1)
    counted, upper = 0, 1.0
    for u in _directions(rng, trials, length, first_deviation):
        p = tail_probability(_spread(u, first_deviation))
        weakest.see(-p, {"u": u.tolist(), "first_deviation": first_deviation})
        equality = max(equality, abs(p - bound))
    for _ in range(trials):
        u = _direction(rng, rng.choice(DIMENSIONS), length)
        hits = int((rng.standard_normal((DRAWS, len(u))) @ _spread(u, first_deviation) >= 1.0).sum())
        upper = min(upper, _upper_limit(hits, DRAWS, level))
        counted += hits
    upper = min(upper, _upper_limit(counted, trials * DRAWS, level))
    smallest = -weakest.value
    shortfall, counted_shortfall = bound - smallest, bound - upper
    return Finding(
        verdict=decide(max(shortfall, counted_shortfall), tolerance=TOLERANCE),
        worst_case=smallest,
        meaning=f"smallest P(u'xi >= 1) found; at least Phi(-1) = {bound:.9f} is claimed (to {TOLERANCE:g})",
        instance=weakest.instance,
        rule=f"holds if no integrated probability is below Phi(-1) - {TOLERANCE:g} and no upper confidence "
        "limit (joint level 1e-6) of a counted one is below Phi(-1); fails otherwise",
        details={
            "largest |P - Phi(-1)|": equality,
            "counted frequency, all directions": counted / (trials * DRAWS),
            "its standard error": float(np.sqrt(bound * (1 - bound) / (trials * DRAWS))),
            "smallest upper limit of a counted probability": upper,
            **_other_readings(rng, trials),
        },
    )


def tail_probability(scales, level=1.0):
    """Tail probability of a weighted sum of independent standard normal xi_i, by Gil-Pelaez inversion.

        P(sum_i scales_i xi_i >= level)
            = 1/2 - (1/pi) int_0^inf sin(t level) prod_i exp(-scales_i^2 t^2 / 2) / t dt.

    The error of the midpoint rule with step h is the mass beyond 2 pi/h - level, here 125, plus the integral
    beyond t = 90; for 0.1 < |scales| < 10 both are far below rounding.
    """
    h = 0.05
    t = h * (np.arange(1800) + 0.5)
    factors = np.exp(-0.5 * np.multiply.outer(t * t, np.square(scales)))
    return float(0.5 - (h / np.pi) * (np.sin(t * level) / t * factors.prod(-1)).sum())


def _directions(rng, trials, length, first_deviation):
    """Edge cases, random directions of many dimensions and shapes, and the results of local searches."""
    for d in DIMENSIONS:
        first = np.eye(d)[0] * length
        yield from (first, -first, np.eye(d)[-1] * length, np.full(d, length / np.sqrt(d)))
    for _ in range(trials):
        yield _direction(rng, rng.choice(DIMENSIONS), length)
    for _ in range(max(1, trials // 20)):
        start = rng.standard_normal(rng.integers(2, 6))

        def probability(v):
            return tail_probability(_spread(_scaled(v, length), first_deviation))

        found = minimize(probability, start, method="Nelder-Mead", options={"maxfev": 150})
        yield _scaled(found.x, length)


def _direction(rng, d, length):
    """A random direction: dense, sparse, nonnegative or geometrically decaying."""
    v = rng.standard_normal(d)
    shape = rng.integers(4)
    if shape == 1:
        v = np.where(rng.random(d) < 0.7, 0.0, v)
        v[rng.integers(d)] = 1.0
    elif shape == 2:
        v = np.abs(v)
    elif shape == 3:
        v = v * 0.3 ** np.arange(d)
    return _scaled(v, length)


def _scaled(v, length):
    return length * v / np.linalg.norm(v)


def _spread(u, first_deviation):
    scales = np.array(u)
    scales[0] *= first_deviation
    return scales


def _upper_limit(hits, draws, level):
    """Clopper-Pearson upper confidence limit of a probability."""
    return 1.0 if hits == draws else float(betaincinv(hits + 1, draws - hits, 1 - level))


def _other_readings(rng, trials):
    """The smallest probabilities if |u| is another norm, and in the form that the algorithm uses.

    The algorithm uses P(u'xi >= sqrt(x) |u|_{G^-1}) with xi ~ N(0, x G^-1). With the norm of G^-1 but
    xi ~ N(0, I), the probability would depend on G.
    """
    l1 = largest = used = mixed = 1.0
    for _ in range(max(1, trials // 4)):
        d = rng.choice((2, 3, 5, 10))
        v = rng.standard_normal(d)
        flat = np.full(d, 1.0 / d)
        l1 = min(l1, tail_probability(v / np.abs(v).sum()), tail_probability(flat))
        largest = min(largest, tail_probability(v / np.abs(v).max()), tail_probability(np.eye(d)[0]))
        root = rng.standard_normal((d, d)) + 2.0 * np.eye(d)
        G = root @ root.T / d + 0.3 * np.eye(d)
        norm = np.sqrt(v @ np.linalg.solve(G, v))
        whitened = np.linalg.solve(np.linalg.cholesky(G), v)  # v'xi = sqrt(x) whitened'(standard normal)
        used = min(used, tail_probability(whitened / norm))
        mixed = min(mixed, tail_probability(v / norm))
    return {
        "smallest P if |u|_1 = 1": l1,
        "smallest P if |u|_inf = 1": largest,
        "smallest P(u'xi >= sqrt(x) |u|_{G^-1}), xi ~ N(0, x G^-1)": used,
        "smallest P if |u|_{G^-1} = 1 but xi ~ N(0, I)": mixed,
    }
