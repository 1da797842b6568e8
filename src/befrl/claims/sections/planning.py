"""Appendix F: random Fourier features of the kernel, and how many of them a transition law takes."""

from fractions import Fraction

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr, ndtri

from befrl.claims.toolbox.batches import evidence_of
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.search import Worst, search

NODES, WEIGHTS = hermegauss(32)
ZERO = {"psi": np.zeros((2, 1)), "v": np.zeros(1)}  # two states with the same features: P = 1/2


def draw_law(rng, largest=2.0):
    """Random features psi (S, p) and natural parameters v (p,), of many sizes."""
    S, p = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    psi, v = rng.standard_normal((S, p)), rng.standard_normal(p)
    sizes = largest * 10.0 ** rng.uniform(-2, 0, 2)
    psi, v = sizes[0] * psi / np.linalg.norm(psi, axis=1).max(), sizes[1] * v / np.linalg.norm(v)
    return {"psi": np.abs(psi) if rng.random() < 0.5 else psi, "v": v}


def log_factors(psi, v):
    """|psi|^2/2 (S,), |v|^2/2 and -Z, the logarithms of the factors that lead from k(psi, v) to exp(psi'v - Z)."""
    return (psi**2).sum(-1) / 2, v @ v / 2, -np.logaddexp.reduce(psi @ v)


ALL = ("psi", "v", "Z")


def fourier_law(rng, trials, factors=(), sigma=1.0, phases=(0.0, 0.5, 1.0, 1.5), target="law"):
    """C66: P(s'|s,a) = E[f(psi) f(M phi)]."""

    def violation(case):
        if case is ZERO and target == "law":  # the mean of 2 cos(b)^2 is 1
            return abs(1 / (Fraction(1) if "Z" in factors else Fraction(1, 2)) - 1)
        return _largest_ratio(case["psi"], case["v"], factors, sigma, np.pi * np.array(phases), target)

    return search(rng, trials, draw_law, violation, edges=[ZERO], climb=False)


def _largest_ratio(psi, v, factors, sigma, phases, target):
    """The largest |mean of f(psi) f(v), with these factors, / target - 1| over the states."""
    if target == "equal norms":
        psi = psi / np.maximum(np.linalg.norm(psi, axis=1, keepdims=True), 1e-300)
    mean, logs = _mean_product(psi, v, sigma, phases), dict(zip(ALL, log_factors(psi, v), strict=True))
    mean = mean * np.exp(sum(logs[name] for name in factors))
    if target == "kernel":
        return float(np.abs(mean / np.exp(-((psi - v) ** 2).sum(-1) / (2 * sigma**2)) - 1).max())
    mass = 1.0 if target == "law" else mean.sum()
    return float(np.abs(mean / mass / np.exp(psi @ v + logs["Z"]) - 1).max())


def _mean_product(psi, v, sigma, phases):
    """E[f(psi) f(v)] for every state, (S,): integrals over the two coordinates of w in the plane of psi and v."""
    length = np.linalg.norm(v)
    along = psi @ v / max(length, 1e-300)
    across = np.sqrt(np.maximum((psi**2).sum(-1) - along**2, 0))
    weights = np.outer(WEIGHTS, WEIGHTS) / (2 * np.pi)
    of_v = length / sigma * NODES[:, None, None] + phases
    of_psi = (along[:, None, None] * NODES[:, None] + across[:, None, None] * NODES) / sigma
    products = 2 * np.cos(of_psi[..., None] + phases) * np.cos(of_v)
    return (products.mean(-1) * weights).sum((1, 2))


STEP = 128  # the grid of the products has steps of 1/128
TEN = {"psi": np.zeros((10, 1)), "v": np.zeros(1)}  # P = 1/10, and the kernel is 1
ERRORS = np.linspace(0.02, 2.0, 60)


