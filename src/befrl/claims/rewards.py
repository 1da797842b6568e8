"""Appendix D.3: transport of expected rewards between parameters, and its use in the proofs."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.calculus import nearest_to
from befrl.claims.toolbox.laws import REWARDS, draw_reward, moved, reward_vector
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search


@claim(
    "C39",
    statement=r"For some $\theta_3$ in the hypercube $[\theta_1,\theta_2]$: $\mathbb E_{\theta_1}[r]-\mathbb "
    r"E_{\theta_2}[r]=\frac12\operatorname{Var}_{\theta_3}(r)\,B^\top M_{\theta_1-\theta_2}\varphi$.",
    meaning="smallest distance of the two sides over all allowed theta_3, as a share of the left side",
    tolerance=1e-6,
    repairs={
        r"$\mathbb E_{\theta_1}[r]-\mathbb E_{\theta_2}[r]=\operatorname{Var}_{\theta_3}(r)\,B^\top "
        r"M_{\theta_1-\theta_2}\varphi$ for some $\theta_3$ on the segment": {"factor": 1, "segment": True}
    },
    mutants={"factor 2": {"factor": 2}, "factor 0.99 on the segment": {"factor": Fraction(99, 100), "segment": True}},
)
def reward_transportation(rng, trials, factor=Fraction(1, 2), segment=False):
    r"""It is false: $\mathbb E_\theta[r]=m(c)$ with $c=x^\top\theta$, $x_i=B^\top A_i\varphi$, $m'=\operatorname{Var}$.

    The factor 1/2 needs a $\theta_3$ whose variance is twice the mean variance on the segment. There is none if the
    variance is constant, as for Gaussian rewards. The printed proof expands to first order but divides by the 2 of a
    second-order term.

    Correction: By the mean value theorem $m(c_1)-m(c_2)=m'(c_3)(c_1-c_2)$ for some $c_3$ between $c_1$ and $c_2$, and
    every such $c_3$ is $x^\top\theta_3$ for a $\theta_3$ on the segment. Bounds derived from the lemma double.

    Attack: The image of the hypercube under $x^\top$ is an interval, so a line search over $c_3$ is exhaustive. Random
    reward laws of four families, close, distant and saturated parameters, then a climb of the gap; first the unit
    Gaussian with $\theta_1=1$, $\theta_2=0$ in exact arithmetic.
    """

    def gap(law):
        if law is EXAMPLE:
            return abs(1 - Fraction(factor))  # E_1 - E_2 = 1 and Var = 1
        family, (c1, c2, points) = REWARDS[law["kind"]], _allowed(law, segment)
        difference = family.mean(c1) - family.mean(c2)
        if abs(c1 - c2) < 1e-4 or abs(difference) < 1e-8 * (1 + abs(family.mean(c1))):
            return 0.0  # rounding, or both sides saturated
        _, distance = nearest_to(difference, lambda c: float(factor) * family.variance(c) * (c1 - c2), points)
        return float(distance / abs(difference))

    return search(rng, trials, draw_reward, gap, edges=[EXAMPLE], move=moved)


EXAMPLE = {"kind": "gaussian", "phi": [1.0], "A": [[[1.0]]], "B": [1.0], "theta": [1.0], "other": [0.0]}


def _allowed(law, segment):
    """c_1, c_2 and a grid of all c_3 = x'theta_3 with theta_3 on the segment, or else in the hypercube."""
    ends = reward_vector(law) * np.array([law["theta"], law["other"]])
    c1, c2 = ends.sum(1)
    low, high = (min(c1, c2), max(c1, c2)) if segment else (ends.min(0).sum(), ends.max(0).sum())
    points = np.sinh(np.linspace(np.arcsinh(low), np.arcsinh(high), 257))  # denser where the variance changes
    return c1, c2, np.union1d(points, np.clip([c1, c2, 0.0], low, high))


ONCE = {"power": 1}  # the power of the norm of B


@claim(
    "C40",
    statement=r"For every B: $\operatorname{Var}(r)\,|B^\top M_\Delta\varphi|\le\beta^r\|\Delta\|_{\bar G}\,\|a\|_{\bar"
    r" G^{-1}}$ with $\Delta=\theta_1-\theta_2$, $\beta^r=\|B\|^2\sup\operatorname{Var}(r)$ and a the matrix with rows "
    r"$(A_i\varphi)^\top$; both sides are halved in the text.",
    meaning="share of the left side, squared, that the right side leaves uncovered, 1 - right/left",
    tolerance=1e-9,
    repairs={r"with $\|B\|\sup\operatorname{Var}(r)$ in place of $\beta^r$": ONCE, r"if $\|B\|\ge1$": {"smallest": 1}},
    steps={r"$|B^\top M_\Delta\varphi|\le\|\Delta\|_{\bar G}\,\|aB\|_{\bar G^{-1}}$": {"power": None}},
    others={r"the first repair with the spectral norm of $\bar G^{-1/2}a$": ONCE | {"spectral": True}},
    mutants={
        r"with $0.9\,\|B\|\sup\operatorname{Var}(r)$": ONCE | {"factor": Fraction(9, 10)},
        r"if $\|B\|\ge\frac12$": {"smallest": Fraction(1, 2)},
    },
)
def reward_by_feature_norm(rng, trials, power=2, factor=1, smallest=0, spectral=False):
    r"""Cauchy's inequality gives $\|B\|$, not $\|B\|^2$, so the step is false for $\|B\|<1$.

    For $d=p=1$ and $B=\frac12$ the left side is twice the right side. With sB for B and $\theta/s$ for $\theta$ the
    left side stays and the right side is multiplied by s.

    Correction: $|B^\top M_\Delta\varphi|=|\Delta^\top aB|\le\|\Delta\|_{\bar G}\|aB\|_{\bar
    G^{-1}}\le\|\Delta\|_{\bar G}\|a\|_{\bar G^{-1}}\|B\|$ with $\|a\|^2_{\bar G^{-1}}=\operatorname{tr}(a^\top\bar
    G^{-1}a)$; equality holds for $d=p=1$. The bounds of the reward terms then carry $\beta^r/\|B\|$.

    Attack: Random $\Delta$, a and B in one to five dimensions, then a climb; first the example, in exact arithmetic.
    $\bar G=I$ and the largest variance, 1, lose nothing: $\bar G^{1/2}\Delta$ and $\bar G^{-1/2}a$ are arbitrary.
    """

    def violation(case):
        delta, a, B = (np.asarray(case[key]) for key in ("delta", "a", "B"))
        size = B @ B
        if size < smallest**2:
            B, size = B * (smallest / np.sqrt(float(size))), smallest**2
        left = (delta @ (a @ B)) ** 2
        of_a = np.linalg.norm(a.astype(float), 2) ** 2 if spectral else (a**2).sum()
        of_product = ((a @ B) ** 2).sum() if power is None else factor**2 * size**power * of_a
        return 1 - (delta @ delta) * of_product / left if left else 0

    return search(rng, trials, _draw_product, violation, edges=PRODUCTS)


ONE = Fraction(1)
PRODUCTS = [{"delta": [ONE], "a": [[ONE]], "B": [ONE / 2]}, {"delta": [ONE], "a": [[ONE, ONE]], "B": [ONE, ONE]}]


def _draw_product(rng):
    """Random Delta, a and B in one to five dimensions, with B of many sizes."""
    d, p = rng.integers(1, 6, 2)
    scale = 10.0 ** rng.uniform(-3, 3)
    return {"delta": rng.standard_normal(d), "a": rng.standard_normal((d, p)), "B": scale * rng.standard_normal(p)}
