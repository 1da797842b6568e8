"""Random members of the bilinear exponential family, each in two forms that are computed independently.

A *law* is a JSON-able dict: features, matrices A_i, two parameters `theta` and `other`, and the kind of
law. `definition(law, theta)` writes the law as a plain weighted sum, p(x) ~ exp(T(x)'theta + log w(x)),
with T(x)_i = psi(x)'A_i phi for transitions and r B'A_i phi for rewards; `Model(law)` evaluates the printed
formulas for the derivatives of its log-partition function with the package's own families.
"""

import functools

import numpy as np

from befrl.model.families.base import Family
from befrl.model.families.truncated_normal import TruncatedNormal
from befrl.model.features import Features
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential
from befrl.model.spaces import BinnedInterval, FiniteSpace

TRANSITIONS = ("finite", "cosines", "truncated normal")
REWARDS = {
    "bernoulli": bernoulli.Law(),
    "truncated exponential": truncated_exponential.Law(),
    "gaussian": gaussian.Law(),
    "gaussian, sd 3": gaussian.Law(3.0),
}
# The largest spread of the exponent over the support: saturated, but within the range of both quadratures.
LARGEST_SPREAD = {"finite": 300.0, "cosines": 30.0, "truncated normal": 100.0}
LARGEST_HEIGHT = 200.0  # of the cosines together, for the same reason
LARGEST_REWARD_PARAMETER = 30.0


def draw_features(rng, p=None):
    """Random phi (q,) and A (d, p, q): dense or one-hot, phi signed or nonnegative, A_i of many scales."""
    if p is None:
        p = int(rng.integers(1, 5))
    if rng.random() < 0.2:
        q = int(rng.integers(1, 3))
        return np.eye(q)[rng.integers(q)], np.eye(p * q).reshape(p * q, p, q)
    q, d = int(rng.integers(1, 5)), int(rng.choice((1, 2, 3, 5)))
    phi, A = rng.standard_normal(q), rng.standard_normal((d, p, q))
    if rng.random() < 0.5:
        phi = np.abs(phi)
    return phi, A * 10.0 ** rng.uniform(-3, 3) * 10.0 ** rng.uniform(-1, 1, (d, 1, 1))


def draw_transition(rng):
    """A random transition law with two parameters."""
    kind = str(rng.choice(TRANSITIONS))
    p = 1 if kind == "truncated normal" else int(rng.integers(1, 5))
    phi, A = draw_features(rng, p)
    law = {"kind": kind, "phi": phi, "A": A}
    if kind == "finite":
        psi = rng.standard_normal((rng.integers(2, 9), p))
        if rng.random() < 0.5:
            psi = np.abs(psi)
        elif p > 1 and rng.random() < 0.5:
            psi = np.eye(p)
        law["psi"] = psi
    elif kind == "cosines":
        frequency, phase = rng.uniform(0, 6, p), rng.uniform(0, 6, p)
        law |= {"frequency": frequency, "phase": phase, "offset": float(rng.integers(2))}
    else:
        law["sigma"] = rng.uniform(0.2, 1.0)
    return _draw_parameters(rng, law)


def draw_reward(rng, families=REWARDS):
    """A random reward law with two parameters."""
    phi, A = draw_features(rng)
    law = {"kind": str(rng.choice(list(families))), "phi": phi, "A": A, "B": rng.standard_normal(A.shape[1])}
    return _draw_parameters(rng, law)


def draw_law(rng):
    """A random transition law or reward law with two parameters."""
    return draw_transition(rng) if rng.random() < 0.5 else draw_reward(rng)


def _draw_parameters(rng, law):
    """Add random `theta` and `other`, sometimes close together, with a random spread of the exponents."""
    theta, other = rng.standard_normal((2, len(law["A"])))
    if rng.random() < 0.3:
        other = theta + 10.0 ** rng.uniform(-3, 0) * other
    largest = LARGEST_SPREAD.get(law["kind"], LARGEST_REWARD_PARAMETER)
    target = min(largest, 10.0 ** rng.uniform(-2, np.log10(largest) + 0.3))
    return with_parameters(law, theta, other, target, stretch=True)


def with_parameters(law, theta, other, largest=None, stretch=False):
    """The law with these parameters, scaled so that the exponents spread over at most `largest`.

    Parameters are only shrunk, unless `stretch` is true. The spread is the range of T(x)'theta over the support;
    for rewards it is |c|, with c the natural parameter.
    """
    if largest is None:
        largest = LARGEST_SPREAD.get(law["kind"], LARGEST_REWARD_PARAMETER)
    x = reward_vector(law) if "B" in law else None
    T = definition(law, None)[0] if x is None else np.stack([0 * x, x])
    scale = largest / max(np.ptp(T @ theta), np.ptp(T @ other), 1e-12)
    scale = scale if stretch else min(1.0, scale)
    if law["kind"] == "cosines":  # where they nearly cancel the spread is small, and the exponent still changes fast
        heights = np.abs(np.einsum("ipq,q,ki->kp", law["A"], law["phi"], [theta, other])).sum(1)
        scale = min(scale, LARGEST_HEIGHT / max(heights.max(), 1e-12))
    return _listed(law | {"theta": scale * theta, "other": scale * other})


def moved(rng, law, step):
    """The law with its parameters moved in proportion to their size, within the range of the quadratures."""
    parameters = np.stack([law["theta"], law["other"]])
    parameters = parameters + step * np.abs(parameters).max() * rng.standard_normal(parameters.shape)
    return with_parameters(law, *parameters)