def pointwise_rate(rng, trials, target="law", divisor=4, scaled=True):
    """C67: Hoeffding rate 2 exp(-N eps^2 / 4)."""

    def violation(case):
        centre, c, mass = _product_law(case["psi"], case["v"], target)
        squares = (ERRORS * (1.0 if scaled else c)) ** 2
        return float(max((_tails(mass, centre, N) - 2 * np.exp(-N * squares / divisor)).max() for N in (1, 4, 32)))

    return search(rng, 2 + trials // 16, draw_law, violation, edges=[TEN, _distant(3.0), _distant(6.0)], climb=False)


def _product_law(psi, v, target):
    """The target, the factor c, and the law of the product on the grid, for the state with the largest |psi|."""
    if target == "coin":
        return 0.0, 1.0, _coin()
    half_psi, half_v, minus_Z = log_factors(psi, v)
    i = int(half_psi.argmax())
    distance = np.linalg.norm(psi[i] - v)
    centre = np.exp(psi[i] @ v + minus_Z if target == "law" else -(distance**2) / 2)
    return centre, np.exp(half_psi[i] + half_v + minus_Z), _product(distance)


def _coin():
    """The law of a fair coin with values -2 and 2 on the grid."""
    mass = np.zeros(4 * STEP + 1)
    mass[[0, -1]] = 0.5
    return mass


def _product(distance):
    """The law of f(x) f(y) = cos(w'(x - y)) + cos(U) on the grid of [-2, 2], for points at this distance."""
    share = (np.arange(4096) + 0.5) / 4096
    angles = distance * ndtri(share), 2 * np.pi * share
    places = [np.rint((np.cos(angle) + 1) * STEP).astype(int) for angle in angles]
    return np.convolve(*[np.bincount(place, minlength=2 * STEP + 1) / 4096 for place in places])


def _tails(mass, centre, N):
    """P(|mean of N - centre| >= error) for all ERRORS, up to the steps of the grid."""
    length = (len(mass) - 1) * N + 1
    law = np.fft.irfft(np.fft.rfft(mass, 2 * length) ** N, 2 * length)[:length]
    distance = np.abs(np.arange(length) / (STEP * N) - 2 - centre)
    order = np.argsort(distance)
    inside = np.append(0.0, np.cumsum(law[order]))
    return 1 - inside[np.searchsorted(distance[order], ERRORS - 1e-9)]


def uniform_convergence(rng, trials, phase=True, law=False, constant=2.0**8, rate=None, wide=False):
    """C68: The uniform error bound of N random Fourier features of the kernel.

    phase: the paper's map, with random phases, or else pairs (cos, sin); wide: only epsilon <= sigma_p diam.
    """
    worst, runs = Worst(), 200 + 2 * trials
    cases = [*BALLS, *(_draw_ball(rng) for _ in range(12))]
    for p, diameter, N, epsilon in cases:
        hits = int((_largest_errors(rng, runs, p, diameter, N, phase, law) >= epsilon).sum())
        if wide and epsilon > np.sqrt(p) * diameter:
            continue
        exponent = N * epsilon**2 * (rate or 1 / (4 * (p + 2)))
        bound = constant * p * (diameter / epsilon) ** 2 * np.exp(-exponent)
        case = {"p": p, "diameter": diameter, "N": N, "epsilon": epsilon, "counted": hits / runs}
        worst.see(lower_limit(hits, runs, LEVEL / len(cases)) - bound, case)
    worst.number *= runs
    return evidence_of(worst, grade="test")


# p, diameter, N and epsilon: one point, the ends of the constants, and a large ball
BALLS = [
    (1, 0.0, 4, 0.25),
    (1, 1.0, 1, 1.0),
    (1, 2.0, 1, 1.0),
    (1, 4.0, 10, 0.5),
    (2, 1.0, 4, 1.0),
    (1, 6.0, 1000, 0.5),
]


def _draw_ball(rng):
    """A random dimension, diameter, number of features and epsilon."""
    return int(rng.integers(1, 4)), 10 ** rng.uniform(-1, 1), int(rng.choice((1, 3, 10, 30))), rng.uniform(0.1, 1.5)


def _largest_errors(rng, runs, p, diameter, N, phase, law, points=12):
    """The largest error of each run over pairs of points in a ball: x and -x, or, for laws, a state and x."""
    w, b = rng.standard_normal((runs, N, p)), rng.uniform(0, 2 * np.pi, (runs, N, 1))
    x = rng.standard_normal((points, p))
    x *= diameter / 2 * np.linspace(0, 1, points)[:, None] / np.linalg.norm(x, axis=1, keepdims=True)
    state = diameter / 2 * np.eye(p)[0]
    y = np.broadcast_to(state, x.shape) if law else -x
    estimate = np.cos(w @ (x - y).T)
    if phase:
        estimate += np.cos(w @ (x + y).T + 2 * b)
    c = np.exp((x**2 + y**2).sum(1) / 2) / (2 * np.cosh(x @ state)) if law else 1.0
    return np.abs(c * (estimate.mean(1) - np.exp(-((x - y) ** 2).sum(1) / 2))).max(1)


def diameter_in_the_count(rng, trials, power=None, kernel=False, tame=False, of_states=True, C=1000.0):
    """C69: The diameter enters only logarithmically."""

    def violation(case):
        psi, v, epsilon, p = case["psi"], case["v"], case["epsilon"], len(case["v"])
        c, spread = np.exp(sum(log_factors(psi, v))), np.linalg.norm(psi - v, axis=1)
        diameter = max(2 * spread.max(), epsilon * np.e)  # an upper bound, not below the range of the logarithm
        N = C * p / epsilon**2 * np.log(diameter / epsilon)
        if power:
            N = enough(p, epsilon, diameter, c.max() if of_states else np.exp(sum(log_factors(psi, v)[1:])), power)
        failure = _least_failure(1.0 if kernel else c, spread, epsilon, np.ceil(N)).max()
        return float(failure - 0.5) if not tame or c.max() <= 1 else -0.5

    return search(rng, trials, _draw_accuracy, violation, edges=[_distant(4.0), _distant(6.0)], climb=False)


def _draw_accuracy(rng):
    """A random law, and the accuracy epsilon that is wanted."""
    return draw_law(rng, 5.0) | {"epsilon": 10 ** rng.uniform(-2, -0.3)}


def _distant(R):
    """The two states psi = 0 and R, for v = 0 and epsilon = 1/4."""
    return {"psi": np.array([[0.0], [R]]), "v": np.zeros(1), "epsilon": 0.25}


def enough(p, epsilon, diameter, c, power=2, risk=0.5):
    """The number of pairs of features for which C68, with epsilon / c, gives an error with this probability."""
    logarithm = np.log(np.maximum(2**8 * p * (c * diameter / epsilon) ** 2 / risk, 2))
    return 4 * (p + 2) * c**power / epsilon**2 * logarithm


def _least_failure(c, spread, epsilon, N):
    """A lower limit of P(c |mean of N cos(w'(psi - v)) - k| >= epsilon), for every state."""
    deviation = np.maximum((1 - np.exp(-(spread**2))) / np.sqrt(2), 1e-12)
    return 2 * ndtr(-epsilon * np.sqrt(N) / (c * deviation)) - 4 * 0.4748 / (deviation * np.sqrt(N))
