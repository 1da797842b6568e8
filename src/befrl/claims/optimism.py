"""Appendix B.2.1: steps of the proof of optimism."""

import functools
import math
from fractions import Fraction

import numpy as np
from scipy.special import rel_entr

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import draw_designs
from befrl.claims.toolbox.exact import root
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst, search

ONE, HALF = Fraction(1), Fraction(1, 2)
BACK = {"bound": "max p/r", "back": True}
REVERSE = {"reverse": True, "averaged": False}  # readings that others build on


@claim(
    "C46",
    statement=r"For all $x$: $\|x\|_{\sum_i a_ia_i^\top}\le\|x\|_{(\sum_i a_i)(\sum_i a_i)^\top}$; used for "
    r"$a=(A_i\varphi(s_h,a_h))_i$, summed over steps and averaged over trajectories.",
    meaning="share of the squared left side that the right side does not cover, 1 - right/left; at 1 no constant helps",
    tolerance=1e-9,
    repairs={
        "with a factor n, the number of summands": {"n_fold": True},
        "for nonnegative features": {"sign": "features"},
        "if all products have one sign": {"sign": "products"},
    },
    others={
        "for fixed vectors, if all products have one sign": {"sign": "products", "averaged": False},
        "if all $a_i$ are equal": {"sign": "equal"},
        r"for fixed vectors, the reverse: $(\sum_i a_i^\top x)^2\le n\sum_i(a_i^\top x)^2$": REVERSE | {"n_fold": True},
    },
    mutants={"the reverse without the factor n": REVERSE},
)
def sum_inside_the_norm(rng, trials, sign="", averaged=True, n_fold=False, reverse=False):
    r"""With $y_i=a_i^\top x$ the squared sides are $\sum_i y_i^2$ and $(\sum_i y_i)^2$: false where the $y_i$ cancel.

    For fixed vectors it is true if all $y_i$ have one sign. The proof, however, has an expectation inside,
    $\sum_h\mathbb E\|U_hx\|^2$ against $\|\sum_h\mathbb E U_hx\|^2$. There Jensen's inequality goes the other way, even
    for one step and nonnegative $y$, so no repair survives in the form that the proof needs. Equal $a_i$, as for
    $H=1$, do no harm. True, but other claims, are the reverse with a factor n, and
    $\|x\|^2_{\sum\mathbb E G}\le\lambda\|x\|^2_{\bar G}$. Here $\lambda$ is the largest eigenvalue of
    $\bar G^{-1/2}(\sum\mathbb EG)\bar G^{-1/2}$; $\|u_k\|^2_{\bar G^{-1}}$ does not bound it.

    Attack: Products y and their probabilities are drawn and moved directly, since all products belong to some features
    and x; for nonnegative features, the features are. First $a_1=1$, $a_2=-1$ and, averaged, a product that is 0 or 2
    with equal chances, in exact arithmetic.
    """

    def violation(case):
        products, chances = _products(case, sign), np.asarray(case["chances"])
        sides = (chances * products**2).sum(), (chances * products).sum() ** 2
        left, right = reversed(sides) if reverse else sides
        return 1 - (len(products) if n_fold else 1) * right / left if left else 0

    draw = functools.partial(_draw, averaged=averaged)
    return search(rng, trials, draw, violation, edges=list(_edges(averaged)), move=_move)


def _draw(rng, averaged):
    """Features a of up to four steps, each with up to three outcomes and their chances, and a vector x."""
    steps, outcomes = int(rng.integers(1, 5)), int(rng.integers(1, 4)) if averaged else 1
    chances = rng.dirichlet(np.ones(outcomes), steps)
    return {"a": rng.standard_normal((steps, outcomes, 2)), "x": rng.standard_normal(2), "chances": chances}


def _move(rng, case, step):
    """The case with a and x moved, and the same chances."""
    return case | {key: case[key] + step * rng.standard_normal(case[key].shape) for key in ("a", "x")}


