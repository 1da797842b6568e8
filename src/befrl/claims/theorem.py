"""Theorem 1 itself: MDPs in which BEF-RLSVI has linear regret, against the printed bound."""

import functools
import math

import numpy as np

from befrl.claims.toolbox import bounded_trap, traps
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, listed
from befrl.model.theorem import first_below, terms, theorem_x

USES = bounded_trap.uses()
EPISODES = 30  # of each simulated run
SHORT, FEW = 8, 400  # episodes and runs of the package's agent, which is slower
MDPS = ("hidden", "cancelling")
ONE_STEP = {"mdps": ("one step",)}


@claim(
    "C62",
    statement=r"Theorem 1: with probability at least $1-7\delta$, $R(K)$ is at most the printed bound. Assumption 1 is "
    r"read for unit vectors of $\mathbb R^p$ (C16), with Gaussian laws, which meet it for all $\theta$ (C17).",
    meaning=r"log of (a regret exceeded with probability above 7 delta / the bound at the same K)",
    others={
        r"for $K\le100$ and $\eta\le\beta^pB_{\varphi,\mathbb A}$, where the bound exceeds HK": {"K": 100},
        r"for $H=p=1$, all $\alpha$ and $\beta$ 1, $c=100$": ONE_STEP | {"c": 100.0},
    },
    mutants={
        "for $p=1$": {"mdps": ("cancelling",)},
        r"for bounded $\psi,\varphi\ge0$ and rewards in [0,1], on a compact set": {"mdps": ("bounded",)},
        "with a thousand times the bound and $c=1000$": {"factor": 1e3, "c": 1000.0},
        r"with a million times $x_k$, in the algorithm and in the bound": {"scale": 1e6},
        r"for $p\ge2$, with K a million times larger": {"mdps": ("hidden",), "far": 1e8},
        r"with probability $\frac12$": {"allowed": 0.5},
    },
)
def regret_bound(rng, trials, mdps=MDPS, **reading):
    r"""It is false: noise on rewards never reaches an action whose unknown effect lies in the transitions alone.

    Let $p=2$, $B=e_1$, $H=2$, variances 1. At the start the actions up, down and new move the second coordinate of the
    state to y with mean $\theta_1$, $-\theta_1$, $\theta_2$; no reward depends on that, as $B\perp M_\theta\varphi$.
    Later the mean reward is $\theta^r_3\Phi(y)$. As long as new was not tried, $\hat\theta_2=0$, and actions of mean v
    are worth $\tilde\theta^r_3\Phi(v/\sqrt2)$: for $\hat\theta_1\ne0\ne\tilde\theta^r_3$ that is monotone, so up or
    down beats new, whatever $x_k$. Hence new is tried in episode 1, where all tie, or never, and $\theta_2>\theta_1$
    makes $R(K)\ge\Delta(K-1)$ with probability $\frac23$; the bound is $O(\sqrt K\log^{3/2}K)$. The proof errs in C46
    and C51. Bounded laws with monotone rewards serve as well, if no estimate of $\theta_1$ is exactly 0.
    For $p=1$ noise can cancel: the second feature is $-we_2$ near $y=0$, where new ($e_2$) is imagined to lead, $e_3$
    (the reward) at 2m, where it leads; up and down lead to $\pm m$ and see neither, up to chances $K\Phi(2-m)$.
    To the letter no model meets the hypotheses, and the theorem is empty: C16, C17. $H=1$ is linear Thompson sampling.

    Attack: BEF-RLSVI on these MDPs with random sizes, $\eta$, $\delta$ and c; the share of runs without new in 30
    episodes has a binomial limit of joint level 1e-6, less a bound for later ones. K is 100 times that of equality.
    """
    worst, seed, runs = Worst(), int(rng.integers(2**32)), 400 + 20 * trials
    cases = list(_cases(rng, trials, mdps))
    for number, case in enumerate(cases):
        worst.see(*_excess(case, runs, (seed, number), LEVEL / len(cases), **reading))
    return Evidence(worst.value, listed(worst.instance), "test", sum(_runs(case, runs) for case in cases))


def _cases(rng, trials, mdps):
    """Each MDP with fixed and with random sizes and constants; for H = 1 the size m plays no part."""
    for trap in mdps:
        yield {"trap": trap, "m": 0.5 if trap == "hidden" else 12.0, "M": 2.0, "eta": 1.0, "delta": 0.05, "c": 2.0}
        for _ in range(0 if trap == bounded_trap.NAME else 1 + trials // 100):
            m = rng.uniform(0.2, 1.0) if trap == "hidden" else rng.uniform(12, 20)
            eta, delta, c = 10.0 ** rng.uniform((-1, -3, 0), (0, -1.4, 1))
            yield {"trap": trap, "m": m, "M": rng.uniform(1.5, 3.0), "eta": eta, "delta": delta, "c": c}


def _excess(case, runs, seed, level, K=None, c=None, scale=1.0, factor=1.0, far=100.0, allowed=None):
    """log(regret/bound) at a regret that is exceeded with more than the allowed probability, and the instance."""
    z = traps.constants(case) | {"eta": case["eta"], "delta": case["delta"], "c": c or case["c"]}
    sizes = (z["d"], z["H"])
    allowed = allowed or 7 * case["delta"]

    def x(K):
        return scale * theorem_x(z, *sizes, K, z["eta"], z["delta"], known_reward=False)

    def bound(K):
        return factor * sum(terms(z | {"K": K, "x": x(K)})["theorem"].values())

    gap = traps.gap(case)
    equal = first_below(bound, gap)
    K = K or far * equal
    first, episodes = _first_trials(tuple(case.items()), x(K), runs, seed)
    chance = lower_limit(int((first > episodes).sum()), len(first), level) - traps.later(case, episodes, K)
    if chance > allowed:
        regret = gap * (K - 1)
    else:
        K, regret = episodes, gap * np.quantile(first - 1, 1 - allowed)
    found = {"chance": chance, "allowed": allowed, "K": K, "regret": regret, "bound": bound(K), "equal at K": equal}
    return math.log(max(regret, 1e-9) / found["bound"]), case | found


@functools.lru_cache(64)
def _first_trials(case, x, runs, seed):
    """The first episodes with new, by run, and the number of episodes played."""
    case = dict(case)
    if case["trap"] == bounded_trap.NAME:
        return bounded_trap.first_trials(x, case["eta"], _runs(case, runs), SHORT, seed[0]), SHORT
    return traps.first_trials(case, x, _runs(case, runs), EPISODES, np.random.default_rng(seed)), EPISODES


def _runs(case, runs):
    """The number of runs on an MDP."""
    return FEW if case["trap"] == bounded_trap.NAME else runs
