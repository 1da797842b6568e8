"""The laws, designs and runs on which the confidence regions are tried, made once for all readings of a claim."""

import functools

import numpy as np

from befrl.claims.toolbox.regions import Case, described, log_C, simulate, tree

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
