"""Appendix C.1 and C.2: confidence regions of the penalised maximum-likelihood estimators."""

import functools

import numpy as np

from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.region_cases import B_phi, cases, heavy_coins, integrals, simulated, trees
from befrl.claims.toolbox.regions import described, log_C
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, listed

DELTAS = (0.5, 0.1, 0.01)  # the failure rates that are tested
REGION = (
    r"With probability at least $1-\delta$, for all k at once: $\sum_{t\le k}\operatorname{KL}_{s_t,a_t}(\hat\theta(k),"
    r"\theta)+\frac\eta2\|\theta-\hat\theta(k)\|^2_{\mathbb A}-\frac\eta2\|\theta\|^2_{\mathbb A}"
    r"\le\log(C_{\mathbb A,k}/\delta)$, and $C_{\mathbb A,k}\le\det(I+\frac\beta\eta\mathbb A^{-1}"
    r"\sum_{t\le k}G_{s_t,a_t})$, "
)
MISSED = "lower confidence limit of the counted rate of missing the region, divided by delta, minus 1"
SQUARED = {"squared": True}
READINGS = {
    "repairs": {r"with $\frac12\|\theta\|^2_{\mathbb A}$ as the penalty of $\hat\theta$": SQUARED},
    "steps": {
        r"the last line of the proof as an equality, $\det(\cdot)^{1/2}=\det(\cdot)$": SQUARED | {"equality": True},
        r"the exponential of the left side, divided by $C_{\mathbb A,n}$, has mean 1": SQUARED | {"mean": True},
    },
    "others": {r"the repair with $C_{\mathbb A,k}\le\det(\cdot)^{1/2}$": SQUARED | {"power": 0.5}},
    "mutants": {
        r"the repair with $\sqrt{C_{\mathbb A,k}}$ in place of $C_{\mathbb A,k}$": SQUARED | {"charge": 0.5},
        r"the repair with $\operatorname{KL}(\theta,\hat\theta(k))$, the other order": SQUARED | {"reverse": True},
        r"the repair with $C\le\det(\cdot)^{1/2}$ and $0.9\,\beta$": SQUARED | {"power": 0.5, "share": 0.9},
    },
}


@claim(
    "C23",
    statement=REGION + r"$\beta=\sup_{\theta,s,a}\lambda_{\max}(\operatorname{Cov}\psi)$ (transitions).",
    meaning=MISSED + "; or log C minus the log of its bound",
    tolerance=1e-6,
    **READINGS,
)
def transition_region(rng, trials, squared=False, **reading):
    r"""The left side is $\log(C_{\mathbb A,k}M_k)$ for a mixture martingale $M_k$ of mean 1; then Ville's inequality.

    $M_k$ is the mean likelihood ratio of $\theta'$ to $\theta$ over $\theta'\sim\mathcal N(0,(\eta\mathbb A)^{-1})$.
    Its exponent is largest at $\hat\theta(k)$, where it is the left side; elsewhere it is smaller by
    $\sum\operatorname{KL}(\hat\theta,\theta')+\frac\eta2\|\theta'-\hat\theta\|^2_{\mathbb A}$. This needs the squared
    penalty. With the printed one (L328, C12) $\hat\theta$ can be 0 whatever the data, and then
    $\sum\operatorname{KL}(0,\theta)$ grows without bound.

    Correction: With the square the theorem is true; strict convexity of $Z_{s,a}$ (C22) is not used. From
    $\operatorname{KL}(\hat\theta,\theta')\le\frac\beta2\|\theta'-\hat\theta\|^2_G$ follows $C\le\det(\cdot)^{1/2}\le
    \det(\cdot)$. The proof drops the exponent 1/2, so the logarithm of the printed bound is twice too large.

    Attack: First 100 coins with $\eta=200$ and the printed penalty. Then adaptive runs (Gaussian, coins, mixtures; d, p
    up to 30), counted uniformly over k in exact binomial tests of joint level 1e-6. C, exact or by quadrature, meets
    the determinant for random designs in d = 1 and 2. The mean of $M_n$ is enumerated over all outcomes of coins.
    """
    return _theorem(rng, trials, "transition", squared, **reading)