def _products(case, sign):
    """The products a'x, with equal or nonnegative features or of one sign where this is the hypothesis."""
    a, x = np.asarray(case["a"]), np.asarray(case["x"])
    a = np.broadcast_to(a[:1, :1], a.shape) if sign == "equal" else a
    products = (np.abs(a) if sign == "features" else a) @ x
    return np.abs(products) if sign == "products" else products


def _edges(averaged):
    """Exact cases: products 1 and -1 in two steps; and, averaged, a product of one step that is 0 or 2."""
    one, zero, half = Fraction(1), Fraction(0), Fraction(1, 2)
    yield {"a": [[[one, zero]], [[zero, one]]], "x": [one, -one], "chances": [[one], [one]]}
    if averaged:
        yield {"a": [[[zero, zero], [2 * one, zero]]], "x": [one, one], "chances": [[half, half]]}


SUM_OF_NORMS, CONSTANT = {"norms": "sum", "power": 1}, {"constant": True, "power": 1}  # readings that others build on


@claim(
    "C47",
    statement=r"$\Delta^\top\mathbb E[\sum_t\frac{v_t}2a_t]B\le\frac{\sqrt{\beta^r}}2\|\Delta\|_{\bar G}\|\mathbb E"
    r"\sum_ta_t\|_{\bar G^{-1}}$, $v_t$ the variances of rewards, $\beta^r=\|B\|^2\sup v$ and $a_t=(A_i\varphi_t)_i$.",
    meaning="share of the squared left side that the right side does not cover, 1 - right/left; at 1 no constant helps",
    tolerance=1e-9,
    repairs={
        r"with $\mathbb E\sum_t\|a_t\|_{\bar G^{-1}}$ for the norm, $\|B\|\sup v$ for $\sqrt{\beta^r}$": SUM_OF_NORMS,
        r"for a constant variance v, with $\|B\|v$ for $\sqrt{\beta^r}$": CONSTANT,
    },
    steps={r"L763: with $\beta^r$ for $\sqrt{\beta^r}$": {"power": 2}, "for a constant variance": {"constant": True}},
    mutants={
        r"for nonnegative features, with $\|B\|\sup v$": {"nonnegative": True, "power": 1},
        r"if $\sup v\le2\inf v$, with $4\|B\|\sup v$": {"close": True, "power": 1, "factor": 4},
        "the first repair with a factor 0.9": SUM_OF_NORMS | {"factor": Fraction(9, 10)},
        "the second repair with a factor 0.9": CONSTANT | {"factor": Fraction(9, 10)},
    },
)
def variances_outside(rng, trials, norms="", **reading):
    r"""Different weights undo a cancellation: $d=p=B=1$, $a_1=1$, $a_2=-1$, $v=(1,\frac12)$ has 0 on the right.

    No factor helps, nor weights close to each other. Nonnegative features cancel as well, since $\bar G^{-1/2}a_1$ and
    $\bar G^{-1/2}a_2$ can be nearly opposite. The printed reason, symmetric matrices times variances, overlooks the
    mixed terms in the square of a sum. Besides, $\sqrt{\beta^r}=\|B\|\sqrt{\sup v}$ should be $\|B\|\sup v$: for one
    step, $B=1$ and $v=4$ the left side is twice the right. L763 has $\beta^r$, too small for $\|B\|<1$ (C40).

    Correction: By Cauchy-Schwarz and the triangle inequality, as $\|aB\|\le\|a\|\|B\|$ in the norm of $\bar G^{-1}$.
    The proof cannot use it: its third term grows with the norm of a sum. A constant v is a common factor.

    Attack: Random steps, weights, B and $\bar G$, then a climb; $\Delta=\bar G^{-1}\sum_tv_ta_tB$ is the worst. First
    the examples, in exact arithmetic. The probability of a trajectory is part of its $a_t$.
    """
    violation = functools.partial(_uncovered, sum_of_norms=norms == "sum", **reading)
    return search(rng, trials, _draw_weights, violation, edges=WEIGHTS)


