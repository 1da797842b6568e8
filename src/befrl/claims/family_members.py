"""Section 1: tabular and factored MDPs and linear-quadratic regulators as members of the class."""

from functools import partial

import numpy as np

from befrl.claims.toolbox import members
from befrl.claims.toolbox.curvature import covariance
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search

WITHIN = {"zeros": False, "reach": 5.0}  # parameters in a compact set; all of them are those up to 1000
LAWS = {"zeros": False, "reach": 0}  # Assumption 1 left out


@claim(
    "C75",
    statement=r"Every tabular MDP is in the class with $d=S^2A$, one parameter for each $(s,a,s')$, and satisfies "
    r"Assumption 1 for unit $x\in\mathbb R^p$.",
    meaning="1 if a covariance has an eigenvalue below 1e-9, else the share of zeros, if any, or the error of log-odds",
    tolerance=1e-7,
    repairs={
        r"with $d=S(S-1)A$, the next states but one, if $P>0$, for $\theta$ in a compact set": WITHIN | {"dropped": 1}
    },
    steps={r"$S^2A$ parameters give all laws $P>0$": LAWS, r"$S(S-1)A$ do": LAWS | {"dropped": 1}},
    others={r"if $P>0$, for $\theta$ in a compact set and x with $\sum_ix_i=0$": WITHIN | {"sum_zero": True}},
    mutants={
        r"if $P>0$, for $\theta$ in a compact set": WITHIN,
        r"the repair for all $\theta\in\mathbb R^d$": {"zeros": False, "dropped": 1},
        r"$S(S-1)A$ parameters give all laws": {"reach": 0, "dropped": 1},
        r"$S(S-2)A$ parameters give all laws $P>0$": LAWS | {"dropped": 2},
    },
)
def tabular_members(rng, trials, zeros=True, dropped=0, reach=1e3, sum_zero=False):
    r"""With all S indicators as $\psi$ there is $\sum_i\psi_i=1$, so that $\mathbb C[\psi]$ maps $(1,...,1)$ to 0.

    Then $\alpha^p=0$ in every tabular MDP, and Theorem 1, which divides by it, is void. MDPs with a probability 0 are
    not in the family at all (C03). Nor does it "need" $S^2A$ parameters: only differences within a row of $M$ matter.

    Correction: With $S-1$ indicators $\log(P(i)/P(0))$ are the natural parameters, and $\mathbb
    C=\operatorname{diag}(p)-pp^\top$ has determinant $\prod_{i=0}^{S-1}p_i>0$; its infimum is positive on compact sets
    only (C17). With S indicators the same is true modulo constants, for x of sum 0.

    Attack: First the uniform law for $S\le3$, exactly. Then random MDPs of two to five states: the log-probabilities
    are projected on $\psi^\top M\varphi$ with a free $M$, and eigenvalues taken at points and corners of a cube.
    """

    def violation(case):
        P, v = case["P"], case.get("v")
        if reach and members.of_indicators(P.shape[1], dropped, v if v is None else reach * v, sum_zero) < members.FLAT:
            return 1 if v is None else 1.0
        return members.outside(members.log(P), np.eye(len(P)), np.eye(P.shape[1])[:, dropped:])

    edges = [{"P": np.full((S, S), 1 / S)} for S in (2, 3) if dropped < S]
    return search(rng, trials, lambda rng: _draw_tabular(rng, zeros), violation, edges=edges, climb=False)


def _draw_tabular(rng, zeros):
    """The laws of a random MDP, (SA, S), and parameters (40, S) in the unit cube."""
    S, A = (int(n) for n in rng.integers(2, 6, 2))
    P = rng.dirichlet(np.ones(S), S * A) + 0.01
    P[0, -1] *= not zeros
    v = np.concatenate([rng.uniform(-1, 1, (20, S)), rng.choice([-1.0, 1.0], (20, S))])
    return {"P": P / P.sum(1, keepdims=True), "v": v}