def reward_vector(law):
    """x_i = B'A_i phi, so that c = x'theta is the natural parameter of the reward."""
    return np.einsum("p,ipq,q->i", law["B"], law["A"], law["phi"])


def _listed(law):
    """The law with lists in place of arrays, ready for JSON."""
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in law.items()}


def definition(law, theta, families=REWARDS):
    """The paper's definition of a law: T (G, d) and log w (G,) with Z(theta) = log sum exp(T theta + log w)."""
    phi, A = np.asarray(law["phi"]), np.asarray(law["A"])
    if "B" in law:
        x = reward_vector(law)
        r, log_weights = _reward_nodes(families[law["kind"]], x @ theta)
        return r[:, None] * x, log_weights
    if law["kind"] == "finite":
        psi, log_weights = np.asarray(law["psi"]), np.zeros(len(law["psi"]))
    else:
        s, weights = _panels(np.linspace(0.0, 1.0, 33), 10)
        log_weights = np.log(weights)
        if law["kind"] == "cosines":
            psi = cosines(law, s)
        else:
            z = (s - 0.5) / law["sigma"]
            psi = z[:, None]
            log_weights = log_weights - 0.5 * z**2 - 0.5 * np.log(2 * np.pi * law["sigma"] ** 2)
    return np.einsum("gp,ipq,q->gi", psi, A, phi), log_weights


def log_sum(T, log_weights, theta):
    """The log-partition function, log sum exp(T theta + log w)."""
    return float(np.logaddexp.reduce(T @ theta + log_weights))


def _reward_nodes(family, c):
    """Nodes and log weights of the base measure of a reward family, placed where exp(r c) has its mass."""
    if isinstance(family, bernoulli.Law):
        return np.array([0.0, 1.0]), np.zeros(2)
    if isinstance(family, truncated_exponential.Law):
        half = np.concatenate([[0.0], 2.0 ** -np.arange(10.0, 0.0, -1.0)])
        r, weights = _panels(np.concatenate([half, 1 - half[-2::-1]]), 12)
        return r, np.log(weights)
    z = np.linspace(-10, 10, 161)  # the trapezoidal rule is exact to rounding for a Gaussian integrand
    r = family.sd**2 * c + family.sd * z
    return r, -0.5 * (r / family.sd) ** 2 + np.log((z[1] - z[0]) / np.sqrt(2 * np.pi))


def _panels(edges, order):
    """Gauss-Legendre nodes and weights on each panel between consecutive edges."""
    x, w = _gauss(order)
    width = np.diff(edges)[:, None]
    return (edges[:-1, None] + width * (x + 1) / 2).ravel(), (w * width / 2).ravel()


@functools.cache
def _gauss(order):
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(order)


def cosines(law, s):
    """Features psi(s)_j = offset + cos(frequency_j s + phase_j), nonnegative if the offset is 1."""
    return law["offset"] + np.cos(np.multiply.outer(s, law["frequency"]) + law["phase"])


class Model:
    """The log-partition function and the printed formulas of its derivatives, by the package's families.

    `features` has one cell and one action; theta is (d,) or, for curvatures, (n, d).
    """

    def __init__(self, law, families=REWARDS):
        A = np.asarray(law["A"])
        self.features = Features.dense(np.asarray(law["phi"])[None, None], A)
        self.reward = families[law["kind"]] if "B" in law else None
        if self.reward is not None:
            self.x = self.features.U[0, 0].T @ np.asarray(law["B"])
        elif law["kind"] == "finite":
            psi = np.asarray(law["psi"])
            self.family = Family(FiniteSpace(len(psi)), psi, np.zeros(len(psi)))
        elif law["kind"] == "cosines":
            space = BinnedInterval(4)
            self.family = Family(space, cosines(law, space.nodes), np.zeros(len(space.nodes)))
        else:
            self.family = TruncatedNormal(BinnedInterval(1), law["sigma"])

    def _moments(self, thetas):
        return self.family.moments(self.features.natural(thetas))

    def log_partition(self, theta):
        if self.reward is not None:
            return float(self.reward.log_partition(self.x @ theta))
        return float(self._moments(theta[None])[0][0, 0, 0])

    def gradient(self, theta):
        """The gradient of Z: E[psi]'A_i phi for transitions, E[r] B'A_i phi for rewards."""
        if self.reward is not None:
            return self.reward.mean(self.x @ theta) * self.x
        return self.features.pull(self._moments(theta[None])[1])[0]

    def hessian(self, theta):
        """The Hessian of Z: phi'A_i' Cov[psi] A_j phi for transitions, Var(r) phi'A_i'B B'A_j phi for rewards."""
        if self.reward is not None:
            return self.reward.variance(self.x @ theta) * np.outer(self.x, self.x)
        return self.features.sandwich(self._moments(theta[None])[2])[0, 0]

    def curvature(self, thetas, delta):
        """The curvature delta' Hessian(theta) delta for many thetas, (n, d) -> (n,)."""
        if self.reward is not None:
            return self.reward.variance(thetas @ self.x) * (self.x @ delta) ** 2
        direction = self.features.natural(delta[None])[0, 0, 0]
        return np.einsum("p,npq,q->n", direction, self._moments(thetas)[2][:, 0, 0], direction)