@claim(
    "C24",
    statement=REGION + r"$\beta=\|B\|_2^2\sup_{\theta,s,a}\operatorname{Var}(r)$ (rewards).",
    meaning=MISSED + "; or log C minus the log of its bound",
    tolerance=1e-6,
    **READINGS,
)
def reward_region(rng, trials, squared=False, **reading):
    r"""The same proof with $X=B^\top(A_i\varphi)_i$ in place of $(A_i\varphi)_i$ holds for rewards.

    The Hessian is $\operatorname{Var}(r)X^\top X$, and $\|\Delta\|^2_{X^\top X}\le\|B\|^2\|\Delta\|^2_{G_{s,a}}$ gives
    the bound on $C_{\mathbb A,k}$ for every p; only lower bounds need p = 1 (C27). The printed penalty fails as
    in C23. The printed exponential moment omits r in the exponent, integrates over $\mathcal S$, and has the arguments
    of the Bregman function wrong (C25); the martingale that is meant has mean 1.

    Correction: With the squared penalty the theorem is true, as in C23. The exponent 1/2 is lost here too.

    Attack: As for C23, with p = 1 and 2 and parameters that the rewards do not see.
    """
    return _theorem(rng, trials, "reward", squared, **reading)


def _theorem(rng, trials, kind, squared, *, power=1, share=1, charge=1, reverse=False, equality=False, mean=False):
    """Counts how often the region is missed, compares C with its bound, and enumerates the mean of M_n if asked."""
    seed = int(rng.integers(2**62))
    worst, counted = Worst(), []
    if not squared:
        case, theta, counts = heavy_coins(kind)
        missed = _left_side(case, theta, counts) - log_C(case, theta, counts) >= np.log(1 / DELTAS[-1])
        worst.see(missed[0] / DELTAS[-1] - 1, described(case) | {"estimate": theta, "counts": counts})
    for name, run in simulated(kind, seed, trials).items():
        left = _left_side(run.case, run.theta, run.counts, reverse)
        counted.append(_missed(name, left - charge * run.log_C))
        worst.see(*counted[-1])
    for drawn in integrals(kind, seed, trials):
        bound = power * np.log1p(share * drawn["g"]).sum()
        gap = abs(np.log1p(drawn["g"]).sum() / 2 - bound) if equality else drawn["log_C"] - bound
        worst.see(gap, drawn["instance"])
    for case, theta, counts, chances in trees(kind, seed) if mean else ():
        mixture = np.exp(_left_side(case, theta, counts, reverse) - log_C(case, theta, counts))
        worst.see(abs(chances @ mixture - 1), described(case))
    return _counted(worst, counted)


THEOREM = {"bias": "eta", "two": 1, "size": "gamma"}
EUCLIDEAN = (
    r"With probability at least $1-\delta$, for all k: $\|\theta-\hat\theta(k)\|^2_{\bar G_k}\le\frac2\alpha"
    r"(\frac22B_{\mathbb A}^2+\log(2C_{\mathbb A,k}/\delta))$ with $\bar G_k=\frac\eta\alpha\mathbb A+\sum G$, "
)


