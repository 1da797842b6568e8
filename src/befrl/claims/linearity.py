"""Section 2, linearity of transitions: the RBF kernel, and the integrals of a plan."""

from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search
from befrl.numerics import bellman


def basis(x, number=60):
    """The orthonormal basis x^n exp(-x^2/2)/sqrt(n!) of the kernel's space at x, on a new last axis."""
    n = np.arange(number)
    return np.power(x[..., None], n) * np.exp(-(x[..., None] ** 2) / 2 - gammaln(n + 1) / 2)


@claim(
    "C04",
    statement=r"$2\psi^\top M_\theta\varphi=-\|\psi-M_\theta\varphi\|^2+\|\psi\|^2+\|M_\theta\varphi\|^2$.",
    meaning="|left - right| in exact rational arithmetic",
    mutants={
        "without the factor 2": {"factor": 1},
        r"with $\|\psi+M_\theta\varphi\|^2$": {"sign": 1},
        r"with $\|\varphi\|^2$ in place of $\|M_\theta\varphi\|^2$": {"last": "phi"},
        r"with $\|M_\theta\|_F^2\|\varphi\|^2$ in place of $\|M_\theta\varphi\|^2$": {"last": "product"},
    },
)
def polarisation(rng, trials, factor=2, sign=-1, last="image"):
    r"""Expand the square: $\|\psi-v\|^2=\|\psi\|^2-2\psi^\top v+\|v\|^2$ with $v=M_\theta\varphi$.

    One parenthesis of the printed line is not closed, which is harmless.

    Attack: Both sides are polynomials in the entries of $\psi$, $\theta$, $A_i$ and $\varphi$, of degree at most 6.
    They are compared at random integer points up to $10^6$ in size, for p, q and d from 1 to 4, in exact arithmetic. A
    false identity passes at one point with probability at most $6/(2\cdot10^6)$.
    """

    def violation(case):
        psi, theta, A, phi = (np.asarray(case[key], dtype=object) for key in ("psi", "theta", "A", "phi"))
        M = np.tensordot(theta, A, axes=1)
        v = M @ phi
        third = {"image": v @ v, "phi": phi @ phi, "product": (M * M).sum() * (phi @ phi)}[last]
        return abs(Fraction(factor * (psi @ v) - (-((psi + sign * v) @ (psi + sign * v)) + psi @ psi + third)))

    def draw(rng):
        p, q, d = rng.integers(1, 5, 3)
        shapes = {"psi": p, "theta": d, "A": (d, p, q), "phi": q}
        return {key: rng.integers(-(10**6), 10**6, shape, endpoint=True) for key, shape in shapes.items()}

    edge = {"psi": [1, 0], "theta": [1], "A": [[[1, 0], [0, 0]]], "phi": [1, 1]}
    return search(rng, trials, draw, violation, edges=[edge], climb=False, grade="identity")


