"""Section 2: the bilinear exponential family, its examples, and the regret."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.special import logit

from befrl.claims.toolbox.laws import REWARDS, Model, definition, draw_reward
from befrl.claims.toolbox.search import search
from befrl.claims.toolbox.tabular import deterministic_policies, tabular, values_by_trajectories
from befrl.experiment.regret import Regret
from befrl.instances import riverswim
from befrl.model.families.base import FiniteFamily
from befrl.model.spaces import FiniteSpace

LOG_STATES = np.linspace(-40, 40, 2001) * np.log(2)  # log s for s from 2^-40 to 2^40
COEFFICIENTS = np.array([-2, -1.5, -1, -0.5, 0, 0, 0, 0.5, 1, 1.5, 2])


def transition_density(rng, trials, finite_space=False, bounded=False, natural=False):
    """C01: The transition model is a probability density for every (s,a)."""

    def draw(rng):
        return within(bool(rng.integers(2)), rng.choice(COEFFICIENTS, 3))

    def within(half_line, coefficients):
        return _within_hypotheses(half_line and not finite_space, coefficients, bounded, natural)

    edges = [within(True, np.zeros(3)), within(False, np.array([0.0, 1.0, 0.0]))]
    return search(rng, trials, draw, _mass_outside, edges=edges, climb=False)


def _within_hypotheses(half_line, c, bounded, natural):
    """The case with coefficients c of psi, changed where psi has to be bounded or Z finite."""
    if bounded:
        c[:2] = 0
    elif natural:
        c[0] = -abs(c[0])
        c[1] = c[1] if c[0] else min(c[1], -1.5 if half_line else 0.5)
    return {"half line": half_line, "coefficients": c}


def _mass_outside(case):
    """The share of the mass above 2^20 on (0, 2^40], or below 2^-20 on (2^-40, 1]."""
    s, c = np.exp(LOG_STATES), np.asarray(case["coefficients"])
    if case["half line"]:
        psi, inner, outer = np.stack([s, np.log1p(s), s / (1 + s)]), s <= 2.0**20, s > 0
        if not c.any():  # the integral of 1 over (0, n] is n
            return 1 - Fraction(2**20, 2**40)
    else:
        psi, inner, outer = np.stack([1 / s, -np.log(s), s]), (s >= 2.0**-20) & (s <= 1), s <= 1
    exponent = c @ psi + LOG_STATES
    return float(1 - np.exp(np.logaddexp.reduce(exponent[inner]) - np.logaddexp.reduce(exponent[outer])))


def reward_density(rng, trials, domain="states"):
    """C02: The reward model is one, with the objects (B, the domain of Z^r) as typed."""
    kinds = [kind for kind in REWARDS if (kind == "truncated exponential") != (domain == "base")]

    def violation(law):
        if "theta" not in law:  # c = 0: the mass of [0, 1] is 1 and exp(Z) the length of the domain
            return abs(1 / Fraction(_length(domain, law)) - 1)
        T, log_weights = definition(law, law["theta"])
        return abs(float(np.exp(T @ law["theta"] + log_weights - _log_partition(domain, law, T)).sum()) - 1)

    def draw(rng):
        return draw_reward(rng, kinds) | {"size of S": float(rng.choice((0.5, 1, 2, 5)))}

    return search(rng, trials, draw, violation, edges=[{"c": 0, "size of S": 2}], climb=False)


def _length(domain, law):
    """The measure of the domain of the integral: S, an interval, or a base measure of mass 1."""
    return {"states": law["size of S"], "base": 1}.get(domain) or domain[1] - domain[0]


def _log_partition(domain, law, T):
    """Z^r with the integral over this domain; over S it depends on the reward, as T does."""
    theta, length = np.asarray(law["theta"]), _length(domain, law)
    if domain == "states":
        return T @ theta + np.log(length)
    if domain == "base":
        return Model(law).log_partition(theta)
    c = Model(law).x @ theta  # r = low + length u with u in [0, 1]
    return domain[0] * c + np.log(length) + REWARDS["truncated exponential"].log_partition(length * c)


def without_base_measure(rng, trials, zeros=True, squares=True, base=False, dropped=0):
    """C03: Leaving out the base measure loses none of the examples (tabular, factored, linear-Gaussian)."""

    def violation(case):
        return _gaussian_error(squares, **case) if "f" in case else _finite_error(base, dropped, **case)

    swim = riverswim.transition_matrix("osband", 6)[0][2, 1]
    edges = [{"P": np.array([0.0, 1.0])}, {"P": swim}] if zeros else [{"P": np.array([0.1, 0.2, 0.3, 0.4])}]
    edges.append({"f": 1.0, "sigma": 1.0})
    return search(rng, trials, lambda rng: _draw_example(rng, zeros), violation, edges=edges, climb=False)


def _draw_example(rng, zeros):
    """A random Gaussian law, tabular law P, or factored law P, whose bits are on with the chances `on`."""
    kind = rng.integers(3)
    if kind == 0:
        return {"f": 3 * rng.standard_normal(), "sigma": 10 ** rng.uniform(-0.3, 0.7)}
    if kind == 1:
        P = rng.dirichlet(np.full(rng.integers(3, 7), 0.5)) + 1e-9
        P[0] *= not (zeros and rng.random() < 0.5)
        return {"P": P / P.sum()}
    on = rng.uniform(0.01, 0.99, rng.integers(1, 4))
    on[0] = round(on[0]) if zeros and rng.random() < 0.5 else on[0]
    return {"on": on, "P": np.where(_bits(len(on)) > 0, on, 1 - on).prod(1)}


def _gaussian_error(squares, f, sigma):
    """The distance of the family's law on a wide grid from N(f, sigma^2), in total variation."""
    s = np.linspace(-80 * sigma, 80 * sigma, 3201)
    law = _normalised(s * f / sigma**2 - (s**2 / (2 * sigma**2) if squares else 0.0))
    return float(np.abs(law - _normalised(-0.5 * ((s - f) / sigma) ** 2)).sum() / 2)