@claim(
    "C26",
    statement=EUCLIDEAN + r"$\alpha=\inf\lambda_{\min}(\operatorname{Cov}\psi)$ (transitions).",
    meaning=MISSED,
    repairs={r"$\frac\eta2B_{\mathbb A}^2$ in place of $\frac22B_{\mathbb A}^2$": {"bias": "eta"}},
    others={
        r"$\frac\eta2B_{\mathbb A}^2+\log(C_{\mathbb A,k}/\delta)$": {"bias": "eta", "two": 1},
        r"Theorem 1: $\frac\eta2B_{\mathbb A}^2+\gamma_K+\log(1/\delta)$": THEOREM,
        r"$\frac\eta2B_{\mathbb A}^2+\frac12\gamma_K+\log(1/\delta)$": THEOREM | {"size": "half gamma"},
    },
    mutants={
        r"$\frac\eta2B_{\mathbb A}^2$, $\alpha=\inf\lambda_{\max}$ (L488)": {"bias": "eta", "least": "largest"},
        r"$\frac\eta2B_{\mathbb A}^2$, $1/\alpha$ in place of $2/\alpha$": {"bias": "eta", "factor": 2.0},
        r"$\frac\eta2B_{\mathbb A}^2$, without C": {"bias": "eta", "size": "none"},
        r"$\frac\eta2B_{\mathbb A}^2$, $\hat\theta$ one episode ahead of $\bar G$, C (L326)": {"bias": "eta", "lag": 1},
        r"without $B_{\mathbb A}$": {"bias": "none"},
    },
)
def transition_ellipsoid(rng, trials, bias="two", two=2, size="C", least="smallest", factor=1.0, lag=0):
    r"""The KL region of C23 gives $\frac\eta2B_{\mathbb A}^2$, not the printed $\frac22B_{\mathbb A}^2$.

    By C38 and C23, $\frac\alpha2\|\Delta\|^2_{\bar G_k}\le\frac\eta2\|\Delta\|^2_{\mathbb A}+
    \sum\operatorname{KL}(\hat\theta,\theta)\le\frac\eta2\|\theta\|^2_{\mathbb A}+\log(C/\delta)$, as in Theorem 1. The
    printed bias term is too small for $\eta>2$: with Gaussian s', d = 1, A = 1, one observation and $\eta\to\infty$ the
    left side is about $\eta\theta^2$, the right side bounded. $\alpha$ is the one of Assumption 1; with the
    table's $\lambda_{\max}$ the statement fails for p > 1 (C18). The same observations have to enter $\hat\theta$,
    $\bar G$ and C (C10).

    Correction: The chain above proves it. The 2 in $\log(2C/\delta)$ is not needed, and $\gamma_K$ or half of it may
    replace $\log C$.

    Attack: The runs of C23 with $\alpha>0$, and $B_{\mathbb A}=\|\theta\|_{\mathbb A}$, counted as there; among them a
    heavy penalty and a covariance with eigenvalues 1 and 0.01.
    """
    extreme = {"smallest": np.min, "largest": np.max}[least]
    return _ellipsoid(rng, trials, "transition", lambda case: extreme(case.variances), bias, two, size, factor, lag)


