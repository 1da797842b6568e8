"""Section 3.1: the two algorithms as printed, their noise, their data and their loop."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.linalg import eigh

from befrl.agents.base import Trajectory
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import Worst, search
from befrl.claims.toolbox.tabular import tabular
from befrl.learning.learner import Learner
from befrl.planning.induction import backward_induction


def noise_covariance(rng, trials, noise="p", factor=False, optimism=False, ordered=False, constant=100):
    """C09: The noise covariance x_k (Gbar^p)^-1 is the one that the reward proof needs."""

    def violation(case):
        alphas = case["alpha_p"], case["alpha_r"]
        alphas = dict(zip("pr", sorted(alphas) if ordered else alphas, strict=True))
        G = {key: case["eta"] / alpha * case["A"] + case["G"] for key, alpha in alphas.items()}
        largest = _largest_ratio(G[noise], G["p"]) if optimism else _largest_ratio(G["r"], G[noise])
        return largest / (constant * (max(1, alphas["p"] / alphas["r"]) if factor else 1)) - 1

    edges = [_one_dimension(G=0, alpha_p=10**6, alpha_r=1), _one_dimension(G=10**12, alpha_p=1, alpha_r=10**6)]
    return search(rng, trials, _draw_design, violation, edges=edges, climb=False)


def _one_dimension(**case):
    """The exact case d = 1 with A = eta = 1."""
    return {key: Fraction(value) for key, value in ({"A": 1, "eta": 1} | case).items()}


def _draw_design(rng):
    """A random matrix A of the penalty, a random sum G of the data, and random scales."""
    p, q = rng.integers(1, 4, 2)
    d = int(rng.integers(1, p * q + 1))
    A, phi = rng.standard_normal((d, p, q)), rng.standard_normal((rng.integers(0, 12), q))
    U = np.einsum("ipq,nq->nip", A, phi)
    scales = dict(zip(("alpha_p", "alpha_r", "eta"), 10.0 ** rng.uniform(-3, 3, 3), strict=True))
    return {"A": np.einsum("ipq,jpq->ij", A, A), "G": np.einsum("nip,njp->ij", U, U), **scales}


def _largest_ratio(needed, given):
    """The largest x'(needed)x / x'(given)x, for two matrices or two fractions."""
    return needed / given if isinstance(needed, Fraction) else eigh(needed, given, eigvals_only=True)[-1]


def data_of_an_episode(rng, trials, last=0, what="estimates"):
    """C10: Which episodes' data the estimators and Gbar_k of episode k use."""
    worst, n = Worst(), -(-trials // 4)
    for k in (1, 2, 3, 5):
        learner, eta = _learner(rng, n, k, last)
        used = learner.design().reshape(3, n, -1)
        if what == "estimates":
            used = np.concatenate([learner.theta_p, learner.theta_r], axis=1).reshape(3, n, -1)
        change = np.abs(used[1:] - used[0]).max(-1) / np.maximum(np.abs(used[0]).max(-1), 1e-300)
        violation = np.maximum(change[0], (change[1] < 1e-9) & (k > 1))
        row = int(violation.argmax())
        kept = {key: getattr(learner.data, key)[row::n].tolist() for key in ("counts", "sum_psi", "sum_reward")}
        worst.see(float(violation[row]), {"k": k, "eta": eta, **kept, "used": used[:, row].tolist()})
    return Evidence(worst.value, worst.instance, "search", 4 * n)


def _learner(rng, n, k, last):
    """A learner with the data of episodes 1 to k + last in three copies of n rows, and its eta.

    The second copy has other data in episode k, the third in episode k - 1.
    """
    H = int(rng.choice((1, 3)))
    model = tabular(rng.standard_normal((2, 2, 1)), rng.uniform(0, 1, (2, 2)), H).model
    problem = {"model": model, "n": 3 * n, "constants": {"alpha_p": 0.1}, "known_theta_r": None}
    setting = SimpleNamespace(eta=10.0 ** rng.uniform(-2, 2), estimator="mle")
    learner = Learner(SimpleNamespace(**problem, stream=lambda purpose: None), setting)
    for episode in range(1, k + 1):
        played, other = _episode(rng, n, H), _episode(rng, n, H)
        other["actions"] = 1 - played["actions"]  # H is odd, so that the counts differ
        copies = [played, other if episode == k else played, other if episode == k - 1 else played]
        if episode <= k + last:
            learner.update(Trajectory(**{key: np.concatenate([one[key] for one in copies]) for key in played}))
    return learner, setting.eta


def _episode(rng, n, H):
    """A random episode of n rows in two states and actions."""
    cells, actions, following = rng.integers(0, 2, (3, n, H))
    rewards = rng.standard_normal((n, H))
    return {"states": cells, "cells": cells, "actions": actions, "rewards": rewards, "next_states": following}


def bellman_loop(rng, trials, first=-1, end=0, initial=1, renamed=0, mean=False):
    """C11: The loop as printed computes Q_1..Q_H of the perturbed model."""

    def violation(case):
        H, instance = case["H"], tabular(case["theta"], case["means"], case["H"])
        R = instance.model.mean_reward((instance.theta_r + case["xi"])[None])
        right = backward_induction(instance.model, R, instance.theta_p[None], H)[0][0]
        Q = _loop(R[0], instance.P, range(H + first, end - 1, -1), H + initial, mean)
        good = [h + renamed in Q and np.allclose(Q[h + renamed], right[h - 1], atol=1e-9) for h in range(1, H + 1)]
        return Fraction(H - sum(good), H)

    edge = {"theta": np.zeros((2, 2, 1)), "means": np.ones((2, 2)), "xi": np.zeros(4), "H": 1}
    longer = edge | {"means": np.array([[1.0, 0.0], [1.0, 0.0]]), "H": 3}
    return search(rng, trials, _draw_perturbed, violation, edges=[edge, longer], climb=False)


def _draw_perturbed(rng):
    """A random tabular instance and a perturbation of its rewards' parameter."""
    S, A = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    theta, xi = 2 * rng.standard_normal((S, A, S - 1)), rng.standard_normal(S * A * (S - 1))
    return {"theta": theta, "means": rng.uniform(0, 1, (S, A)), "xi": xi, "H": int(rng.integers(1, 7))}


def _loop(R, P, steps, zero, mean):
    """The tables Q that the loop over `steps` defines if V is 0 at step `zero`."""
    Q, V = {}, {zero: np.zeros(len(R))}
    for h in steps:
        if h + 1 in V:
            Q[h] = R + P @ V[h + 1]
            V[h] = Q[h].mean(-1) if mean else Q[h].max(-1)
    return Q
