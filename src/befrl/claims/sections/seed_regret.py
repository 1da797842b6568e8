"""Theorem 1 of bef-seed for one-hot features: the sum of widths, one episode behind the gate, and whole runs."""

import functools

import numpy as np
from scipy.special import log_softmax

from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.search import search
from befrl.claims.toolbox.seed import SKIPPED, backward, bernstein, uncovered
from befrl.model.seed_theorem import TAIL

BETA_R = 1.0  # Gaussian rewards of variance 1
RUNS, EPISODES, FAILURE = 300, 7_000, 0.02
MEANS, C = np.array([0.1, 0.9]), 0.05


def regret_bound(rng, trials, lead=4, rewards=8, first_visits=True, gate="both", cut=True, optimism=True):
    """S14: the regret is at most 1.582 (1 + 2c) [Y + Y_r + H(H+1)/2 log(1/delta)], one-hot features.

    lead      of omega H sqrt(b X K H) in Y; `rewards` of sqrt(beta_r b_r X K H), Y_r
    gate      'both' the gate and the factor 1 + 2c; 'no factor': without this factor; 'no gate': without the gate
    cut       mean rewards r- and r+ are cut to [0, 1]
    optimism  False: the greedy policy of the estimates, in whole runs
    """

    def violation(case):
        if case["kind"] == "widths":
            cells = case["cells"] if "cells" in case else np.zeros(case["shape"], int)
            Y = _bound(case["X"], *cells.shape, lead, rewards, first_visits, case)
            return uncovered(_sum_of_widths(cells, case), Y)
        if case["kind"] == "episode":
            regret, widths = _episode(case, gate != "no gate")
            return uncovered(regret, (1 if gate == "no factor" else 1 + 2 * case["c"]) * widths)
        if case["kind"] == "rare state":
            return _rare_state(case, cut)
        return uncovered(lower_limit(_failures(case["seed"], optimism), RUNS, LEVEL), 2 * FAILURE)

    whole = {"kind": "runs", "seed": int(rng.integers(2**32))}
    edges = [*EDGES, whole]
    return search(rng, trials, _draw, violation, edges=edges, climb=False)


def _bound(X, K, H, lead, rewards, first_visits, case):
    """Y + Y_r."""
    Y = (H**2 * X if first_visits else 0) + lead * case["omega"] * H * np.sqrt(case["b"] * X * K * H)
    return float(Y + rewards * np.sqrt(BETA_R * case["b_r"] * X * K * H))


def _sum_of_widths(cells, case):
    """The sum of w + w^r over the visits of cells (K, H), with D = b/n and n visits before the episode."""
    K, H = cells.shape
    visits = np.zeros((K + 1, case["X"]))
    np.add.at(visits, (np.arange(1, K + 1)[:, None], cells), 1)
    n = np.maximum(visits.cumsum(0)[:-1][np.arange(K)[:, None], cells], 1e-300)
    w = (H - 1 - np.arange(H)) * np.minimum(1, case["omega"] * np.sqrt(2 * case["b"] / n))
    return float((w + np.minimum(1, np.sqrt(8 * BETA_R * case["b_r"] / n))).sum())


def _episode(case, gated):
    """The regret of one episode, and (1 + 2c) E_k Y_k without the factor; all sets contain the truth."""
    P, log_P = _laws(case["true"])
    hat, log_hat = _laws(case["hat"])
    D = case["wider"] * (hat * (log_hat - log_P)).sum(-1).clip(0)
    r, x = case["r"], case["x"]
    estimate = r + case["off"] * x  # |estimate - r| <= x = sqrt(2 D^r)
    high, low = np.minimum(estimate + x, 1), np.maximum(estimate - x, 0)
    H, S = case["policy"].shape

    def upper(V):
        mean = hat @ V
        return mean + bernstein(mean, (hat * np.square(V - mean[..., None])).sum(-1), V, D)

    def planned(reward, expect, policy=None):
        V, actions = backward(lambda V: reward + expect(V), H, S, policy)
        return V[0, 0], actions

    def values(policy):
        return planned(high, upper, policy)[0], planned(low, lambda V: -upper(-V), policy)[0]

    U, bold = planned(high, upper)
    policy = case["policy"]
    O, L = values(policy)
    if gated and U - O > case["c"] * (O - L):
        policy = bold
    best, value = (planned(r, lambda V: P @ V, each)[0] for each in (None, policy))
    width = np.minimum(1, np.sqrt(8 * BETA_R / 2) * x)
    total, law = 0.0, np.eye(S)[0]
    for h in range(H):
        here = np.arange(S), policy[h]
        total += law @ (width[here] + (H - 1 - h) * np.minimum(1, np.sqrt(2 * D[here])))
        law = law @ P[here]
    return best - value, total


def _laws(logits):
    logs = log_softmax(logits, axis=-1)
    return np.exp(logs), logs