def _finite_error(base, dropped, P, on=None):
    """The share of the zeros of P that the family's law does not have, or else its largest error."""
    with np.errstate(divide="ignore"):
        natural = np.clip(np.log(P) if on is None else logit(on), -300, 300)
    psi = np.eye(len(P)) if on is None else _bits(len(on))
    if on is None and dropped:
        psi, natural = psi[:, dropped:], natural[dropped:] - natural[:dropped].mean()
    family = FiniteFamily(FiniteSpace(len(P)), psi, np.where(base & (P == 0), -np.inf, 0.0))
    fitted = family.kernel(natural[None, None, None])[0, 0, 0]
    lost = int(np.count_nonzero((P == 0) & (fitted > 0)))
    return Fraction(lost, len(P)) if lost else float(np.abs(fitted - P).max())


def _normalised(exponent):
    """The law on a grid, along the first axis, with this exponent."""
    mass = np.exp(exponent - exponent.max(0))
    return mass / mass.sum(0)


def _bits(n):
    """All states of n bits, (2^n, n)."""
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def linear_gaussian(rng, trials, curvature=1, slope=1, power=2):
    """C06: Linear-Gaussian dynamics are the case psi=(s',|s'|^2), M phi=(f/sigma^2, -1/sigma^2)."""

    def violation(case):
        f, sigma = case["f"], case["sigma"]
        b, c = slope * f / sigma**power, curvature / sigma**2
        if isinstance(sigma, Fraction):
            return max(abs(b / (2 * c) - f) / sigma, abs(1 / (2 * c * sigma**2) - 1))
        mean, variance = _moments(b.astype(float), float(c), 2 * np.abs(f).max() + 12 * sigma)
        return float(np.maximum(np.abs(mean - f) / sigma, np.abs(variance / sigma**2 - 1)).max())

    edge = {"f": Fraction(1), "sigma": Fraction(1)}
    return search(rng, trials, _draw_gaussian, violation, edges=[edge], climb=False)


def _draw_gaussian(rng):
    """A random mean in one to four dimensions and a standard deviation."""
    sigma = 10 ** rng.uniform(-1, 1)
    return {"f": sigma * rng.uniform(-8, 8, rng.integers(1, 5)), "sigma": sigma}


def _moments(b, c, width):
    """Mean and variance of the law with exponent bs - cs^2, for each entry of b, on a grid of |s| <= width."""
    s = np.linspace(-1, 1, 1601)[:, None] * width
    mass = _normalised(s * b - c * s**2)
    mean = (mass * s).sum(0)
    return mean, (mass * (s - mean) ** 2).sum(0)


def pseudo_regret(rng, trials, policy="own"):
    """C08: The regret is the sum over k of V of pi_star minus V of pi_k, and is computable exactly."""

    def violation(case):
        instance, starts = tabular(case["theta"], case["rewards"], case["H"]), case["starts"]
        values, k = values_by_trajectories(case["policies"], instance), np.arange(len(starts))
        reached = {"own": [values[k, starts]], "previous": [values[k - 1, starts]], "best": [values.max(0)[starts]]}
        best = values_by_trajectories(deterministic_policies(2, 2, case["H"]), instance).max(0)[starts]
        terms = best - np.array(reached.get(policy, values[:, starts]))  # one row for each choice of t
        difference = _regret_terms(instance, case["policies"], starts) - terms
        return float(np.maximum(np.abs(difference).max(1), -terms.min(1)).min() / case["H"])

    edge = {"theta": np.zeros((2, 2, 1)), "rewards": np.array([[0.0, 1.0], [0.0, 1.0]]), "H": 1}
    edge |= {"policies": np.eye(2)[np.array([[[0, 0]], [[1, 1]]] * 2)], "starts": np.zeros(4, dtype=int)}
    return search(rng, trials, _draw_episodes, violation, edges=[edge], climb=False)


def _draw_episodes(rng):
    """A random tabular instance, with random policies and first states of three episodes."""
    H, K = int(rng.integers(1, 4)), 3
    policies = rng.dirichlet(np.ones(2), (K, H, 2))
    policies = np.round(policies) if rng.random() < 0.5 else policies
    theta, rewards = 3 * rng.standard_normal((2, 2, 1)), rng.uniform(0, 1, (2, 2))
    return {"theta": theta, "rewards": rewards, "H": H, "policies": policies, "starts": rng.integers(0, 2, K)}


def _regret_terms(instance, policies, starts):
    """The package's regret of each episode (K,), for policies (K, H, S, A) and first states (K,)."""
    regret = Regret(instance, 1, len(starts))
    for table, start in zip(policies, starts, strict=True):
        regret.add(table[None], SimpleNamespace(states=start[None, None], cells=start[None, None]))
    regret.flush()
    return regret.values[0]
