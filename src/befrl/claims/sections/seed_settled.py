"""Settled pairs: where the ellipsoids of bef-seed are as small as those of the true curvature."""

from types import SimpleNamespace

import numpy as np

from befrl.claims.toolbox.search import moved_at_random, search

BETA, M = 0.25, 1.0  # of Bernoulli laws, psi = 0 or 1


def settled_pairs(rng, trials, plain=False, frozen=False, growing=False, crowded=True):
    """S12: settled pairs stay settled, D <= q b x there, and at most N_u visits are not settled. Bernoulli laws.

    plain     q = 1
    frozen    settled as in the first episode, by Gbar_1
    growing   settled by a radius that grows with k, in place of the one at K
    crowded   N_u counts the bad visits, H gamma/log 2
    """

    def violation(case):
        z, b, eps = _run(case), case["b"], case["eps"]
        size = z.spread(z.Gbar[:1] if frozen else z.Gbar)  # lmax(U Gbar_k^-1 U'), (K, F)
        radius = b * (np.arange(1, z.K + 1) / z.K if growing else np.ones(z.K))
        settled = 2 * z.rho / z.alpha * radius[:, None] * size <= (eps / M) ** 2
        past = (z.counts * settled).cumsum(0) - z.counts * settled
        x = z.true * z.spread(z.penalty + z.sum_of(past * z.true))
        shares = (1 - (1.0 if plain else _factor(eps)) * b * x / z.D)[settled]
        early = 2 * max(1.0, 2 * z.rho * b * M**2 / (z.alpha * eps**2))
        most = ((z.counts[0].sum() if crowded else 0) + early) * z.gamma / np.log(2)
        missed = (z.counts * ~settled).sum()
        leaving = (settled[:-1] & ~settled[1:]).any()
        return float(max(shares.max(initial=-1.0), 1 - most / missed if missed else -1.0, 1.0 if leaving else -1.0))

    return search(rng, trials, _draw, violation, edges=EDGES, move=_moved)


def _factor(eps):
    """q = 2g(eps) e^(2 eps)/2g(-eps)."""
    return (np.expm1(eps) - eps) / (np.expm1(-eps) + eps) * np.exp(2 * eps)


def _g(x):
    """2 (e^x - 1 - x)/x^2 for x != 0."""
    return 2 * (np.expm1(x) - x) / np.square(x)


def _run(case):
    """Estimates on the boundary of the tube of radius b or inside it, the constants, and D of each episode and pair.

    U (F, d) has the pairs' features, counts (K, F) their visits in each episode. The estimate of episode k is theta*
    plus a step in a direction, as long as `shares` of the radius allow.
    """
    U, counts, b, eta = case["U"], case["counts"], case["b"], case["eta"]
    (K, F), penalty, natural = counts.shape, eta * case["L"] @ case["L"].T, U @ case["theta"]

    def sum_of(weights):
        return np.einsum("fd,...f,fe->...de", U, weights, U)

    def spread(matrices):
        return np.einsum("fd,...de,fe->...f", U, np.linalg.inv(matrices), U)

    before = np.concatenate([np.zeros((1, F)), counts.cumsum(0)])  # visits before each episode, and all
    steps = case["directions"] @ U.T
    lengths = np.einsum("kd,de,ke->k", case["directions"], penalty, case["directions"])
    low, high = np.zeros(K), np.sqrt(2 * b / lengths)
    for _ in range(50):  # the divergence grows along the direction
        t = (low + high) / 2
        hat = natural + t[:, None] * steps
        inside = (before[:-1] * _divergence(hat, natural)).sum(1) + t * t * lengths / 2 <= case["shares"] * b
        low, high = np.where(inside, t, low), np.where(inside, high, t)
    hat = natural + low[:, None] * steps
    X0 = np.minimum(np.sqrt(2 * b * spread(penalty)), np.abs(natural).max() + np.abs(hat))
    alpha = _variance(max(np.abs(hat).max(), np.abs(natural).max()))
    X, variance = X0, _variance(hat)
    for _ in range(2):
        S = spread(penalty + sum_of(before[:-1] * _g(-M * X) * variance))
        X = np.minimum(X, np.sqrt(2 * b * S))
    D = np.minimum(_g(M * X) * b * variance * S, BETA / 2 * X * X)
    Gbar, whiten = penalty / alpha + sum_of(before), np.linalg.inv(np.sqrt(eta) * case["L"])
    gains = np.linalg.eigvalsh(whiten @ sum_of(before[-1]) @ whiten.T)
    return SimpleNamespace(
        **{"K": K, "counts": counts, "penalty": penalty, "sum_of": sum_of, "spread": spread, "D": D, "Gbar": Gbar[:-1]},
        gamma=np.log1p(alpha * gains.clip(0)).sum(),  # log det Gbar_{K+1}/det Gbar_1, also for tiny alpha
        true=_variance(natural),
        alpha=alpha,
        rho=1 + M * X0.max() / 2,
    )


def _variance(v):
    return 0.25 / np.cosh(v / 2) ** 2


def _divergence(v, other):
    """KL of the Bernoulli laws with natural parameters v and other."""
    return np.logaddexp(0, other) - np.logaddexp(0, v) - (other - v) / (1 + np.exp(-v))


def _draw(rng):
    K, F, d = int(rng.integers(1, 25)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    H, weights = int(10 ** rng.uniform(1, 6)), rng.dirichlet(np.ones(F) / 3, K if rng.random() < 0.5 else 1)
    return {
        "U": rng.standard_normal((F, d)),
        "L": np.eye(d) + np.tril(rng.standard_normal((d, d)), -1),
        "theta": rng.normal(0, 1, d),
        "directions": rng.standard_normal((K, d)),
        "shares": rng.random(K) ** rng.choice((0.0, 1.0)),
        "counts": rng.multinomial(H, np.broadcast_to(weights, (K, F))),
        "b": 10.0 ** rng.uniform(-0.5, 1),
        "eta": 10.0 ** rng.uniform(-1, 1),
        "eps": float(rng.choice((0.05, 0.25, 0.5, 1.0))),
    }


def _moved(rng, case, step):
    return case | moved_at_random(rng, {key: case[key] for key in ("U", "theta", "directions")}, step)


ONE = {"U": np.ones((1, 1)), "L": np.ones((1, 1)), "theta": np.zeros(1), "b": 1.0, "eta": 1.0, "eps": 1.0}
TWO = ONE | {"U": np.eye(2), "L": np.eye(2), "theta": np.zeros(2)}
EDGES = (
    ONE | {"directions": np.ones((60, 1)), "shares": np.ones(60), "counts": np.full((60, 1), 1000)},
    ONE | {"directions": np.ones((1, 1)), "shares": np.ones(1), "counts": np.full((1, 1), 10**6)},
    # A pair that is never visited, and a heavy penalty.
    TWO | {"directions": np.ones((9, 2)), "shares": np.ones(9), "counts": np.tile([0, 100], (9, 1))},
    ONE
    | {"directions": np.ones((2, 1)), "shares": np.ones(2), "counts": np.ones((2, 1), int)}
    | {"theta": np.full(1, -3.0), "b": 4.0, "eta": 20.0},
)
