"""Sections 4 and 5.1: how large the perturbed values are, and what clipping would change."""

import itertools
from dataclasses import replace

import numpy as np
from scipy.special import expit, gammaincinv

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.chances import LEVEL, lower_limit, upper_limit
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential
from befrl.model.theorem import theorem_x

LAWS = {"gaussian": gaussian.Law(), "bernoulli": bernoulli.Law(), "truncated exponential": truncated_exponential.Law()}
GAUSSIAN, BOUNDED = {"laws": ("gaussian",)}, {"laws": ("bernoulli", "truncated exponential")}


@claim(
    "C60",
    statement=r"Bad rounds are why clipping is necessary (L382): if all feature norms are less than 1, the perturbed "
    r"values stay in $[0,H]$ without it, with probability $1-\delta$.",
    meaning="log of ((1 - delta)-quantile of the largest value / H); for optimism, 0.01 minus what clipping costs",
    tolerance=1e-9,
    repairs={"for bounded rewards, in all rounds": BOUNDED | {"good": False}},
    steps={"L343, L382: clipping can lower the chance of optimism; for Gaussian rewards": GAUSSIAN | {"clip": True}},
    mutants={
        "for Gaussian rewards": GAUSSIAN,
        r"for bounded rewards, $[0,\frac H2]$": BOUNDED | {"scale": 0.5},
        "clipping can lower the chance of optimism with bounded rewards": BOUNDED | {"clip": True},
    },
)
def free_of_clipping(rng, trials, laws=tuple(LAWS), good=True, scale=1.0, clip=False):
    r"""For bounded rewards there is nothing to clip; for Gaussian rewards, good rounds need it too.

    Bounded: the mean of r is in [0,1] for every $\tilde\theta^r$, so that clipping changes nothing. Gaussian: a feature
    of norm g moves the mean of r by up to $g\|\xi\|_{\bar G}\approx gdH$. Values leave $[0,H]$ until
    $g\approx\frac1{dH}$, not until $g<1$. What is gained without clipping is optimism. H states in a row, mean rewards
    1, small independent noise: the sum is optimistic with chance 1/2. If $Q_h$ is cut to $[0,H-h+1]$, excess is lost
    and deficits stay: the chance is that of a symmetric random walk that is never negative,
    $\frac{(2H)!}{H!^24^H}\approx\frac1{\sqrt{\pi H}}$, less than $\Phi(-1)$ for $H\ge13$.

    Correction: The mean of a law on [0,1] is in [0,1].

    Attack: State 1 of C61, with norms below 1 or up to 10 and Theorem 1's $x_k$: exact quantiles for three laws of
    rewards. Optimism is counted, with exact binomial limits of joint level 1e-6.
    """
    worst = Worst()
    if clip:
        cost, runs = _cost_of_clipping(rng, trials, LAWS[laws[0]])
        worst.see(0.01 - cost, {"rewards": laws[0], "cost": cost})
        return replace(evidence_of(worst), grade="test", number=runs)
    for case in _perturbed_values(rng, trials, laws, largest=0.99 if good else 10.0):
        see_largest(worst, np.log(np.maximum(case["V"], 1e-9) / (scale * case["H"])), case)
    return evidence_of(worst)


def _cost_of_clipping(rng, trials, law):
    """By how much clipping lowers the chance of optimism for H states in a row, at least; and the number of runs."""
    runs, costs = 1000 + 10 * trials, []
    for H, m in itertools.product((1, 2, 16), (0.5, 1 - 1e-6)):
        r = law.mean(law.natural(m) + 10.0 ** rng.uniform(-2, -1) * rng.standard_normal((H, runs)))
        free, cut = np.zeros((2, runs))
        for h in reversed(range(H)):
            free, cut = r[h] + free, np.clip(r[h] + cut, 0.0, H - h)
        hits = [int((V >= H * m).sum()) for V in (free, cut)]
        costs.append(lower_limit(hits[0], runs, LEVEL / 12) - upper_limit(hits[1], runs, LEVEL / 12))
    return max(costs), runs * len(costs)


