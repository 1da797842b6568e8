"""Appendix C.2, steps 1 and 3: the martingale behind the confidence regions, and the step to all k at once."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox import coins, laws
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search

UNIT = {"kind": "gaussian", "theta": [Fraction(0)], "other": [Fraction(1)]}  # Z(c) = c^2/2, in exact arithmetic


@claim(
    "C25",
    statement=r"$B_{F,\theta}(\lambda):=B_F(\theta+\lambda,\lambda)=F(\theta+\lambda)-F(\theta)-"
    r"\lambda^\top\nabla F(\theta)$, and with $F=Z_{s,a}$ this is $\log\mathbb E_\theta[e^{\lambda^\top(T-\mathbb "
    r"E_\theta T)}]$, T the sufficient statistic.",
    meaning="|B_F(first, second) - log E exp(lambda'(T - E T))|, as a share of 1 + the latter",
    tolerance=1e-6,
    repairs={r"$B_{F,\theta}(\lambda):=B_F(\theta+\lambda,\theta)$": {"second": "theta"}},
    mutants={
        r"$B_F(\theta,\theta+\lambda)$": {"first": "theta", "second": "sum"},
        r"$B_F(\lambda,\theta)$": {"first": "lambda", "second": "theta"},
        r"$\frac12B_F(\theta+\lambda,\theta)$": {"second": "theta", "factor": Fraction(1, 2)},
    },
)
def bregman_function(rng, trials, first="sum", second="lambda", factor=1):
    r"""The second argument is misprinted: $\lambda$ for $\theta$.

    By the definition of $B_F$ the second member of the printed chain is $F(\theta+\lambda)-F(\lambda)-\theta^\top
    \nabla F(\lambda)$, not the third: for $F(x)=x^2/2$ it is $\theta^2/2$, and the third is $\lambda^2/2$. With the
    second member as definition (so L920) $e^{\lambda^\top S_n-\sum B}$ is no martingale.

    Correction: $\log\mathbb E_\theta e^{\lambda^\top T}=Z(\theta+\lambda)-Z(\theta)$ and $\mathbb E_\theta T=\nabla
    Z(\theta)$, so the exponent is the third member, $B_Z(\theta+\lambda,\theta)$. The proof uses this one throughout.
    The second argument is misprinted twice, and the exponent in L928 lacks its index and $\lambda$.

    Attack: Random transition and reward laws; the moment by quadrature of the density, Z and its gradient by the
    package's formulas. First the Gaussian with $\theta=0$, $\lambda=1$ in exact arithmetic.
    """

    def gap(law):
        theta, end = np.asarray(law["theta"]), np.asarray(law["other"])
        points = {"theta": theta, "lambda": end - theta, "sum": end}
        moment, bregman = _log_moment(law, theta, end), _bregman(law, points[first], points[second])
        return abs(factor * bregman - moment) / (1 + abs(moment))

    return search(rng, trials, laws.draw_law, gap, edges=[UNIT], move=laws.moved)


def _log_moment(law, theta, end):
    """log E exp(lambda'(T - E T)) under theta for lambda = end - theta, by quadrature of the density."""
    if law is UNIT:
        return (end - theta)[0] ** 2 / 2
    T, weights = laws.definition(law, theta)
    log_partition = laws.log_sum(T, weights, theta)
    mean = np.exp(T @ theta + weights - log_partition) @ T
    return laws.log_sum(*laws.definition(law, end), end) - log_partition - (end - theta) @ mean


def _bregman(law, a, b):
    """B_Z(a, b), by the package's formulas for Z and its gradient."""
    if law is UNIT:
        return (a - b)[0] ** 2 / 2
    model = laws.Model(law)
    return float(model.log_partition(a) - model.log_partition(b) - (a - b) @ model.gradient(b))


@claim(
    "C29",
    statement=r"For the mixture martingale of C24: $P(M_n\ge1/\delta$ for some n$)\le\delta$, by a stopping time "
    r"N and $\mathbb E[M_N]\le1$.",
    meaning="P(some M_n >= 1/delta, n <= 120), divided by delta, minus 1; for the mean, |E M_min(N,n) - 1|",
    tolerance=1e-8,
    steps={r"$\mathbb E[M_{\min(N,n)}]=1$ for the stopping time N of the first crossing": {"mean": True}},
    others={r"$P(M_n\ge1/\delta)\le\delta$ for each n by itself": {"uniform": False}},
    mutants={
        r"$P(M_n\ge1/(1.5\,\delta)$ for some n$)\le\delta$": {"ease": 1.5},
        r"each n with an exact test of level $\delta$ in place of $M_n$": {"event": "test"},
        r"$M_n$ with the best $\theta'$ in place of the mixture": {"event": "best"},
    },
)
def uniform_over_time(rng, trials, event="mixture", ease=1.0, mean=False, uniform=True):
    r"""This is Ville's inequality: $M_{\min(N,n)}$ is a nonnegative martingale of mean 1.

    $\delta\ge\delta\,\mathbb E[M_N1_{N<\infty}]\ge P(N<\infty)$, since $M_N\ge1/\delta$ where $N<\infty$, with Fatou's
    lemma for $n\to\infty$ as printed. The stopping time is needed: Markov's inequality for each n alone (the printed
    line before it) says nothing about all n at once.

    Attack: For coins with one feature $M_n$ depends on n and the number of heads. So the chance of a crossing up to n
    = 120 is summed exactly over all $2^{120}$ sequences by recursion, for random coins, features, $\eta$ and $\delta$,
    and for wide priors, where Ville's inequality is nearly an equality.
    """

    def violation(case):
        heads, log_M = 1 / (1 + np.exp(-case["c"])), coins.log_mixture(case["c"], case["x"], case["eta"])
        level = log_M if event == "mixture" else {"test": coins.log_test, "best": coins.log_best}[event](heads)
        crossed = level >= -np.log(ease * case["delta"])
        chances = coins.arrivals(heads, crossed if uniform else np.zeros_like(crossed))
        if mean:
            crossed[-1] = True  # the last toss stops all sequences
            return abs((chances * crossed * np.exp(log_M)).sum() - 1)
        missed = (chances * crossed).sum(1)
        return float((missed.sum() if uniform else missed.max()) / case["delta"] - 1)

    edges = [{"c": c, "x": x, "eta": 0.01, "delta": 0.1} for c in (0.0, 1.0) for x in (0.3, 1.0)]
    return search(rng, max(4, trials // 20), _draw_coin, violation, edges=edges, climb=False)


def _draw_coin(rng):
    """A random coin c, its feature x, and the constants of the martingale."""
    delta = rng.uniform(0.01, 0.6)
    return {"c": rng.uniform(-3, 3), "x": 10 ** rng.uniform(-1, 0), "eta": 10 ** rng.uniform(-2, 1), "delta": delta}
