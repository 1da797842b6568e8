"""Appendix F and Section 4, Planning: what an approximate transition law costs, in values, operations and regret."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import expit, ndtr

from befrl.claims.sections.planning import enough
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import search


def error_recursion(rng, trials, size="sup", values="printed", form="linear", factor=1):
    """C70: The planning-error recursion and its solution."""
    reading = size, values, form, factor
    draw, edges = _draw_chain, _exact_chains()
    return search(rng, trials, draw, lambda case: _excess(case, *reading), edges=edges, climb=False)


def _excess(case, size, values, form, factor):
    """The error of the values in the first step minus its bound, as a share of H."""
    P, error, r = (np.asarray(case[key]) for key in ("P", "error", "r"))
    H = 2 if form == "one step" else case["H"]
    V, V_hat = _values(P, r, H), _values(P + error, r, H)
    if values == "printed":
        D = case["d"] * upper_power(H, 3)
    else:
        D = max((abs(v).max() if values == "sup" else v.max() - v.min() for v in V[1:]), default=0)
    e = {"sup": abs(error).max(), "rows": abs(error).sum(1).max(), "times S": abs(error).max() * len(r)}[size]
    forms = {"power": (1 + e) ** (H - 1) - 1, "linear": e * H, "one step": e}
    bound = forms[form] if form in forms else e * H * sum(e**j for j in range(H - 1))
    return (abs(V_hat[0] - V[0]).max() - factor * D * bound) / H


def upper_power(H, n):
    """H^(n/2), rounded up to a fraction."""
    return Fraction(math.isqrt(H**n * 10**6) + 1, 1000)


def _values(P, r, H):
    """V_1, ..., V_H for transitions P (S, S) and rewards r (S,)."""
    V = [r]
    for _ in range(H - 1):
        V.append(r + P @ V[-1])
    return V[::-1]


def _draw_chain(rng):
    """A random chain, rewards and errors of its transitions, with entries of one size or of many."""
    S, H = int(rng.integers(1, 7)), int(rng.integers(1, 11))
    error = 10 ** rng.uniform(-3, 0) * rng.uniform(-1, 1, (S, S)) ** int(rng.choice((1, 3)))
    return {"P": rng.dirichlet(np.ones(S), S), "error": error, "r": rng.uniform(0, 1, S), "H": H, "d": S**2}


def _exact_chains():
    """One state; ten states with equal errors; and ten in a row, of which the ninth has the reward."""
    one, equal = np.array([[Fraction(1)]]), np.full((10, 10), Fraction(1, 10))
    row = np.eye(10, k=1).astype(int) * Fraction(1)
    row[-1, -1] = Fraction(1)
    last = np.array([Fraction(i == 8) for i in range(10)])
    yield {"P": one, "error": one / 10, "r": one[0], "H": 2, "d": 1}
    yield {"P": equal, "error": equal, "r": 10 * equal[0], "H": 2, "d": 1}
    yield {"P": row, "error": row / 2, "r": last, "H": 9, "d": 100}


def features_that_suffice(rng, trials, count="printed", power=2, largest=np.inf, C=1000.0):
    """C71: O(p H^2 K log(HK)) features suffice."""

    def violation(case):
        R, v, K, H = min(case["R"], largest), min(case["v"], largest), case["K"], 2
        c = np.exp(R**2 / 2 + np.array([0, v**2 / 2 - np.logaddexp(0, R * v) + np.log(2)])) / 2
        N = C * H**2 * K * np.log(H * K) if count == "printed" else c.max() ** 2 * H**2
        if count == "c":
            N = enough(1, 1 / (2 * H * np.sqrt(K)), max(R, v), c.max(), power, 1 / np.sqrt(K))
        gap = expit(R * v) - 0.5
        return float((K * gap * _least_mistake(R, v, c, gap, np.ceil(N)) - 10 * np.sqrt(H**3 * K)) / (H * K))

    return search(rng, trials, _draw_two, violation, edges=[{"R": 9.0, "v": 0.2, "K": 1e7}], climb=False)


def _draw_two(rng):
    """Random R, v and K of the example."""
    return {"R": rng.uniform(0.1, 8), "v": 10 ** rng.uniform(-2, 0.5), "K": 10 ** rng.uniform(2, 9)}


def _least_mistake(R, v, c, gap, N):
    """A lower limit of P(mean of N of c_1 cos(w(R - v)) - c_0 cos(wR) < 0), whose expectation is the gap."""
    k = np.exp(-(np.array([R, R - v]) ** 2) / 2)
    both = np.exp(-(v**2) / 2) + np.exp(-((2 * R - v) ** 2) / 2)
    deviation = np.sqrt((c**2 * (1 + k**4)).sum() / 2 - c[0] * c[1] * both - gap**2)
    return max(0.0, ndtr(-gap * np.sqrt(N) / deviation) - 0.4748 * (c.sum() + gap) / (deviation * np.sqrt(N)))


def operations_of_a_plan(rng, trials, bound="NH", method="features", factor=2, without=""):
    """C72: Planning costs O(p H^3 K log(HK))."""

    def violation(case):
        N, H = math.ceil(case["p"] * case["H"] ** 2 * case["K"] * math.log(case["H"] * case["K"])), case["H"]
        S, A, p = (int(name != "p") if name == without else case[name] for name in "SAp")
        bounds = {"NH": 100 * N * H, "NHSA": factor * N * (H + p) * S * A, "exact": H * case["S"] * S * A}
        return Fraction(_multiplications(case, N, method), bounds[bound]) - 1

    return search(rng, trials // 8, _draw_sizes, violation, edges=PLANS, climb=False)


PLANS = [{"S": 20, "A": 20, "p": 1, "H": 2, "K": 2}, {"S": 20, "A": 1, "p": 9, "H": 2, "K": 1}]


def _draw_sizes(rng):
    """Random numbers of states and actions, p, H and K."""
    S, A, p, H, K = (int(rng.integers(low, high)) for low, high in ((1, 13), (1, 13), (1, 6), (2, 6), (1, 4)))
    return {"S": S, "A": A, "p": p, "H": H, "K": K}


def _multiplications(case, N, method):
    """The multiplications of a plan with N random features, or with the same law by sums over S."""
    S, A, p, H = (case[name] for name in "SApH")
    rng, counted = np.random.default_rng(S * A), []

    def product(a, b):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return a @ b

    w, psi, v, r = (rng.standard_normal(shape) for shape in ((p, N), (S, p), (S * A, p), (S, A)))
    left, right = (np.cos(product(x, w)) / N for x in (v, psi))
    law, V, check = left @ right.T, r.max(1), r.max(1)
    if method == "exact":
        counted.clear()
    for _ in range(H - 1):
        expected = product(law, V[:, None]) if method == "exact" else product(left, product(right.T, V[:, None]))
        V, check = (r + expected.reshape(S, A)).max(1), (r + (law @ check).reshape(S, A)).max(1)
    if not np.allclose(V, check):
        raise ArithmeticError("the two plans differ")
    return sum(counted)


def regret_of_approximation(rng, trials, form="printed", size="times S", factor=2):
    """C73: Extra regret O(eps d H^{5/2} K)."""

    def violation(case):
        P, error, r, H = *(np.asarray(case[key]) for key in ("P", "error", "r")), case["H"]
        (V, _), (_, policy) = _optimal(P, r, H), _optimal(P + error, r, H)
        largest = abs(error).max()
        bound = 10 * largest * case["d"] * upper_power(H, 5)
        if form == "both":
            e = {"sup": largest, "times S": largest * len(r), "rows": abs(error).sum(-1).max()}[size]
            bound = factor * max((v.max() for v in V[1:]), default=0) * ((1 + e) ** (H - 1) - 1)
        return (V[0] - _followed(P, r, policy)).max() - bound

    return search(rng, trials, _draw_errors, violation, edges=[_hundred_states()], climb=False)


def _optimal(P, r, H):
    """V_1, ..., V_H and the greedy actions (S,) of each step, for r (S, A) and P (S or 1, A, S), not always a law."""
    V, policy = [0 * r[:, 0]], []
    for _ in range(H):
        Q = r + P @ V[0]
        V.insert(0, Q.max(1))
        policy.insert(0, Q.argmax(1))
    return V[:-1], policy


def _followed(P, r, policy):
    """The values of a policy in the first step."""
    V, S = 0 * r[:, 0], np.arange(len(r))
    for actions in reversed(policy):
        V = (r + P @ V)[S, actions]
    return V


def _draw_errors(rng):
    """A random law of the family with d = p = 1, rewards, and errors of its transitions."""
    S, A, H = (int(rng.integers(low, high)) for low, high in ((1, 9), (2, 4), (1, 7)))
    P = np.exp(rng.standard_normal(S) * rng.standard_normal((S, A, 1)) * rng.uniform(0, 3))
    error = 10 ** rng.uniform(-3, 0) * rng.uniform(-1, 1, P.shape) ** int(rng.choice((1, 3)))
    return {"P": P / P.sum(-1, keepdims=True), "error": error, "r": rng.uniform(0, 1, (S, A)), "H": H, "d": 1}


def _hundred_states():
    """The example, in fractions: P (1, 2, 100) does not depend on the state."""
    half = np.repeat([Fraction(1), Fraction(0)], 50)
    P = np.array([half * share + (1 - half) * (1 - share) for share in (Fraction(7, 10), Fraction(1, 2))]) / 50
    error = np.array([-half, half]) / 400
    return {"P": P[None], "error": error[None], "r": np.stack([half, half], 1), "H": 2, "d": 1}


def linear_algorithms(rng, trials, what="regret", radius="determinant", features="N", scale=1.0):
    """C74: Linear-MDP algorithms on random Fourier features incur a linear regret."""
    if what != "regret":
        violation = {"bound": _bound_below_trivial, "clipped": _index_below_limit}[what]
        edges = [{"p": 1, "H": 2, "K": K} for K in (2, 10**12)]
        return search(rng, trials, _draw_counts, lambda case: violation(case, features), edges=edges, climb=False)
    runs, K, H = 40 + trials, 900, 2
    N, v = math.ceil(H**2 * K * math.log(H * K)), rng.uniform(1.5, 3, runs)
    product = np.zeros(runs)  # of the two actions' unit features
    if features != "one-hot":
        frequencies = (rng.standard_normal((N if features == "N" else features) // 2) for _ in v)
        product = np.array([np.cos(2 * x * w).mean() for x, w in zip(v, frequencies, strict=True)])
    bonus = N * H * math.sqrt(math.log(2 * N * H * K)) if radius == "dimension" else None
    thirds = _least_squares(rng, product, expit([-v, v]), K, bonus, scale).reshape(3, -1, runs).sum(1)
    fell = int((thirds[2] < thirds[0] / 2).sum())
    proven = {f"K = 10^{n}": float(_proven(10.0**n) / (10.0**n * H)) for n in (4, 6, 8, 10)}
    details = {"mean regret of each third": thirds.mean(1).tolist(), "proven bound / HK": proven}
    return Evidence(lower_limit(fell, runs, LEVEL) - 0.5, {"K": K, "N": N, "H": H}, "test", runs, details=details)


def _least_squares(rng, product, means, K, bonus, scale):
    """The regret (K, runs) of optimistic ridge regression on unit features of two actions; rewards are coins (2, runs).

    The bonus is fixed, or `scale` times the radius of the self-normalised bound, by the determinant of the design.
    """
    runs, counts, sums = np.arange(len(product)), np.zeros_like(means), np.zeros_like(means)
    regret = np.zeros((K, len(product)))
    for k in range(K):
        determinant = 1 + counts.sum(0) + counts.prod(0) * (1 - product**2)
        variances = (1 + counts[::-1] * (1 - product**2)) / determinant  # of the two actions, and their covariance
        estimates = variances * sums + product / determinant * sums[::-1]
        factor = bonus or scale * (1 + 0.5 * np.sqrt(2 * np.log(K) + np.log(determinant)))
        values = np.minimum(estimates + factor * np.sqrt(variances), 2.0)
        action = (values + 1e-9 * rng.random(values.shape)).argmax(0)  # ties are broken at random
        sums[action, runs] += rng.random(len(runs)) < means[action, runs]
        counts[action, runs] += 1
        regret[k] = means.max(0) - means[action, runs]
    return regret


def _proven(K, m=2):
    """An upper bound of the expected regret with the radius by the determinant, for H = 2 and m pairs (s, a).

    With probability 1 - 1/K all values are optimistic, and the regret is at most twice the sum of the bonuses.
    """
    volume = m * np.log1p(K)  # of log det, however many features there are
    return 2 * (1 + 0.5 * np.sqrt(2 * np.log(K) + volume)) * np.sqrt(2 * K * volume) + 2


def _draw_counts(rng):
    """Random p, H and K of many sizes."""
    return {name: int(2 ** rng.uniform(low, high)) for name, low, high in (("p", 0, 6), ("H", 1, 10), ("K", 1, 40))}


def _number(case, features):
    """p H^2, or a rational lower bound of p H^2 K log(HK)."""
    p, H, K = (case[name] for name in "pHK")
    return Fraction(p * H**2) * (K * Fraction(693, 1000) * ((H * K).bit_length() - 1) if features == "N" else 1)


def _bound_below_trivial(case, features):
    """1 - N^3 H^4 K/(HK)^2: positive if the bound sqrt(N^3 H^4 K) of LSVI-UCB is below HK."""
    return 1 - _number(case, features) ** 3 * case["H"] ** 2 / case["K"]


def _index_below_limit(case, features):
    """1 - (N - sqrt K)^2/(1 + K): positive if the lower bound of the index of LSVI-UCB is below H.

    For unit features |w'z| <= H sqrt(K) |z|, |z| >= 1/sqrt(1 + K) in the norm of the inverse design; the bonus is at
    least N H |z|.
    """
    root = math.isqrt(case["K"]) + 1  # at least sqrt(K)
    return 1 - max(_number(case, features) - root, Fraction(0)) ** 2 / (1 + case["K"])