def _rare_state(case, cut):
    """What the bound leaves uncovered if a rare state keeps the gate open with probability above 2 delta; else -1.

    H = 2, known transitions, two actions at s_1 with mean rewards 1 and 0. Both lead to a state with probability p,
    whose own reward was never seen: r+ - r- is 1, or 2 sqrt(2b/eta) if it is not cut.
    """
    p, K, eta, c, delta = (case[key] for key in ("p", "K", "eta", "c", "delta"))
    late = np.log(4 / delta)  # four cells
    b = eta / 2 + np.log1p(K / eta) / 2 + late
    unseen = 1.0 if cut else 2 * np.sqrt(2 * late / eta)
    kept_open = c * p * unseen >= 1 + 4 * np.sqrt(2 * b)  # U - O, after one visit of each action, is at most this
    bound = TAIL * (1 + 2 * c) * (_bound(4, K, 2, 4, 8, True, {"omega": 1, "b": 0.0, "b_r": b}) + 3 * np.log(1 / delta))
    likely = K * np.log1p(-p) > np.log(2 * delta)
    return uncovered(K - 2, bound) if kept_open and likely else SKIPPED


@functools.lru_cache(4)
def _failures(seed, optimism):
    """How many of RUNS two-armed bandits (H = 1, Gaussian rewards) have a regret above the bound at some K."""
    rng, rows, B, eta = np.random.default_rng(seed), np.arange(RUNS), 1.0, 1.0
    late, bound = np.log(2 / FAILURE), np.empty(EPISODES)
    for k in range(EPISODES):
        b = eta * B**2 / 2 + np.log1p((k + 1) / eta) / 2 + late
        total = _bound(2, k + 1, 1, 4, 8, True, {"omega": 1, "b": 0.0, "b_r": b}) + np.log(1 / FAILURE)
        bound[k] = TAIL * (1 + 2 * C) * total
    sums, n, regret, failed = np.zeros((RUNS, 2)), np.zeros((RUNS, 2)), np.zeros(RUNS), np.zeros(RUNS, bool)
    for k in range(EPISODES):
        hat = sums / (n + eta)
        arm = hat[:, 1] > hat[:, 0]
        if optimism:
            x = np.sqrt((eta * B**2 + np.log1p(n / eta) + 2 * late) / (n + eta))  # (n + eta) x^2/2 = b
            high, low = np.minimum(hat + x, 1), np.maximum(hat - x, 0)
            arm = _softened(rng, hat.clip(low, high), high, low)
        arm = arm.astype(int)
        sums[rows, arm] += MEANS[arm] + rng.standard_normal(RUNS)
        n[rows, arm] += 1
        regret += MEANS[1] - MEANS[arm]
        failed |= regret > bound[k]
    return int(failed.sum())


def _softened(rng, hat, high, low):
    """The arm 0 or 1 that T_zeta prefers, if the gate lets it pass; else that of T_1."""
    zeta = np.minimum(1, np.abs(rng.standard_normal(RUNS)) / 2)[:, None]
    soft = hat + zeta * (high - hat)
    bold, arm = high[:, 1] > high[:, 0], soft[:, 1] > soft[:, 0]
    O, L = (np.where(arm, ends[:, 1], ends[:, 0]) for ends in (high, low))
    return np.where(high.max(1) - O > C * (O - L), bold, arm)


def _draw(rng):
    if rng.random() < 0.5:
        K, H, X = int(rng.integers(1, 60)), int(rng.integers(1, 30)), int(rng.integers(1, 5))
        law = rng.dirichlet(np.ones(X) / 2)
        cells = rng.choice(X, (K, H), p=law) if rng.random() < 0.5 else np.arange(K * H).reshape(K, H) % X
        b, b_r = 10.0 ** rng.uniform(-2, 1, 2)
        return {"kind": "widths", "cells": cells, "X": X, "b": b, "b_r": b_r, "omega": int(rng.integers(1, 3))}
    H, S, A = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 3))
    true, step = rng.standard_normal((2, S, A, S)) * 10.0 ** rng.uniform(-1, 0.5, (2, 1, 1, 1))
    case = {"r": rng.random((S, A)), "x": 10.0 ** rng.uniform(-2, 0, (S, A)), "off": rng.uniform(-1, 1, (S, A))}
    case |= {"policy": rng.integers(0, A, (H, S)), "c": 10.0 ** rng.uniform(-2, 1), "wider": 10.0 ** rng.uniform(0, 1)}
    return {"kind": "episode", "true": true, "hat": true + step} | case


ONE = {"kind": "widths", "X": 1, "omega": 1}
BANDIT = {"kind": "episode", "true": np.zeros((1, 2, 1)), "hat": np.zeros((1, 2, 1)), "wider": 1.0, "c": 1.0}
EDGES = (
    ONE | {"shape": (1, 200), "b": 0.02, "b_r": 0.02},
    ONE | {"shape": (2000, 20), "b": 10.0, "b_r": 0.0},
    ONE | {"shape": (2000, 20), "b": 0.0, "b_r": 10.0},
    # The worst arm is at the lower end of its set, the best one at the upper end, and the gate is just passed.
    BANDIT
    | {"r": np.array([[0.2, 0.6]]), "x": np.array([[0.1, 0.1]]), "off": np.array([[1.0, -1.0]])}
    | {"policy": np.array([[0]])},
    BANDIT
    | {"r": np.array([[0.0, 1.0]]), "x": np.array([[0.01, 0.01]]), "off": np.zeros((1, 2))}
    | {"policy": np.array([[0]])},
    {"kind": "rare state", "p": 1e-8, "K": 10**8, "eta": 1e-18, "c": 1.0, "delta": 0.05},
)
