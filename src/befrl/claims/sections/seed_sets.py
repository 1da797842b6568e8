"""bef-seed: sets of parameters that hold with high probability, and what they say of the laws at every (s,a)."""

import functools

import numpy as np
from scipy.special import expit, logit

from befrl.claims.sections.martingale import TAILS, TOSSES, H, N, arrivals
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.curvature import divergence, g
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.regions import Case, Runs, simulate
from befrl.claims.toolbox.search import Worst, listed, search
from befrl.claims.toolbox.seed import SKIPPED, SPREAD

DELTAS = (0.5, 0.1, 0.01, 1e-4)  # the failure rates that are tested
CONDITION = 1e8  # largest condition of a matrix, beyond which rounding decides


def coverage(rng, trials, share=1, shared=True, ball=False, coupled=False):
    """S01: The tube around the estimate contains the truth at all times.

    share    of half the logarithm of the determinant
    shared   False: every component has the failure rate delta, not delta/N
    ball     whether beta bounds the variance for |v| <= S* alone, in the enumerated cases
    coupled  whether the penalty couples the components, in one of the simulated cases
    """
    worst, counted, seed = Worst(), [], int(rng.integers(2**62))
    for coin in [*COINS, *(_draw_coin(rng) for _ in range(max(4, trials // 20)))]:
        worst.see(_missed_coins(coin, share, shared, ball), coin)
    for name, components in simulated(seed, trials).items():
        if coupled or name != "coupled":
            highest = np.max([left - share / 2 * grown for left, grown in components], axis=(0, 1))
            counted.append(_missed_runs(name, highest - (np.log(len(components)) if shared else 0)))
            worst.see(*counted[-1])
    missed = [instance for _, instance in counted]
    grade = "test" if worst.value <= 0 or "runs" in worst.instance else "enumeration"
    number = sum(instance["runs"] for instance in missed)
    return Evidence(worst.value, listed(worst.instance), grade, number, details={"missed": missed})


# Coins with base measure (1 - rate, rate) and parameter v: one that is tossed 120 times or, if `fresh`, 120 of one
# component that are tossed once each. `copies` independent ones are tossed likewise, each its own component.
COINS = (
    {"rate": 0.5, "v": 0.0, "eta": 0.01, "fresh": False, "copies": 1},
    {"rate": 0.5, "v": 1.0, "eta": 1.0, "fresh": False, "copies": 1000},
    {"rate": 0.01, "v": 0.0, "eta": 0.1, "fresh": False, "copies": 1},
    {"rate": 3e-5, "v": 0.1, "eta": 0.005, "fresh": True, "copies": 1},
)


def _draw_coin(rng):
    rate, v, eta = 10 ** rng.uniform(-5, -0.3), rng.normal(), 10 ** rng.uniform(-3, 1)
    return {"rate": rate, "v": v, "eta": eta, "fresh": bool(rng.integers(2)), "copies": int(10 ** rng.uniform(0, 3))}


def _missed_coins(coin, share, shared, ball):
    """The chance that the tube misses the truth at some time, by all sequences of tosses, over delta, less 1."""
    v, eta, copies = coin["v"], coin["eta"], coin["copies"]
    tosses, heads = (1, np.arange(2)) if coin["fresh"] else (N, H)
    centre = logit(coin["rate"])
    beta = 0.25
    if ball:
        chance = expit(centre + abs(v))
        beta = 0.25 if chance > 0.5 else chance * (1 - chance)
    left = _tube_of_coin(tosses, np.minimum(heads, tosses), centre, v, eta)
    bonus = eta / 2 * v**2
    if coin["fresh"]:
        left, bonus = TAILS * left[0] + H * left[1] + (TOSSES - N) * bonus, TOSSES * bonus
    grown = N * np.log1p(beta / eta) if coin["fresh"] else np.log1p(beta * N / eta)
    level = bonus + share / 2 * grown + (np.log(copies) if shared else 0)
    found = []
    for delta in DELTAS:
        crossed = left > level - np.log(delta)
        missed = (arrivals(expit(centre + v), crossed) * crossed).sum()
        found.append((1 - (1 - missed) ** copies) / delta - 1)
    return float(max(found))


def _tube_of_coin(n, heads, centre, v, eta):
    """n KL(v^, v) + eta/2 (v - v^)^2 for the penalised estimates v^ of n tosses with so many heads."""
    low, high = np.full(np.shape(heads), -60.0), np.full(np.shape(heads), 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = n * expit(centre + middle) + eta * middle > heads
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    change = np.logaddexp(0, centre + v) - np.logaddexp(0, centre + low) - expit(centre + low) * (v - low)
    return n * change + eta / 2 * (v - low) ** 2


@functools.lru_cache(maxsize=2)
def simulated(seed, trials):
    """Runs of Gaussian, mixed and two-dimensional laws: for each name the pairs of `_component` of its components."""
    rng, runs, one = np.random.default_rng(seed), max(200, 5 * trials), np.ones(1)
    many, cells = np.eye(40), np.eye(20)
    A = np.sqrt([[0.01, 0, 0.99], [0, 0.01, 0.99]])[:, None]  # the penalty is [[1, .99], [.99, 1]]
    skew = np.array([[[1.0, 0.5], [0.2, -1.0]], [[-0.3, 1.0], [1.0, 0.8]]])
    cases = {
        "one parameter": Case(one[None, None], np.array([[1.0], [0.3]]), 0.5 * one, 0.01, one, 0 * one, None, 1, 40),
        "many parameters": Case(
            many[:, :, None], one[None], np.full(40, 0.02), 2.0, np.ones(40), np.zeros(40), None, 1, 4
        ),
        "mixture": Case(one[None, None], np.array([[1.0], [-0.5]]), 0.3 * one, 0.05, 0.2 * one, one, None, 4, 8),
        "one-hot": Case(cells[:, None], cells, np.linspace(-2, 2, 20), 0.2, 0.1 * one, one, None, 20, 6),
        "dense": Case(
            skew, np.eye(2), np.array([0.4, -0.8]), 0.2, np.array([0.3, 0.5]), np.array([1.0, 0.5]), None, 3, 8
        ),
        "coupled": Case(A, np.array([[0, 10.0, 0]]), np.full(2, 10.0), 1.0, one, 0 * one, None, 50, 4),
    }
    # The component of each feature; parameter i is component i, unless there is only one.
    parts = {"one-hot": np.arange(20), "coupled": np.ones(1, int)}
    found = {}
    for name, case in cases.items():
        run, d = simulate(case, rng, runs), len(case.theta)
        one_for_all = name not in parts
        owners = [np.ones(d, bool)] if one_for_all else np.eye(d, dtype=bool)
        bonus = max(case.theta[own] @ case.penalty[own][:, own] @ case.theta[own] for own in owners)
        seen = [np.ones(len(case.phi), bool)] if one_for_all else [parts[name] == j for j in range(d)]
        found[name] = [_component(run, bonus, *each) for each in zip(owners, seen, strict=True)]
    return found


def _component(run: Runs, bonus, own, seen):
    """The left side less eta B^2/2, and the logarithm of the determinant, of one component, (K, n) each."""
    case = run.case
    penalty, G = case.penalty[own][:, own], case.G[:, own][:, :, own]
    error = (run.theta - case.theta)[..., own]
    left = case.divergence(run.theta, case.theta, run.counts * seen) + ((error @ penalty) * error).sum(-1) / 2
    counts, place = np.unique(run.counts.reshape(-1, len(seen)) * seen, axis=0, return_inverse=True)
    information = np.linalg.solve(penalty, case.beta * np.tensordot(counts, G, 1))
    grown = np.linalg.slogdet(np.eye(own.sum()) + information)[1][place].reshape(left.shape)
    return left - bonus / 2, grown


def _missed_runs(name, highest):
    """Lower confidence limit of the chance of `highest` > log(1/delta), over delta, less 1."""
    found = Worst()
    for delta in DELTAS:
        hits = int((highest > -np.log(delta)).sum())
        limit = lower_limit(hits, len(highest), LEVEL / (len(DELTAS) * 6))  # at most six cases
        found.see(limit / delta - 1, {"case": name, "delta": delta, "missed": hits, "runs": len(highest)})
    return found.value, found.instance


def self_concordance(rng, trials, M=1, lower=True, upper=True, other=False):
    """S02: The divergence lies between two multiples of its quadratic form.

    M       multiple of the diameter of psi
    lower, upper  False: g(0) = 1/2 on this side
    other   whether the covariance is that at the other end
    """

    def violation(case):
        psi, w = case["psi"], case["w"]
        if max(_range(psi, case["base"], v) for v in (case["v"], case["v"] + w)) > SPREAD:
            return SKIPPED
        radius = float(M) * _diameter(psi) * np.linalg.norm(w)
        start, end = (_mass(psi, case["base"], v) for v in (case["v"], case["v"] + w))
        along, across = [[_spread(psi, mass, x) for mass in (start, end)] for x in (w, case["x"])]
        KL, square = divergence(psi, start, w), along[1] if other else along[0]
        found = [
            1 - KL / (square * (g(-radius) if lower else 0.5)),
            1 - square * (g(radius) if upper else 0.5) / KL,
        ]
        for one, two in (along, across):
            found += [1 - np.exp(radius) * one / two, 1 - np.exp(radius) * two / one]
        return float(max(found))

    edges = [_coin(w) for w in (3.0, -3.0, 0.01)]
    return search(rng, trials, _draw_tilt, violation, edges=edges)


def _coin(w):
    """A coin with rare heads, and its tilt by w."""
    law = {"psi": np.array([[0.0], [1.0]]), "base": np.log([1.0, 1e-6]), "v": np.zeros(1)}
    return law | {"w": np.array([w]), "x": np.ones(1)}


def _draw_tilt(rng):
    S, p = rng.integers(2, 7), rng.integers(1, 4)
    psi, base = rng.standard_normal((S, p)), np.log(10.0) * rng.uniform(-6, 0, S)
    w = 10.0 ** rng.uniform(-1.5, 0.7) * rng.standard_normal(p)
    return {"psi": psi, "base": base, "v": rng.standard_normal(p), "w": w, "x": rng.standard_normal(p)}


def _mass(psi, base, v):
    logits = psi @ v + base
    mass = np.exp(logits - logits.max())
    return mass / mass.sum()


def _range(psi, base, v):
    """The range of the exponent, and that of psi'v."""
    return max(np.ptp(psi @ v + base), np.ptp(psi @ v))


def _spread(psi, mass, x):
    """The variance of psi'x."""
    return mass @ ((psi - mass @ psi) @ x) ** 2


def _diameter(psi):
    return np.linalg.norm(psi[:, None] - psi, axis=-1).max()


def ellipsoid(rng, trials, weighted=True, size=1, features=True, blocks=1, algorithm=False):
    """S03: An ellipsoid around the estimate, and divergences at pairs that need not be visited.

    weighted   False: Hbar is the Hessian at the estimate, with weights 1
    size       of X, in units of the smallest valid one
    features   False: U Hbar^-1 U' is replaced by the largest eigenvalue of Hbar^-1
    blocks     number of equal components that share one b
    algorithm  whether X is computed as bef-seed does, by two rounds from its first value
    """

    def violation(case):
        psi, U, n = case["psi"], case["U"], np.append(case["n"], 0.0)
        M, error, prior = _diameter(psi), case["error"], case["eta"] * _positive(case["root"])
        ends = np.concatenate([U @ case["theta"], U @ (case["theta"] + error)])
        if case["eta"] < 1e-6 or n.min() < 0 or max(_range(psi, case["base"], v) for v in ends) > SPREAD:
            return SKIPPED
        masses = [_mass(psi, case["base"], u @ case["theta"]) for u in U]
        C = np.array([_covariance(psi, mass) for mass in masses])
        steps = U @ error
        KL = np.array([divergence(psi, mass, w) for mass, w in zip(masses, steps, strict=True)])
        b = n @ KL + error @ prior @ error / 2
        length = np.linalg.norm(steps, axis=-1)

        def ellipse(X):
            weights = 2 * g(-M * X) if weighted else np.ones(len(X))
            bar = prior + np.einsum("t,tpi,tpq,tqj->ij", n * weights, U, C, U)
            inner = np.linalg.inv(bar)
            small = U @ inner @ U.swapaxes(-1, -2)
            return bar, small if features else np.linalg.norm(inner, 2) * np.eye(psi.shape[1])

        X = float(size) * length
        if algorithm:
            reach = length_of(U @ np.linalg.inv(prior) @ U.swapaxes(-1, -2))
            most = np.linalg.norm(U @ (case["theta"] + error), axis=-1).max()
            X = np.minimum(np.sqrt(2 * b) * reach, most + np.linalg.norm(U @ case["theta"], axis=-1))
            for _ in range(2):
                X = np.minimum(X, np.sqrt(2 * b) * length_of(ellipse(X)[1]))
        bar, small = ellipse(X)
        if np.linalg.cond(bar) > CONDITION:
            return SKIPPED
        E = b * np.array([np.linalg.eigvals(each).real.max() for each in C @ small])
        D = np.minimum(2 * g(M * X) * E, _diameter(psi) ** 2 / 8 * (X**2 if size else np.inf))
        return float(
            max(
                blocks * (error @ bar @ error) / (2 * b) - 1,
                *(length / (np.sqrt(2 * b) * length_of(small)) - 1),
                *(KL / D - 1),
                *(length / X - 1 if algorithm else ()),
            )
        )

    return search(rng, trials, _draw_design, violation, edges=[_one_coin(error) for error in (4.0, -4.0, 0.5)])


def length_of(small):
    """The root of the largest eigenvalue of symmetric matrices."""
    return np.sqrt(np.linalg.norm(small, 2, axis=(-2, -1)))


def _covariance(psi, mass):
    centred = psi - mass @ psi
    return centred.T @ (mass[:, None] * centred)


def _positive(root):
    return root @ root.T + np.eye(len(root))


def _one_coin(error):
    """A coin that was tossed 100 times, and a pair with a feature of 2."""
    law = {"psi": np.array([[0.0], [1.0]]), "base": np.zeros(2), "theta": np.zeros(1), "error": np.array([error])}
    return law | {"U": np.array([[[1.0]], [[2.0]]]), "n": np.full(1, 100.0), "root": np.zeros((1, 1)), "eta": 0.01}


def _draw_design(rng):
    """A law, an estimate and its error, some visited pairs and one that is not, and the penalty."""
    S, p, d, T = rng.integers(2, 6), rng.integers(1, 3), rng.integers(1, 5), rng.integers(1, 5)
    psi, base, U = rng.standard_normal((S, p)), rng.uniform(-4, 0, S), rng.standard_normal((T + 1, p, d))
    error = 10.0 ** rng.uniform(-1.5, 0.5) * rng.standard_normal(d)
    n = np.floor(10.0 ** rng.uniform(0, 3, T))
    found = {"psi": psi, "base": base, "U": U, "theta": rng.standard_normal(d), "error": error, "n": n}
    return found | {"root": rng.standard_normal((d, d)) / 2, "eta": float(10.0 ** rng.uniform(-2, 1))}