def _perturbed_values(rng, trials, laws, largest):
    """Value V of state 1 and span S in the example of C61, at their (1 - delta)-quantiles, and E of its repair."""
    edges = [(d, H, 1e4, 0.1, 0.99) for d, H in ((1, 1), (2, 100), (3, 10**4), (1000, 10))]
    draws = 10 ** rng.uniform((0, 0, 0.5, -3, -2), (3, 4, 6, -0.5, 1), (trials, 5))
    d, H, K, delta, g = np.concatenate([edges, draws]).T
    d, g = np.floor(d), np.minimum(g, largest)
    H, B = np.where(d > 1, np.floor(H), 1.0), g**2 / 0.1  # eta = 1
    kept, chi = _kept((K - 1) * H, H), np.sqrt(2 * gammaincinv(np.maximum(d - 1, 1) / 2, 1 - delta))
    for kind in laws:
        law = LAWS[kind]
        alpha_r, beta_r = (float(end) for end in law.variance_range(abs(law.natural(0.75))))
        constants = {"alpha_p": 0.1, "beta_p": 0.25, "alpha_r": alpha_r, "beta_r": beta_r, "B_A": 1.0, "B_phi_A": B}
        x = theorem_x(constants, d, H, K, 1.0, delta, known_reward=False)
        top, radius = law.mean(g * np.sqrt(x) * chi), 0.5 + d * np.log1p(beta_r * B * H * K) - np.log(delta)
        error = beta_r * (np.sqrt(2 * radius * B) + g * np.sqrt(2 * x * d * np.log(d / delta)))
        sizes = {"rewards": kind, "d": d, "H": H, "K": K, "delta": delta, "norm": g, "x": x}
        yield sizes | {"V": H / 4 + (top - 0.25) * (H + kept) / 2, "S": kept * np.abs(top - 0.25), "E": error}


def _kept(n, H):
    """sum_{j<H} (2q - 1)^j, where q = 1/(1 + e^-theta), n (1 - q) = 2 theta, is the estimated chance after n stays."""
    low, high = np.zeros_like(n), np.full_like(n, 50.0)
    for _ in range(60):
        theta = (low + high) / 2
        low, high = np.where(n * expit(-theta) > 2 * theta, (theta, high), (low, theta))
    return -np.expm1(H * np.log1p(-2 * expit(-theta))) / (2 * expit(-theta))


@claim(
    "C61",
    statement=r"With probability $1-\delta$, the span of $V_{\hat\theta^p,\tilde\theta^r,h}$ is at most $dH^{3/2}$.",
    meaning="log of ((1 - delta)-quantile of the span / its bound)",
    tolerance=1e-9,
    repairs={
        r"$H(1+2E)$ for it, $E=\beta^r(\sqrt{2\beta^r(K,\delta)B_{\varphi,\mathbb A}/\eta}+g\sqrt{2x_kd\log(d/\delta)})"
        r"\propto dH$, g the largest norm": {"bound": "noise"},
        "H for it, for bounded rewards": BOUNDED | {"bound": "range"},
    },
    others={"the printed bound, for bounded rewards": BOUNDED},
    mutants={
        r"the first repair with $E/\sqrt H$": {"bound": "shorter"},
        r"the first repair with $E/\sqrt d$": {"bound": "one direction"},
        "the printed bound, for Gaussian rewards and norms below 1": GAUSSIAN | {"largest": 0.99},
        r"$\frac H2$ for it, for bounded rewards": BOUNDED | {"bound": "half"},
    },
)
def span_of_values(rng, trials, bound="printed", laws=tuple(LAWS), largest=10.0):
    r"""True for bounded rewards, where H is enough; for Gaussian rewards the order is $dH^2$, not $dH^{3/2}$.

    $\sqrt H$ would come from $\sum_h\|a_h\|_{\bar G^{-1}}\le\sqrt{Hd\log(\cdot)}$, false for single episodes (C58).
    Example: two states, $\psi(s)=e_s$, $M_\theta\varphi=\theta_1e_s$, in state 1 plus $\sum_{j\ge2}\theta_ja_jv$ with
    $B^\top v=1$ and unit vectors a as actions. Episodes start and stay in 0. So $\hat\theta_1$ is large, both states
    seem to keep the path, and norms in state 1 remain at g. Its value is
    $H\max_aa^\top\xi=Hg\sqrt{x_k}\chi_{d-1}\approx gdH^2$. There are no constants either: for $d=H=1$ the bound is 1.

    Correction: $\|\theta-\tilde\theta\|_{\bar G}$ is at most the sum of two radii (C27, C30), so that Gaussian mean
    rewards, $|B|=1$, lie in $[-E,1+E]$. Bounded rewards have means in [0,1].

    Attack: The example (one step for $d=1$), with $\hat\theta_1$ after $K-1$ episodes and Theorem 1's $x_k$, for random
    sizes, norms and $\delta$ and three laws of rewards. The span grows with $\chi_{d-1}$: its quantile is exact.
    """
    worst = Worst()
    for case in _perturbed_values(rng, trials, laws, largest):
        H, d, E = case["H"], case["d"], case["E"]
        limits = {"printed": d * H**1.5, "range": H, "half": H / 2, "noise": H * (1 + 2 * E)}
        limits |= {"shorter": H * (1 + 2 * E / H**0.5), "one direction": H * (1 + 2 * E / d**0.5)}
        see_largest(worst, np.log(np.maximum(case["S"], 1e-9) / limits[bound]), case)
    return evidence_of(worst)