def _uncovered(case, sum_of_norms, constant=False, power=None, nonnegative=False, close=False, factor=1):
    """1 - right/left of C47, squared; power: that of |B| beside sup v, or None for the root of beta^r."""
    a, B, v, L = (np.asarray(case[key]) for key in ("a", "B", "v", "L"))
    a, v = (np.abs(a) if nonnegative else a), np.abs(v)
    v = v[:1].repeat(len(v)) if constant else v.clip(v.max() / 2) if close else v
    a = np.einsum("ij,tjp->tip", L, a)  # Gbar^(-1/2) a
    left = (np.einsum("t,tip,p->i", v, a, B) ** 2).sum()
    size = sum(root(each) for each in (a**2).sum((1, 2))) ** 2 if sum_of_norms else (a.sum(0) ** 2).sum()
    scale = {None: v.max(), 1: v.max() ** 2, 2: v.max() ** 2 * (B @ B)}[power] * (B @ B)
    return 1 - factor**2 * scale * size / left if left else 0


UNIT = {"B": [ONE], "L": [[ONE]]}
WEIGHTS = [
    UNIT | {"a": [[[ONE]], [[-ONE]]], "v": [ONE, HALF]},
    UNIT | {"a": [[[ONE]]], "v": [4 * ONE]},
    UNIT | {"a": [[[ONE]]], "v": [ONE], "B": [HALF]},
    {"a": [[[1.0], [0.0]], [[0.0], [1.0]]], "v": [1.0, 0.5], "B": [1.0], "L": [[1.0, -1.0], [0.0, 0.01]]},
]


def _draw_weights(rng):
    """Steps a, variances v, B and the root L of Gbar^-1, of one to three dimensions."""
    T, d, p = rng.integers(1, 4, 3)
    v = 10.0 ** rng.uniform(-1, 1, T)
    return {"a": rng.standard_normal((T, d, p)), "v": v, "B": rng.standard_normal(p), "L": rng.standard_normal((d, d))}


@claim(
    "C48",
    statement=r"For rewards in [0,1]: $V^\pi_{\theta^p}-V^\pi_{\hat\theta^p}\le H\sqrt{\operatorname{KL}(P_{\hat"
    r"\theta^p},P_{\theta^p})}$, with the laws of $s_2,\ldots,s_H$, and this KL is at most $\mathbb E_{\hat\theta^p}"
    r"[\sum_t\operatorname{KL}_{s_t,a_t}(\hat\theta^p,\theta^p)]$.",
    meaning="left side minus right side; the first root of the statement is computed by the chain rule",
    tolerance=1e-9,
    steps={
        r"KL $\le\frac{\beta^p}2\mathbb E_{\hat\theta}\sum_h\|\hat\theta^p-\theta^p\|^2_{G_h}$": {"step": "taylor"},
        r"L746: the first left side is at most $H\sqrt{\frac{\beta^p}2}\|\hat\theta^p-\theta^p\|_{\bar G^p}\|u_k\|_{"
        r"(\bar G^p)^{-1}}$": {"step": "conclusion"},
    },
    others={
        r"$(H-1)\sqrt{\frac12\operatorname{KL}}$": {"factor": HALF, "span": -1},
        r"with $\operatorname{KL}(P_{\theta^p},P_{\hat\theta^p})$": {"swapped": True},
    },
    mutants={
        r"$H\sqrt{\frac14\operatorname{KL}}$": {"factor": HALF / 2},
        r"$(H-2)\sqrt{\frac12\operatorname{KL}}$": {"factor": HALF, "span": -2},
        r"with the largest $\operatorname{KL}_{s,a}$ of one step": {"longest": True},
    },
)
def transport_of_trajectories(rng, trials, **reading):
    r"""It is Pinsker's inequality for trajectories, with a factor $\sqrt2$ to spare; the cited lemma is not needed.

    Returns have a span of at most H: their means differ by at most $H\sqrt{\operatorname{KL}/2}$. (By C35 the lemma is
    false in general.) By the chain rule KL is the expected sum to $H-1$, and the root in L731 is that of C37. Taylor's
    formula for the averaged Z, and C38, give the first step. L746 rests on C46 and is false: $H=2$, $d=p=1$,
    $\psi(s)=s\in\{0,1\}$, $\varphi=(1,-3)$, reward s, $\hat\theta^p=0$, $\theta^p=\log2$ has $u_k=0$ and values that
    differ by $\frac23-\frac12$.

    Attack: Random kernels of two to four states, near and far, H up to 12, rewards of 0 and 1, then a climb; chains in
    which one step decides, or a rare one. For L746 first the example, in exact arithmetic.
    """
    edges = [EXAMPLE, *WALKS] if reading.get("step") == "conclusion" else WALKS
    return search(rng, trials, _draw_walk, functools.partial(_excess_of_values, **reading), edges=edges)


