"""Section 3.1: the two algorithms as printed, their noise, their data and their loop."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.linalg import eigh

from befrl.agents.base import Trajectory
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, search
from befrl.claims.toolbox.tabular import tabular
from befrl.learning.learner import Learner
from befrl.planning.induction import backward_induction


@claim(
    "C09",
    statement=r"For $\xi_k\sim\mathcal N(0,x_k(\bar G_k^p)^{-1})$: $\|\xi_k\|_{\bar G_k^r}\le c\sqrt{x_kd\log"
    r"(d/\delta)}$ with probability $1-\delta$ and a universal c, as the bound on the reward estimation uses.",
    meaning="largest squared norm that the proof uses, as a multiple of that in the noise's own law, over c^2, minus 1",
    tolerance=1e-6,
    repairs={
        r"with $\sqrt{\max\{1,\alpha^p/\alpha^r\}}$ on the right, "
        r"and the c of the lemma on Gaussian concentration": {"factor": True, "constant": 1}
    },
    steps={
        r"optimism: $\operatorname{Var}(u^\top\xi_k)\ge x_k\|u\|^2_{(\bar G_k^p)^{-1}}$ "
        r"for all u": {"optimism": True, "constant": 1}
    },
    others={
        r"with covariance $x_k(\bar G_k^r)^{-1}$, and the c of the lemma": {"noise": "r", "constant": 1},
        r"if $\alpha^r\ge\alpha^p$, and with the c of the lemma": {"ordered": True, "constant": 1},
    },
    mutants={
        r"with $\sqrt{\max\{1,\alpha^p/\alpha^r\}/2}$ on the right": {"factor": True, "constant": Fraction(1, 2)},
        r"optimism, with covariance $x_k(\bar G_k^r)^{-1}$": {"noise": "r", "optimism": True},
    },
)
def noise_covariance(rng, trials, noise="p", factor=False, optimism=False, ordered=False, constant=100):
    r"""$\|\xi_k\|^2_{\bar G^r}=x_k\sum_j\lambda_jz_j^2$, with $\lambda_j$ the eigenvalues of $(\bar G^p)^{-1}\bar G^r$.

    The $z_j$ are independent standard normals. The lemma on Gaussian concentration has $\lambda_j=1$. But $\mathbb A$
    has the weight $\eta/\alpha^r$ in $\bar G^r$ and $\eta/\alpha^p$ in $\bar G^p$. In the first episode all
    $\lambda_j=\alpha^p/\alpha^r$, which is as large as one likes. Optimism needs the covariance as printed, since its
    first term is measured by $\|u_k\|_{(\bar G^p)^{-1}}$: with $\bar G^r$ it loses the same factor.

    Correction: $\bar G^r\preceq\max\{1,\alpha^p/\alpha^r\}\bar G^p$, as both have the same sum of $G_{s,a}$. So
    $\lambda_j\le\max\{1,\alpha^p/\alpha^r\}$. The lemma applies with this factor, which also enters the regret bound.

    Attack: Features and data are random; $\alpha^p/\alpha^r$ and $\eta$ range over many decades. The print gets ten
    times the c of the lemma; a ratio larger in proportion refutes any other multiple. The edge cases are d = 1 with no
    data and $\alpha^p/\alpha^r=10^6$, and with many data and $\alpha^p/\alpha^r=10^{-6}$, in exact arithmetic.
    """

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


@claim(
    "C10",
    statement=r"Episode k plans with $\hat\theta^p(k)$ and $\hat\theta^r(k)$, the estimators of episodes 1 to k, as "
    r"their sums $\sum_{t=1}^k$ say: they use all data seen before episode k, and no others.",
    meaning="change by the data of episode k itself, as a share; or 1 if those of episode k - 1 change nothing",
    tolerance=1e-9,
    repairs={r"with $\hat\theta(k)$ the estimators of episodes 1 to $k-1$, $\sum_{t=1}^{k-1}$": {"last": -1}},
    steps={r"$\bar G_k$ with $\sum_{\tau=1}^{k-1}$": {"last": -1, "what": "design"}},
    mutants={
        r"with $\sum_{t=1}^{k-2}$": {"last": -2},
        r"$\bar G_k$ with $\sum_{\tau=1}^k$": {"what": "design"},
        r"$\bar G_k$ with $\sum_{\tau=1}^{k-2}$": {"last": -2, "what": "design"},
    },
)
def data_of_an_episode(rng, trials, last=0, what="estimates"):
    r"""$\hat\theta(k)$ with $\sum_{t=1}^k$ needs the data of episode k, whose policy it is to determine.

    The algorithm perturbs $\hat\theta^r(k)$ before episode k but computes $\hat\theta(k)$ after it, so that the first
    cannot be carried out as printed. $\bar G_k$ has the right sum, up to $k-1$, and so have the appendix's radii,
    $\beta(k,\delta)=\beta_{(k-1)H}(\delta)$.

    Correction: With $\sum_{t=1}^{k-1}$ the estimators and $\bar G_k$ rest on the same data, as the confidence sets
    assume. $\hat\theta(1)=0$ minimises the penalty alone, and the update after episode k gives $\hat\theta(k+1)$.

    Attack: Episodes of a tabular member of the family are random and played in three copies: as they are, with other
    actions, next states and rewards in episode k, and with others in episode k - 1. The package estimates and sums from
    the episodes that the reading names.
    """
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


@claim(
    "C11",
    statement=r"The loop $h=H-1,\ldots,0$ with $V_{H+1}=0$ and $Q_h=\mathbb E^{\tilde\theta^r}[r]+\langle\phi^p,"
    r"\int V_{h+1}\mu^p\rangle$ computes the tables $Q_1,\ldots,Q_H$ of the perturbed model.",
    meaning="share of the tables Q_1 to Q_H that the loop does not define or gets wrong",
    repairs={r"with $h=H,\ldots,1$ and the line $V_h=\max_aQ_h$": {"first": 0, "end": 1}},
    others={r"with $V_H=0$ and $V_h=\max_aQ_h$, if step h acts by the table $h-1$": {"initial": 0, "renamed": -1}},
    mutants={
        r"with $V_H=0$, and nothing else changed": {"initial": 0},
        r"with $h=H,\ldots,2$": {"first": 0, "end": 2},
        r"with $h=H,\ldots,1$ and $V_h$ the mean of $Q_h$ over the actions": {"first": 0, "end": 1, "mean": True},
    },
)
def bellman_loop(rng, trials, first=-1, end=0, initial=1, renamed=0, mean=False):
    r"""The loop starts at $Q_{H-1}$, which needs $V_H$, but only $V_{H+1}$ is given: no table is defined.

    The loop counts the steps from 0; its first line and Algorithm 1 count them from 1. With $V_H=0$ the loop's $Q_h$ is
    the true $Q_{h+1}$, which plans for one step too few, and $Q_H$ is missing. The line $V_h=\max_aQ_h$ is missing too
    and taken as understood here. That $\langle\phi^p,\int V\mu^p\rangle$ is the expectation of V is C05, corrected.

    Correction: With $h=H,\ldots,1$ and $V_h=\max_aQ_h$ this is backward induction: $Q_h$ is the largest expected sum of
    the rewards of steps h to H, by induction over h from H down to 1.

    Attack: The loop is carried out as written, on random tabular members of the family with H from 1 to 6 and perturbed
    rewards. A table that needs an undefined one is undefined. The tables are compared with the package's. The edge
    cases are one step with a reward of 1, and three steps.
    """

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
