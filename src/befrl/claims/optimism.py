"""Appendix B.2.1: steps of the proof of optimism."""

import functools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search

REVERSE = {"reverse": True, "averaged": False}  # a reading that others build on


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
        r"for fixed vectors, the reverse: $(\sum_i a_i^\top x)^2\le n\sum_i(a_i^\top x)^2$": REVERSE | {"n_fold": True},
    },
    mutants={"the reverse without the factor n": REVERSE},
)
def sum_inside_the_norm(rng, trials, sign="", averaged=True, n_fold=False, reverse=False):
    r"""With $y_i=a_i^\top x$ the squared sides are $\sum_i y_i^2$ and $(\sum_i y_i)^2$: false where the $y_i$ cancel.

    For fixed vectors it is true if all $y_i$ have one sign. The proof, however, has an expectation inside,
    $\sum_h\mathbb E\|U_hx\|^2$ against $\|\sum_h\mathbb E U_hx\|^2$. There Jensen's inequality goes the other way, even
    for one step and nonnegative $y$, so no repair survives in the form that the proof needs. True, but other claims,
    are the reverse with a factor n, and $\|x\|^2_{\sum\mathbb E G}\le\lambda\|x\|^2_{\bar G}$. Here $\lambda$ is the
    largest eigenvalue of $\bar G^{-1/2}(\sum\mathbb EG)\bar G^{-1/2}$; $\|u_k\|^2_{\bar G^{-1}}$ does not bound it.

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
    """The products a'x, with nonnegative features or of one sign where this is the hypothesis."""
    a, x = np.asarray(case["a"]), np.asarray(case["x"])
    products = (np.abs(a) if sign == "features" else a) @ x
    return np.abs(products) if sign == "products" else products


def _edges(averaged):
    """Exact cases: products 1 and -1 in two steps; and, averaged, a product of one step that is 0 or 2."""
    one, zero, half = Fraction(1), Fraction(0), Fraction(1, 2)
    yield {"a": [[[one, zero]], [[zero, one]]], "x": [one, -one], "chances": [[one], [one]]}
    if averaged:
        yield {"a": [[[zero, zero], [2 * one, zero]]], "x": [one, one], "chances": [[half, half]]}