def _excess_of_values(case, factor=1, span=0, swapped=False, longest=False, step=""):
    """Left minus right side of C48 for the softmax family, with one-hot features and Gbar = I."""
    if case is EXAMPLE:
        return _first_term_of_example()
    H, change = case["H"], np.square(case["theta"] - case["hat"]).sum(1)
    (P, V, there), (Q, W, visits) = (_walk(case[key], case["R"].clip(0, 1), H) for key in ("theta", "hat"))
    beta = 1 / 4 if len(P) == 2 else 1 / 2
    if step == "conclusion":  # u_k is I for every state, times its visits
        return V - W - H * math.sqrt(beta / 2 * change.sum() * (len(P) - 1) * (visits.sum(0) ** 2).sum())
    KL = rel_entr(*((P, Q) if swapped else (Q, P))).sum(1)
    total = KL @ (there if swapped else visits)[:-1].sum(0)
    if step == "taylor":
        return total - beta / 2 * visits.sum(0) @ change
    return V - W - max(0, H + span) * math.sqrt(factor * max(0.0, KL.max() if longest else total))


EXAMPLE = {"P(1 | 0)": 2 * ONE / 3, "estimate": HALF, "phi": [ONE, -3 * ONE], "H": 2}
WALKS = [  # log-odds of the next states 1, 2, ... against 0: one step decides; and a rare step to a good state
    {
        "theta": np.array([[20.2, 19.8], [30.0, 0.0], [0.0, 30.0]]),
        "hat": np.array([[19.8, 20.2], [30.0, 0.0], [0.0, 30.0]]),
        "R": np.array([0.0, 1.0, 0.0]),
        "H": 12,
    },
    {"theta": np.array([[-2.0], [30.0]]), "hat": np.array([[-2.5], [30.0]]), "R": np.array([0.0, 1.0]), "H": 12},
]


def _first_term_of_example():
    """V - V^ minus the right side of L746 at the example, where u_k = 0."""
    p, q, (here, there) = EXAMPLE["P(1 | 0)"], EXAMPLE["estimate"], EXAMPLE["phi"]
    u = here + (1 - q) * here + q * there
    return p - q - (u and 2 * math.sqrt(1 / 8) * math.log(2) * abs(u))


def _draw_walk(rng):
    """Log-odds (S, S - 1) of the next states, their estimates, rewards, and H."""
    S, H = int(rng.integers(2, 5)), int(rng.integers(1, 13))
    theta = rng.standard_normal((S, S - 1)) * 10.0 ** rng.uniform(-1, 0.7)
    hat = theta + 10.0 ** rng.uniform(-2, 0.5) * rng.standard_normal((S, S - 1))
    return {"theta": theta, "hat": hat, "R": rng.integers(0, 2, S).astype(float), "H": H}


def _walk(logits, R, H):
    """The kernel (S, S), the value of state 0, and the probabilities (H, S) of the states by step."""
    weights = np.exp(np.concatenate([np.zeros((len(R), 1)), logits], 1) - logits.max(1, initial=0.0)[:, None])
    P = weights / weights.sum(1, keepdims=True)
    visits = np.array([np.linalg.matrix_power(P, h)[0] for h in range(H)])
    return P, float((visits @ R).sum()), visits