@claim(
    "C05",
    statement=r"$P_\theta(s'|s,a)=\langle\phi^p(s,a),\mu^p(s')\rangle$ in the RKHS of $k(x,y)=\exp(-\|x-y\|^2/2)$, "
    r"with $\mu^p(s')=(2\pi)^{-p/2}k(\psi(s'),\cdot)e^{\|\psi(s')\|^2/2}$ and "
    r"$\phi^p(s,a)=k(M_\theta^\top\varphi,\cdot)\exp(\|M_\theta\varphi\|^2/2-Z_{s,a}(\theta))$.",
    meaning="largest |inner product / P - 1| over the next states",
    tolerance=1e-9,
    repairs={
        r"with $\mu^p(s')=k(\psi(s'),\cdot)e^{\|\psi(s')\|^2/2}$ "
        r"and $k(M_\theta\varphi,\cdot)$": {"power": 0, "transposed": False}
    },
    steps={r"with the factor $(2\pi)^{-p/2}$, but $M_\theta\varphi$ for $M_\theta^\top\varphi$": {"transposed": False}},
    mutants={
        r"with $M_\theta^\top\varphi$, for p = q, but without $(2\pi)^{-p/2}$": {"power": 0},
        r"with $k(x,y)=\exp(-\|x-y\|^2)$": {"power": 0, "transposed": False, "width": 0.5},
    },
)
def linear_transition(rng, trials, power=-0.5, transposed=True, width=1.0):
    r"""The product is $(2\pi)^{-p/2}P_\theta$, and $P_\theta$ without the factor, by the reproducing property and C04.

    $\langle k(x,\cdot),k(y,\cdot)\rangle=k(x,y)=\exp(x^\top y-\|x\|^2/2-\|y\|^2/2)$, with $x=\psi(s')$ and
    $y=M_\theta\varphi$. The two factors $e^{\|\cdot\|^2/2}$ cancel the norms, and $e^{-Z}$ normalises. The constant
    $(2\pi)^{-p/2}$ belongs to the Gaussian density, not to this kernel. $M_\theta^\top\varphi$ is defined for p = q
    only, and then is another vector; the norm beside it has $M_\theta\varphi$.

    Correction: The same computation holds without the constant.

    Attack: Finite state spaces with p = q from 1 to 3 are random, with signed or nonnegative features. The product is
    summed in the orthonormal basis $e^{-\|x\|^2/2}\prod_ix_i^{n_i}/\sqrt{n_i!}$, with 60 powers for each coordinate and
    without the formula for k. The edge case is a nilpotent M, for which $M^\top\varphi\ne M\varphi$.
    """

    def violation(case):
        psi, v, y = case["psi"], case["M"] @ case["phi"], (case["M"].T if transposed else case["M"]) @ case["phi"]
        inner = np.prod((basis(psi / np.sqrt(width)) * basis(y / np.sqrt(width))).sum(-1), axis=-1)
        norms = np.exp((psi**2).sum(-1) / 2 + v @ v / 2)  # both sides have the factor exp(-Z)
        return float(np.abs(inner * norms * (2 * np.pi) ** (power * len(v)) / np.exp(psi @ v) - 1).max())

    edge = {"psi": np.eye(2), "M": np.array([[0.0, 1.0], [0.0, 0.0]]), "phi": np.ones(2)}
    return search(rng, trials, _draw_square, violation, edges=[edge], climb=False)


def _draw_square(rng):
    """Random features of the states, (S, p), and of one state and action, (p,), with a square matrix M."""
    p, sign = int(rng.integers(1, 4)), rng.integers(2)
    psi, phi = rng.uniform(-1.5 * sign, 1.5, (rng.integers(2, 6), p)), rng.uniform(-sign, 1, p)
    return {"psi": psi, "M": rng.uniform(-1, 1, (p, p)), "phi": phi}


