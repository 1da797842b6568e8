"""Appendix C.1 and C.2: confidence regions of the penalised maximum-likelihood estimators."""

import functools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.regions import Case, described, log_C, simulate, tree
from befrl.claims.toolbox.search import Worst, listed

DELTAS = (0.5, 0.1, 0.01)  # the failure rates that are tested

# The laws, designs and runs on which the confidence regions are tried, made once for all readings of a claim.

UNITS = np.ones((1, 1, 1)), np.ones((1, 1))  # A and phi of one parameter


def B_phi(case):
    """The largest spectral norm of A^-1 G."""
    return np.linalg.norm(np.linalg.solve(case.penalty / case.eta, case.G), 2, (-2, -1)).max()


@functools.cache
def cases(kind):
    """The simulated cases by name; B is 2 where rewards have p = 1."""
    reward, one = kind == "reward", UNITS[0]
    axes, skew = np.eye(2)[:, :, None], np.array([[[1.0, 0.5], [0.2, -1.0]], [[-0.3, 1.0], [1.0, 0.8]]])

    def case(A, phi, theta, eta, variances, spreads, steps, episodes, B=(2.0,)):
        law = (np.array(variances), np.array(spreads), np.array(B) if reward else None)
        return Case(A, np.array(phi), np.array(theta), eta, *law, steps, episodes)

    found = {
        "one parameter": case(one, [[1.0], [0.3]], [0.5], 0.01, [1.0], [0.0], 1, 40),
        "heavy penalty": case(one, [[1.0]], [2.0], 200.0, [1.0], [0.0], 1, 8),
        "mixture": case(one, [[1.0], [-0.5]], [0.3], 0.05, [0.2], [1.0], 4, 8),
        "rare coin": case(one, [[1.0]], [-1.5], 1e-4, [0.0], [0.5 if reward else 1.0], 4, 8),
    }
    if reward:
        many = case(np.eye(30)[:, None], np.eye(30), np.full(30, 0.02), 1.0, [1.0], [0.0], 30, 4, [1.0])
        hidden = case(axes, [[1.0]], [0.2, 1.5], 0.5, [1.0], [0.0], 5, 20, [1.0, 0.0])
        two = case(skew, np.eye(2), [0.4, -0.8], 0.2, [0.3], [1.0], 3, 4, [1.0, 0.5])
        return found | {"many parameters": many, "unseen parameter": hidden, "two parameters": two}
    many = case(np.eye(30)[:, :, None], [[1.0]], np.full(30, 0.02), 1.0, np.ones(30), np.zeros(30), 1, 5)
    unequal = case(axes, [[1.0]], [0.2, 0.5], 0.1, [1.0, 0.01], [0.0, 0.0], 20, 10)
    two = case(skew, np.eye(2), [0.4, -0.8], 0.2, [0.3, 0.5], [1.0, 0.5], 3, 4)
    return found | {"many parameters": many, "unequal covariance": unequal, "two parameters": two}


def heavy_coins(kind):
    """100 coins: |sum of the signs| <= eta/2, so the printed penalty makes the estimate 0 whatever the data."""
    case = Case(*UNITS, np.full(1, 2.0), 200.0, np.zeros(1), np.ones(1), np.ones(1) if kind == "reward" else None)
    return case, np.zeros((1, 1)), np.full((1, 1), 100.0)


@functools.lru_cache(maxsize=2)
def simulated(kind, seed, trials):
    """The runs of all cases; fewer where the integral needs a grid in two dimensions."""
    rng, runs = np.random.default_rng(seed), max(200, 10 * trials)
    return {
        name: simulate(case, rng, max(20, trials) if name == "two parameters" else runs)
        for name, case in cases(kind).items()
    }


@functools.lru_cache(maxsize=2)
def integrals(kind, seed, trials):
    """Random laws, designs and estimates with log C, the eigenvalues g of (beta/eta) A^-1 sum G, and the constants."""
    rng = np.random.default_rng([seed, 1])
    ones = (np.ones(1), np.ones(2)) if kind == "reward" else (None, None)
    spiked = Case(*UNITS, np.zeros(1), 1.0, np.ones(1), np.full(1, 10.0), ones[0])  # alpha = 1, beta = 101
    noise = np.ones(1 if kind == "reward" else 2)
    long = Case(np.eye(2)[:, :, None], np.full((1, 1), 3.0), np.zeros(2), 1.0, noise, 0 * noise, ones[1])
    drawn = [(case, np.zeros(len(case.theta)), np.full(1, 20.0)) for case in (spiked, long)]  # |A^-1 G| = 9 if long
    for _ in range(trials):
        d, p, F = (int(rng.integers(1, most)) for most in (3, 4, 4))
        A, phi = rng.standard_normal((d, p, 2)), rng.standard_normal((F, 2))
        observed, B = (1, rng.standard_normal(p)) if kind == "reward" else (p, None)
        variances, spreads = 10 ** rng.uniform(-1, 1, observed), rng.integers(2) * 10 ** rng.uniform(-1, 1, observed)
        A = A * 10 ** rng.uniform(-1, 1, (d, 1, 1))
        case = Case(A, phi, np.zeros(d), 10 ** rng.uniform(-3, 3), variances, spreads, B)
        drawn.append((case, rng.standard_normal(d) * 10 ** rng.uniform(-2, 0.5), rng.integers(1, 30, F).astype(float)))
    return [_integral(*each) for each in drawn]