@claim(
    "C27",
    statement=EUCLIDEAN + r"$\alpha=\|B\|^2\inf\operatorname{Var}(r)$ (rewards; Assumption 1).",
    meaning=MISSED,
    repairs={
        r"$\frac\eta2B_{\mathbb A}^2$, and $G=xx^\top$ with $x_i=B^\top A_i\varphi$ and "
        r"$\alpha=\inf\operatorname{Var}(r)$, for every p": {"bias": "eta", "seen": True},
        r"$\frac\eta2B_{\mathbb A}^2$, for p = 1": {"bias": "eta", "p_one": True},
    },
    others={
        r"times the table's $\alpha$ (0 if p > 1), with $\frac\eta2B_{\mathbb A}^2$": {"bias": "eta", "table": True},
        r"Theorem 1: $\frac\eta2B_{\mathbb A}^2+\gamma_K+\log(1/\delta)$, for p = 1": THEOREM | {"p_one": True},
    },
    mutants={
        r"$\frac\eta2B_{\mathbb A}^2$ alone, for every p": {"bias": "eta"},
        r"as printed, for p = 1": {"p_one": True},
        r"$xx^\top$ with $\frac22B_{\mathbb A}^2$": {"seen": True},
        r"$\frac\eta2B_{\mathbb A}^2$, without C, for p = 1": {"bias": "eta", "size": "none", "p_one": True},
        r"$xx^\top$, $1/\alpha$ in place of $2/\alpha$": {"bias": "eta", "seen": True, "factor": 2.0},
    },
)
def reward_ellipsoid(rng, trials, bias="two", two=2, size="C", seen=False, p_one=False, table=False, factor=1.0):
    r"""For p = 1 only, and with $\frac\eta2$ in place of $\frac22$, the proof of C26 applies.

    For p > 1 the rewards see $B^\top M_\theta\varphi$ only: $\sum\operatorname{KL}$ bounds $\|\Delta\|^2_{\sum
    xx^\top}$, not $\|\Delta\|^2_{\sum G}$. With $A_1=e_1$, $A_2=e_2$, $B=e_1$, $\varphi=1$ the estimate of $\theta_2$
    stays 0 while $\bar G$ grows: the left side is at least $k\theta_2^2$, the right side logarithmic. The table's
    $\alpha=\lambda_{\min}(BB^\top)\inf\operatorname{Var}$ (L490) is 0 for p > 1: $2/\alpha$ is not defined, and the
    statement times $\alpha$ bounds $\eta\|\Delta\|^2_{\mathbb A}$ alone.

    Correction: $\frac\eta2\|\Delta\|^2_{\mathbb A}+\frac\alpha2\sum(x^\top\Delta)^2\le\frac\eta2\|\Delta\|^2_{\mathbb
    A}+\sum\operatorname{KL}$ for $\alpha=\inf\operatorname{Var}$, then C24. For p = 1, $xx^\top=B^2G$.

    Attack: The runs of C24 whose rewards have a variance bounded below, for p = 1 and 2, counted as in C26.
    """
    alpha = functools.partial(_least_variance, seen=seen, table=table)
    return _ellipsoid(rng, trials, "reward", alpha, bias, two, size, factor, 0, seen, p_one)


def _least_variance(case, seen, table):
    """inf Var(r) alone, or times |B|^2, or times the table's lambda_min(BB'), which is 0 for p > 1."""
    square = 0.0 if table and len(case.B) > 1 else case.B @ case.B
    return case.variances.min() * (1.0 if seen else square)


def _ellipsoid(rng, trials, kind, alpha, bias, two, size, factor, lag, seen=False, p_one=False):
    """Counts alpha/2 |Delta|^2_Gbar - bias - log(two) - log C >= log(1/delta) for some k."""
    worst, counted = Worst(), []
    for name, run in simulated(kind, int(rng.integers(2**62)), trials).items():
        case = run.case
        if case.variances.min() == 0 or (p_one and case.A.shape[1] > 1):
            continue
        last = len(run.counts) - lag
        difference, counts = run.theta[lag:] - case.theta, run.counts[:last]
        seen_change = np.einsum("fpd,knd->knfp", case.X if seen else case.U, difference)
        left = _square(case.penalty, difference) + alpha(case) * (counts * (seen_change**2).sum(-1)).sum(-1)
        gamma = len(case.theta) * np.log1p(case.beta / case.eta * B_phi(case) * counts.sum(-1))
        sizes = {"C": run.log_C[:last], "gamma": gamma, "half gamma": gamma / 2, "none": 0.0}
        shrink = {"two": case.bias / case.eta, "eta": case.bias / 2, "none": 0.0}[bias]
        counted.append(_missed(name, factor * left / 2 - shrink - np.log(two) - sizes[size]))
        worst.see(*counted[-1])
    return _counted(worst, counted)