@claim(
    "C49",
    statement=r"$\|u\|_{(\bar G^r)^{-1}}\le\sqrt{\min\{1,\alpha^p/\alpha^r\}}\,\|u\|_{(\bar G^p)^{-1}}$ for all u, "
    r"with $\bar G^i=\frac\eta{\alpha^i}\mathbb A+\sum G_{s,a}$.",
    meaning="share of the largest squared ratio of the norms that the factor leaves uncovered, 1 - factor/ratio",
    tolerance=1e-6,
    repairs={r"with $\max\{1,\alpha^r/\alpha^p\}$ for the minimum": {"bound": "max r/p"}},
    steps={r"if $\alpha^p\ge\alpha^r$": {"ordered": True}},
    others={r"$\|u\|_{(\bar G^p)^{-1}}\le\sqrt{\max\{1,\alpha^p/\alpha^r\}}\,\|u\|_{(\bar G^r)^{-1}}$": BACK},
    mutants={
        r"with 1 for the minimum": {"bound": "1"},
        r"with $\max\{1,\alpha^p/\alpha^r\}$": {"bound": "max p/r"},
        r"with $\frac9{10}\max\{1,\alpha^r/\alpha^p\}$": {"bound": "max r/p", "part": Fraction(9, 10)},
    },
)
def change_of_norm(rng, trials, bound="min p/r", ordered=False, back=False, part=1):
    r"""The ratio is upside down: for $\alpha^p<\alpha^r$ the factor must exceed 1, and the print has one below 1.

    The largest $\|u\|^2_{(\bar G^r)^{-1}}/\|u\|^2_{(\bar G^p)^{-1}}$ is the largest eigenvalue of $(\bar G^r)^{-1}\bar
    G^p$. Without data it is $\alpha^r/\alpha^p$, the inverse of the printed factor. For $\alpha^p\ge\alpha^r$ the print
    says 1, which is right. (In the same line $\beta^r$ becomes $\sqrt{\beta^r}$ without a word: C47.)

    Correction: $\bar G^p\preceq\max\{1,\alpha^r/\alpha^p\}\bar G^r$, as both have the same sum of $G_{s,a}$; invert.

    Attack: Random features and data; $\alpha^p/\alpha^r$ and $\eta$ range over many decades. First $d=1$, $\mathbb A=
    \eta=1$, without data, $\alpha^p=1$, $\alpha^r=4$ and the reverse, in exact arithmetic.
    """

    worst = Worst()
    for case, ratio in _changes_of_norm(rng, trials):
        p, r = case["alpha_p"], case["alpha_r"]
        if ordered:
            p, r = np.maximum(p, r), np.minimum(p, r)
        factor = {"min p/r": np.minimum(1, p / r), "max r/p": np.maximum(1, r / p), "max p/r": np.maximum(1, p / r)}
        see_largest(worst, 1 - part * factor.get(bound, 1) / (ratio(r, p) if back else ratio(p, r)), case)
    return evidence_of(worst)


def _changes_of_norm(rng, trials):
    """The alphas, and a function of two alphas: the largest eigenvalue of Gbar(second)^-1 Gbar(first)."""
    for p, r, G in ((ONE, 4 * ONE, 0), (4 * ONE, ONE, 0), (ONE, ONE, 1)):  # A = eta = 1
        yield {"alpha_p": p, "alpha_r": r, "G": G}, lambda p, r, G=G: (1 / p + G) / (1 / r + G)
    for shape in ((1, 1, 1), (3, 1, 4), (4, 2, 3)):
        designs, n = draw_designs(rng, 5 + trials, *shape), 5 + trials
        alpha_p, alpha_r = 10.0 ** rng.uniform(-3, 3, (2, n))
        eta = designs["B"] * 10.0 ** rng.uniform(-3, 3, n)
        data = np.einsum("nm,nmij->nij", designs["visits"], designs["G"])

        def ratio(p, r, A=designs["A"], data=data, eta=eta):
            first, second = ((eta / alpha)[:, None, None] * A + data for alpha in (p, r))
            L = np.linalg.cholesky(second)
            return np.linalg.eigvalsh(np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, first), 1, 2)))[:, -1]

        yield {"alpha_p": alpha_p, "alpha_r": alpha_r, "eta": eta, "A": designs["A"], "sum of G": data}, ratio
