"""Runs of BEF-RLSVI in which bad rounds are counted: of the played episodes, and of imagined ones."""

import functools
from fractions import Fraction

import numpy as np
from scipy.special import ndtr

from befrl import agents, instances
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.experiment import bad_rounds
from befrl.experiment.episodes import play
from befrl.experiment.spec import RunSpec

FAR = 6  # the mean of the next state in the example
LEAST, MOST = Fraction(1586, 10**4), Fraction(1, 10**9)  # below Phi(-1), above Phi(-6)
SIZES = ((2, 1000), (40, 1000))  # H and K of the example
CASES = (
    ("jao", {"arms": 3, "horizon": 5}),
    ("riverswim", {"states": 4, "horizon": 8}),
    ("chain", {"bins": 4, "horizon": 10}),
    ("factored", {"machines": 2, "horizon": 3}),
    ("literal", {"bins": 3, "horizon": 1}),
)


def uses() -> list[str]:
    """The modules that the runs find by name and not by an import statement."""
    found = agents.modules("bef-rlsvi", {})
    return [*found, *(module for name, values in CASES for module in instances.modules(name, values))]


@functools.lru_cache(1)
def bad_round_runs(seed, trials):
    """The example, one state, and runs of BEF-RLSVI on CASES, four settings of penalty and noise each."""
    found = []
    for H, K in SIZES:
        values = normal_steps(H, K)
        run = {"name": f"example with H = {H}, K = {K}", "d": 2, "y": 2, "steps": np.zeros((1, K)), "example": values}
        found.append(run | {key: values[key][None] for key in ("imagined", "KL", "played")})
    once = np.eye(1, 10)  # d = 1, one state, alpha B = eta: all 40 steps of the first episode are bad, later ones not
    one = {"name": "one state, H = 40", "d": 1, "y": 1, "steps": 40 * once, "played": once, "imagined": once}
    found.append(one | {"KL": 0 * once, "example": None})
    for name, values in CASES:
        instance = _instance(name, tuple(values.items()))
        p, alpha = instance.model.features.p, instance.constants["alpha_r"]
        etas = [alpha * p * instance.constants["B_phi_A"] * share for share in (0.999, 0.03)]
        found.append(_run(instance, name, etas, ["theory", 1e-3], 2 + trials // 2, 24, seed) | {"example": None})
    return found


@functools.cache
def _instance(name, values):
    return instances.build(name, dict(values))


def normal_steps(H, K):
    """Normal laws of variance 1, all alpha and beta 1: the expected number of imagined bad rounds, and its bounds.

    The state is a number, psi(s) = s, one action. At s > 0 the feature is e_1, at s <= 0 it is f e_2 with f^2 = 2 eta;
    A_i = e_i', so bold A = I and B_{phi,A} = 2 eta. theta^p = (6, 0), eta = 6HK, s_1 = 1. Rewards are normal with
    mean 1/2 everywhere and variance 1: theta^r = (1/2, 1/(2f)), B = 1. After n = (k - 1)H steps in s > 0 the estimate
    is normal with mean 6n/(n + eta) < 1 and variance n/(n + eta)^2. A round is bad if s <= 0 is imagined and was never
    visited: its squared norm is then 2.

    imagined  the expectation by quadrature, for each k, less n Phi(-6), which bounds the chance that s <= 0 was visited
    least     a rational lower bound of its sum: K (Phi(-1) - HK Phi(-6))
    printed   C_d = 6/log 2 log(1 + 4 eta/log 2), from above; the corrected one is 6/log 2 log(1 + 2/log 2) = 11.7
    """
    eta, n = FAR * H * K, H * np.arange(K)[:, None]
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    estimate = (FAR * n + np.sqrt(n) * nodes) / (n + eta)
    mean = weights / weights.sum()
    log2 = log1p_bounds(Fraction(1))[0]
    return {
        "imagined": (1 - ndtr(estimate) ** (H - 1)) @ mean - n[:, 0] * ndtr(-FAR),
        "KL": np.minimum(1, (FAR - estimate) ** 2 / 2 @ mean),  # of the first step alone
        "played": np.full(K, 1 - ndtr(FAR) ** (H - 1)),
        "least": K * (LEAST - H * K * MOST),
        "printed": 6 / log2 * log1p_bounds(4 * eta / log2)[1],
        "eta": eta,
    }


def _run(instance, name, etas, scales, seeds, episodes, seed):
    """Play; return (rows, K): bad steps played, probabilities of a played and an imagined bad round, min(1, KL)."""
    settings = [{"eta": eta, "scale": scale} for eta in etas for scale in scales]
    spec = RunSpec.of(instance, name, "bef-rlsvi", settings, episodes, range(seeds), root_seed=seed)
    rows = np.arange(spec.rows)[:, None]
    log = {key: np.empty((spec.rows, episodes)) for key in ("steps", "played", "imagined", "KL")}
    for k, (agent, plan, trajectory) in enumerate(play(spec)):
        bad = bad_rounds.squared_norms(instance, agent.learner) >= 1.0
        played, imagined, KL = bad_rounds.chances(instance, agent.learner, plan.policy, bad)
        first = trajectory.cells[:, :1]
        log["steps"][:, k] = bad[rows, trajectory.cells, trajectory.actions].sum(1)
        for key, value in zip(("played", "imagined", "KL"), (played, imagined, np.minimum(KL, 1.0)), strict=True):
            log[key][:, k] = value[rows, first][:, 0]
    ratio = agent.learner.eta / instance.constants["alpha_r"]
    y = min(instance.model.d, instance.model.features.p) * instance.constants["B_phi_A"] / ratio
    return {"name": name, "d": instance.model.d, "y": y, **log}