@claim(
    "C28",
    statement=r"One $\gamma_K=d\log(1+\frac\beta\eta B_{\varphi,\mathbb A}HK)$ serves in both places: "
    r"$\log C_{\mathbb A,K}\le\gamma_K$ (C23) and $\log\frac{\det(\frac\eta\alpha\mathbb A+\sum G)}"
    r"{\det(\frac\eta\alpha\mathbb A)}\le\gamma_K$ (elliptical lemma, which has $\alpha$).",
    meaning="the larger of both left sides, minus gamma_K",
    tolerance=1e-6,
    others={
        r"$\log C_{\mathbb A,K}\le\frac12\gamma_K$": {"half": True, "which": "C"},
        r"the elliptical one with $\alpha$ in $\gamma_K$": {"constant": "alpha", "which": "elliptical"},
    },
    mutants={
        r"$\alpha$ in place of $\beta$ in $\gamma_K$": {"constant": "alpha"},
        r"$\frac12\gamma_K$ in both places": {"half": True},
        r"without the factor d": {"dimension": False},
        r"without $B_{\varphi,\mathbb A}$": {"norm": False},
    },
)
def one_gamma(rng, trials, constant="beta", half=False, dimension=True, norm=True, which="both"):
    r"""The version with $\beta$ is the larger one, and it bounds both.

    $\log\det(I+\frac c\eta\mathbb A^{-1}\sum G)\le d\log(1+\frac c{\eta d}\operatorname{tr}(\mathbb A^{-1}\sum G))\le
    d\log(1+\frac c\eta B_{\varphi,\mathbb A}HK)$: the logarithm is concave, and the eigenvalues of $\mathbb A^{-1}G$
    are at most its norm. The elliptical lemma has $c=\alpha$, the confidence set $c=\beta\ge\alpha$. So $\beta$ serves
    both, at a loss. $\alpha$ does not, since C can exceed $(1+\frac\alpha\eta B_{\varphi,\mathbb A}HK)^d$. For $\log
    C$ half of $\gamma_K$ suffices (C23).

    Attack: The integral C and both determinants for random matrices $A_i$, features, counts and laws with
    $0<\alpha\le\beta$, d = 1 and 2, $\eta$ from $10^{-3}$ to $10^3$; first a law with $\alpha=1$, $\beta=101$.
    """
    worst = Worst()
    for drawn in integrals("transition", int(rng.integers(2**62)), trials):
        gamma = np.log1p(drawn[constant] / drawn["eta"] * drawn["n"] * (drawn["B"] if norm else 1.0))
        gamma *= (0.5 if half else 1.0) * (len(drawn["g"]) if dimension else 1)
        elliptical = np.log1p(drawn["alpha"] / drawn["beta"] * drawn["g"]).sum()
        sides = {"C": drawn["log_C"], "elliptical": elliptical, "both": max(drawn["log_C"], elliptical)}
        worst.see(float(sides[which] - gamma), drawn["instance"])
    return Evidence(worst.value, listed(worst.instance), "search", worst.number)


def _left_side(case, theta, counts, reverse=False):
    """sum KL(theta, theta*) + eta/2 |theta* - theta|_A^2 - eta/2 |theta*|_A^2."""
    order = (case.theta, theta) if reverse else (theta, case.theta)
    return case.divergence(*order, counts) + (_square(case.penalty, theta - case.theta) - case.bias) / 2


def _square(matrix, x):
    """|x|^2 in the norm of a matrix, (..., d) -> (...)."""
    return ((x @ matrix) * x).sum(-1)


def _missed(name, excess):
    """Lower confidence limit of P(sup_k excess >= log(1/delta)) over delta, minus 1, at the worst delta."""
    highest, found = excess.max(0), Worst()
    for delta in DELTAS:
        hits = int((highest >= np.log(1 / delta)).sum())
        limit = lower_limit(hits, len(highest), LEVEL / (len(DELTAS) * len(cases("reward"))))
        found.see(limit / delta - 1, {"case": name, "delta": delta, "missed": hits, "runs": len(highest)})
    return found.value, found.instance


def _counted(worst, counted):
    """The evidence, with how often the region was missed in each case, at its worst delta."""
    missed = [instance for _, instance in counted]
    number = sum(instance["runs"] for instance in missed)
    return Evidence(worst.value, listed(worst.instance), "test", number, details={"missed": missed})