def _integral(case, theta, counts):
    """One entry of `integrals`."""
    whiten = np.linalg.inv(np.linalg.cholesky(case.penalty))
    g = np.linalg.eigvalsh(case.beta * whiten @ np.tensordot(counts, case.G, 1) @ whiten.T).clip(0)
    constants = {"alpha": case.variances.min(), "beta": case.beta, "eta": case.eta, "B": B_phi(case)}
    instance = described(case) | {"estimate": theta, "counts": counts}
    return constants | {"n": counts.sum(), "g": g, "log_C": float(log_C(case, theta, counts)), "instance": instance}


@functools.lru_cache(maxsize=2)
def trees(kind, seed):
    """All outcomes of six coins, whose features depend on the outcomes before, for d = 1 and 2."""
    rng, found = np.random.default_rng([seed, 2]), []
    for d in (1, 2, 1, 2):
        B = rng.standard_normal(1) if kind == "reward" else None
        A, phi, theta = rng.standard_normal((d, 1, 2)), rng.standard_normal((3, 2)), rng.standard_normal(d)
        case = Case(A, phi, theta, rng.uniform(0.1, 2), np.zeros(1), np.ones(1), B)
        found.append((case, *tree(case, 6)))
    return found


def transition_region(rng, trials, squared=True, **reading):
    """C23: With probability 1 - delta, theta^p is in a KL confidence set for all k at once."""
    return _theorem(rng, trials, "transition", squared, **reading)


def reward_region(rng, trials, squared=True, **reading):
    """C24: With probability 1 - delta, theta^r is in a KL confidence set for all k at once."""
    return _theorem(rng, trials, "reward", squared, **reading)


def _theorem(rng, trials, kind, squared, *, power=1, share=1, charge=1, reverse=False, equality=False, mean=False):
    """Counts how often the region is missed, compares C with its bound, and enumerates the mean of M_n if asked."""
    seed = int(rng.integers(2**62))
    worst, counted = Worst(), []
    if not squared:
        case, theta, counts = heavy_coins(kind)
        missed = _left_side(case, theta, counts) - log_C(case, theta, counts) >= np.log(1 / DELTAS[-1])
        worst.see(missed[0] / DELTAS[-1] - 1, described(case) | {"estimate": theta, "counts": counts})
    for name, run in simulated(kind, seed, trials).items():
        left = _left_side(run.case, run.theta, run.counts, reverse)
        counted.append(_missed(name, left - charge * run.log_C))
        worst.see(*counted[-1])
    for drawn in integrals(kind, seed, trials):
        bound = power * np.log1p(share * drawn["g"]).sum()
        gap = abs(np.log1p(drawn["g"]).sum() / 2 - bound) if equality else drawn["log_C"] - bound
        worst.see(gap, drawn["instance"])
    for case, theta, counts, chances in trees(kind, seed) if mean else ():
        mixture = np.exp(_left_side(case, theta, counts, reverse) - log_C(case, theta, counts))
        worst.see(abs(chances @ mixture - 1), described(case))
    return _counted(worst, counted)


def transition_ellipsoid(rng, trials, bias="two", two=2, size="C", least="smallest", factor=1.0, lag=0):
    """C26: The Euclidean region for theta^p, constants included."""
    extreme = {"smallest": np.min, "largest": np.max}[least]
    return _ellipsoid(rng, trials, "transition", lambda case: extreme(case.variances), bias, two, size, factor, lag)


# Rewards N(theta_1, 1) that do not depend on theta_2; see `_never_seen`.
UNSEEN = {"A": [[1, 0], [0, 1]], "B": [1, 0], "phi": 1, "theta": [0, 1], "eta": 2, "n": 40, "delta": Fraction(1, 100)}


def reward_ellipsoid(rng, trials, bias="two", two=2, size="C", seen=False, p_one=False, table=False, factor=1.0):
    """C27: The Euclidean region for theta^r, for p=1 and for p>=2."""
    alpha = functools.partial(_least_variance, seen=seen, table=table)
    first = () if p_one else (_never_seen(bias, two, size, seen or table, factor),)
    return _ellipsoid(rng, trials, "reward", alpha, bias, two, size, factor, 0, seen, p_one, first)