@claim(
    "C76",
    statement=r"Factored MDPs, $P(s'|s,a)=\prod_jP_j(s'_j|c_j(s,a))$ with $c_j$ the parents of factor j, are in the "
    "family.",
    meaning="as for C75",
    tolerance=1e-7,
    repairs={
        r"if $P_j>0$: with indicators of the values of each factor but one as $\psi$, of $c_j$ as $\varphi$": LAWS
    },
    others={r"the repair with Assumption 1 for unit $x\in\mathbb R^p$ and a compact set": WITHIN},
    mutants={
        r"the repair with Assumption 1 for all $\theta\in\mathbb R^d$": WITHIN | {"reach": 1e3},
        r"if $P_j>0$, where $s'_2$ depends on $s'_1$ too": LAWS | {"within": True},
        r"if $P_j>0$, with the values of the factors as $\psi$": LAWS | {"numbers": True},
        r"if $P_j>0$, with indicators of single parents as $\varphi$": LAWS | {"single": True},
    },
)
def factored_members(rng, trials, zeros=True, reach=0, **form):
    r"""Factored MDPs with a deterministic factor have zeros, and the family without a base measure has none (C03).

    These are common: a component of the state that stays where it is, moves, or is set by the action.

    Correction: $\log P$ is $\sum_j\sum_{v\ne0}1\{s'_j=v\}\log(P_j(v|c_j)/P_j(0|c_j))$ plus a term without $s'$, which
    is $\psi^\top M\varphi$ with one parameter for each j, $v\ne0$ and value of $c_j$. The covariance of $\psi$ has one
    block for each factor, as in C75. Factors that depend on one another within $s'$ need products in $\psi$.

    Attack: First a deterministic bit, exactly, and the package's ring of machines. Then two random factors of two or
    three values, both of them parents of each: log-probabilities are projected on $\psi^\top M\varphi$.
    """

    def violation(case):
        if reach and np.linalg.eigvalsh(covariance(case["psi"], reach * case["v"])).min() < members.FLAT:
            return 1.0
        return members.outside(members.log(case["P"]), case["phi"], case["psi"])

    bit = {"P": np.array([[0.0, 1.0]]), "phi": np.ones((1, 1)), "psi": np.array([[0.0], [1.0]])}
    edges = [bit] if zeros else [] if reach else [members.machines()]
    return search(rng, trials, partial(members.draw_factored, zeros=zeros, **form), violation, edges=edges, climb=False)


EVERYTHING = {"law", "curvature", "reward"}
SMOOTH = {"singular": False}  # every coordinate has noise
LAW = SMOOTH | {"parts": {"law"}}
CURVED = SMOOTH | {"parts": {"law", "curvature"}}


@claim(
    "C77",
    statement=r"Linear-quadratic regulators, $s'\sim N(f,\Sigma)$ with $f=As+Bu$, quadratic costs, are in the class: "
    r"law, Assumption 1 at the true $\theta$, and $\mathbb E[r]\in[0,1]$.",
    meaning="1 if there is no density, an eigenvalue is below 1e-9 or a mean reward not in [0,1]; else an error",
    tolerance=1e-7,
    repairs={r"if $\Sigma>0$, for bounded s and u, monomials as $\varphi$, squares as $\psi$": SMOOTH | {"reach": 3.0}},
    others={
        r"if $\Sigma>0$, the law alone": LAW,
        r"if $\Sigma>0$, without costs, with $\psi=s'$ and base measure $N(0,\Sigma)$": CURVED | {"base": True},
    },
    mutants={
        r"if $\Sigma>0$, without costs": CURVED,
        r"if $\Sigma>0$, without Assumption 1": SMOOTH | {"parts": {"law", "reward"}},
        r"if $\Sigma>0$, the law alone, with $\psi=s'$": LAW | {"squares": False},
        r"if $\Sigma>0$, the law alone, with $\varphi=(s,u)$": LAW | {"linear": True},
    },
)
def regulators(rng, trials, singular=True, reach=1e6, parts=EVERYTHING, **form):
    r"""Without noise in all coordinates there is no density; and states and costs of a regulator are unbounded.

    For $m=1$, $\psi=(s',s'^2)$, the combination $(s'-f)^2$ has variance $2\sigma^4$ at squared length $1+4f^2$, so the
    smallest eigenvalue vanishes as $|f|\to\infty$. Costs leave [0,1], and $B_{\varphi,\mathbb A}=\infty$.

    Correction: $\log P=s'^\top\Sigma^{-1}f-\frac12s'^\top\Sigma^{-1}s'$ plus a term without $s'$, where $\Sigma^{-1}$
    has parameters of its own (C03, C06). As $2s'_i=(s_i'+1)^2-s_i'^2-1$ and $2s'_is'_j=(s'_i+s'_j)^2-s_i'^2-s_j'^2$,
    nonnegative $\psi$ suffice. On bounded sets all constants are finite, and costs can be scaled. With a base measure
    $\mathbb C[\psi]=\Sigma$ everywhere, but the paper drops it; Gaussian rewards need one as well (C02).

    Attack: First $\Sigma=0$, exactly. Then random systems with $m\le2$, up to $|(s,u)_i|=3$ or $10^6$: log-densities
    and costs are projected on the features.
    """

    def violation(case):
        return members.regulator_error(case, reach, parts, **form)

    edges = [{"root": np.zeros((1, 1))}] if singular else []
    return search(rng, trials, partial(members.draw_regulator, singular=singular), violation, edges=edges, climb=False)