@claim(
    "C07",
    statement=r"With $P_\theta=\langle\phi^p,\mu^p\rangle$ a plan needs one integral for each step, "
    r"$\int V_{h+1}\mu^p$, in place of one for each $(s,a,h)$: no integral for each $(s,a)$ remains.",
    meaning="largest error of Q, as a share of H, from these integrals alone and a constant fitted in hindsight",
    tolerance=1e-8,
    repairs={
        r"with one more integral for each plan, $\int\mu^p$, which gives all $e^{Z_{s,a}}=\langle k(M\varphi,\cdot)"
        r"e^{\|M\varphi\|^2/2},\int\mu^p\rangle$ at once": {"Z": "linear"}
    },
    others={
        r"with one integral $Z_{s,a}(\theta)$ for each $(s,a)$ and plan": {"Z": "each"},
        r"repaired, for finite S: $|S|$ coordinates of $\mathcal H$ suffice": {"Z": "linear", "spared": 0},
    },
    mutants={
        "repaired, with one integral for all steps of a plan": {"Z": "linear", "shared": True},
        r"repaired, for finite S: $|S|-1$ coordinates of $\mathcal H$ suffice": {"Z": "linear", "spared": 1},
    },
)
def remaining_integrals(rng, trials, Z="fitted", shared=False, spared=None):
    r"""$\phi^p(s,a)$ contains $Z_{s,a}(\theta)$, itself an integral over S for each $(s,a)$, new in every episode.

    The integrals $\int V_{h+1}\mu^p$ have values in $\mathcal H$: with D coordinates a plan takes HD scalar integrals,
    and Q takes a product of length D for all $|S||A|H$ triples. For finite S exactness takes rank(P) coordinates, in
    general $|S|$: in the paper's own example $|S|H$ integrals replace $|S||A|H$.

    Correction: $e^{Z_{s,a}}=\int\exp(\psi^\top M\varphi)$ is linear in $\int\mu^p$: H + 1 integrals in $\mathcal H$ do.

    Attack: Finite MDPs with p = 1 are random, and sums over S give Q. All integrals are taken coordinate by coordinate
    in the basis of powers of $\mathcal H$. Where no $Z_{s,a}$ is integrated, the printed form gets the true $V_{h+1}$
    and, at each step, the best constant for all $(s,a)$. The edge case has opposite actions and H = 4.
    """

    def violation(case):
        psi, v, r, H = (case[key] for key in ("psi", "v", "r", "H"))
        exponent = v[..., None] * psi  # (S, A, S)
        Q, V = _true_values(exponent, r, H)
        phi, mu = _powers(psi, v) if spared is None else _fewest(exponent, len(psi) - spared)
        integrals = np.repeat(V[1:2] @ mu, H, 0) if shared else V[1:] @ mu
        expected = np.einsum("sad,hd->hsa", phi, integrals)  # up to the normalisers
        masses = phi @ mu.sum(0) if Z == "linear" else np.exp(exponent).sum(-1)
        weights = _best_constants(expected, Q - r) if Z == "fitted" else 1 / masses
        return float(np.abs(r + weights * expected - Q).max() / H)

    return search(rng, trials, _draw_plan, violation, edges=[_opposite_actions()], climb=False)


def _opposite_actions():
    """Two states, with one action that favours staying and one that favours moving."""
    v, r = np.array([[2.0, -2.0], [-2.0, 2.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    return {"psi": np.array([0.0, 1.0]), "v": v, "r": r, "H": 4}


def _draw_plan(rng):
    """A random finite MDP with p = 1: features psi (S,), natural parameters v (S, A), rewards and a horizon."""
    S, A = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    psi, v = rng.uniform(0, 2, S), rng.uniform(-3, 3, (S, A))
    return {"psi": psi, "v": v, "r": rng.uniform(0, 1, (S, A)), "H": int(rng.integers(2, 7))}


def _true_values(exponent, r, H):
    """Q (H, S, A) and V (H + 1, S) of the MDP whose transitions have this exponent (S, A, S)."""
    P = np.exp(exponent - np.logaddexp.reduce(exponent, axis=-1)[..., None])
    return [table[0] for table in bellman.backward_induction(r[None], P[None], H)]


def _powers(psi, v):
    """phi (S, A, 60) up to exp(-Z), and mu (S, 60), in the basis of powers."""
    return basis(v) * np.exp(v**2 / 2)[..., None], basis(psi) * np.exp(psi**2 / 2)[:, None]


def _fewest(exponent, number):
    """phi (S, A, number) up to exp(-Z), and mu (S, number), in the best coordinates of this number."""
    left, sizes, right = np.linalg.svd(np.exp(exponent).reshape(-1, exponent.shape[-1]), full_matrices=False)
    return (left * sizes)[:, :number].reshape(*exponent.shape[:2], number), right[:number].T


def _best_constants(expected, target):
    """The constant of each step by which expected (H, S, A) comes closest to the target, (H, 1, 1)."""
    weights = (expected * target).sum((1, 2)) / np.maximum((expected**2).sum((1, 2)), 1e-300)
    return weights[:, None, None]