def _never_seen(bias, two, size, harmless, factor):
    """1/delta - 1 if the region of UNSEEN is missed whatever the rewards are, else -1; exact.

    A_1 = e_1, A_2 = e_2, B = e_1 and phi = 1; alpha and beta are 1, G and bold A are I. The score equations with the
    squared penalty are sum r - n hat_1 = eta hat_1 and 0 = eta hat_2. So |theta - hat|^2 in Gbar is at least
    (eta + n) theta_2^2; eta theta_2^2 if the design is xx', or alpha is 0 (`harmless`). As eta = 2, the printed 2/2 and
    eta/2 are the same.
    """
    eta, n, delta = UNSEEN["eta"], UNSEEN["n"], UNSEEN["delta"]
    logarithm = log1p_bounds(Fraction(n, eta))[1]
    sizes = {"C": logarithm / 2, "gamma": 2 * logarithm, "half gamma": logarithm, "none": 0}
    left = Fraction(factor) * (eta if harmless else eta + n) / 2
    right = {"two": 1, "eta": Fraction(eta, 2), "none": 0}[bias] + log1p_bounds(Fraction(two - 1))[1] + sizes[size]
    right = right + log1p_bounds(1 / delta - 1)[1]
    sides = {"left side, at least": float(2 * left), "right side, at most": float(2 * right)}
    return (1 / delta - 1 if left > right else Fraction(-1)), UNSEEN | sides


def _least_variance(case, seen, table):
    """inf Var(r) alone, or times |B|^2, or times the table's lambda_min(BB'), which is 0 for p > 1."""
    square = 0.0 if table and len(case.B) > 1 else case.B @ case.B
    return case.variances.min() * (1.0 if seen else square)


def _ellipsoid(rng, trials, kind, alpha, bias, two, size, factor, lag, seen=False, p_one=False, first=()):
    """Counts alpha/2 |Delta|^2_Gbar - bias - log(two) - log C >= log(1/delta) for some k; `first`: exact cases."""
    worst, counted = Worst(), []
    for value, instance in first:
        worst.see(value, instance)
    exact = worst.value > 0
    for name, run in simulated(kind, int(rng.integers(2**62)), trials).items():
        case = run.case
        if case.variances.min() == 0 or (p_one and case.A.shape[1] > 1):
            continue
        last = len(run.counts) - lag
        difference, counts = run.theta[lag:] - case.theta, run.counts[:last]
        seen_change = np.einsum("fpd,knd->knfp", case.X if seen else case.U, difference)
        left = _square(case.penalty, difference) + alpha(case) * (counts * (seen_change**2).sum(-1)).sum(-1)
        gamma = len(case.theta) * np.log1p(case.beta / case.eta * B_phi(case) * counts.sum(-1))
        sizes = {"C": run.log_C[:last], "gamma": gamma, "half gamma": gamma / 2, "none": 0.0}
        shrink = {"two": case.bias / case.eta, "eta": case.bias / 2, "none": 0.0}[bias]
        counted.append(_missed(name, factor * left / 2 - shrink - np.log(two) - sizes[size]))
        if not exact:
            worst.see(*counted[-1])
    return _counted(worst, counted)


def one_gamma(rng, trials, constant="beta", half=False, dimension=True, norm=True, which="both"):
    """C28: Gamma_K with beta in one place and alpha in another."""
    worst = Worst()
    for drawn in integrals("transition", int(rng.integers(2**62)), trials):
        gamma = np.log1p(drawn[constant] / drawn["eta"] * drawn["n"] * (drawn["B"] if norm else 1.0))
        gamma *= (0.5 if half else 1.0) * (len(drawn["g"]) if dimension else 1)
        elliptical = np.log1p(drawn["alpha"] / drawn["beta"] * drawn["g"]).sum()
        sides = {"C": drawn["log_C"], "elliptical": elliptical, "both": max(drawn["log_C"], elliptical)}
        worst.see(float(sides[which] - gamma), drawn["instance"])
    return Evidence(worst.value, listed(worst.instance), "search", worst.number)


def _left_side(case, theta, counts, reverse=False):
    """sum KL(theta, theta*) + eta/2 |theta* - theta|_A^2 - eta/2 |theta*|_A^2."""
    order = (case.theta, theta) if reverse else (theta, case.theta)
    return case.divergence(*order, counts) + (_square(case.penalty, theta - case.theta) - case.bias) / 2


def _square(matrix, x):
    """|x|^2 in the norm of a matrix, (..., d) -> (...)."""
    return ((x @ matrix) * x).sum(-1)


def _missed(name, excess):
    """Lower confidence limit of P(sup_k excess >= log(1/delta)) over delta, minus 1, at the worst delta."""
    highest, found = excess.max(0), Worst()
    for delta in DELTAS:
        hits = int((highest >= np.log(1 / delta)).sum())
        limit = lower_limit(hits, len(highest), LEVEL / (len(DELTAS) * len(cases("reward"))))
        found.see(limit / delta - 1, {"case": name, "delta": delta, "missed": hits, "runs": len(highest)})
    return found.value, found.instance


def _counted(worst, counted):
    """The evidence, with how often the region was missed in each case, at its worst delta."""
    missed = [instance for _, instance in counted]
    number = sum(instance["runs"] for instance in missed)
    computed = worst.value > 1e-6 and "runs" not in worst.instance  # refuted without any run
    grade = "search" if computed else "test"
    return Evidence(worst.value, listed(worst.instance), grade, number, details={"missed": missed})
