"""Theorem 1 against its lemmas: the order of every printed term in d, H and K, and its constants."""

import itertools
import math

import numpy as np

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.printed_terms import draw_constants
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst
from befrl.model.theorem import TERMS, terms

FAR = 40 * math.log(10)  # orders are read off between L = 10^40 and L = 10^80
GRID = [(u, v, 6 - u - v) for u, v in itertools.product(range(7), repeat=2) if u + v <= 6]
BAD = TERMS[-2:]  # estimation and learning
ALL_BAD = {"theorem": BAD, "lemma": BAD, "estimation": BAD[:1]}
LEMMAS, ESTIMATION, LEARNING = ({"of": of} for of in ({"lemma": BAD}, {"theorem": BAD[:1]}, {"theorem": BAD[1:]}))
# Readings of C63: with the tilde, with R(K) <= HK too, and equality of orders.
TILDE, CAPPED, EQUAL = {"logs": True}, {"logs": True, "capped": True}, {"logs": True, "equal": True}
# Readings of C64: the repair, and the steps, for the terms that disagree.
STATEMENTS = ("theorem", "estimation", "lemma")
AGREE = {"statements": ("repaired", "lemma")}
APART = {name: {"names": (name,)} for name in ("reward", "noise", "deviation", *BAD)}
END = {"names": ("transition",), "statements": ("proof", "lemma")}


def _growths(rng, trials, quantity):
    """How the logarithm of a quantity grows between the two L, if (d, H, K) = L^u, for many directions u (n, 3)."""
    u = np.concatenate([np.array(GRID) / 6, rng.dirichlet(np.ones(3), trials)])
    constants = draw_constants(rng, len(u))
    sizes = (dict(zip("dHK", np.exp(size * u.T), strict=True)) for size in (FAR, 2 * FAR))
    near, far = (np.log(quantity(constants | size)) for size in sizes)
    return u, far - near


@claim(
    "C59",
    statement=r"Bad rounds cost $O(d^{3/2}H^2)$, free of K (L382); their terms in Theorem 1 and in the lemmas are of "
    r"this order, logarithms aside.",
    meaning="largest exponent of a term on a way (d,H,K) = L^u, minus that of the stated order",
    tolerance=0.05,
    repairs={r"$\tilde O(d^{5/2}H^2)$": {"rate": (2.5, 2, 0)}},
    steps={
        r"Theorem 1, estimation: $\approx dH$ times $\sqrt{H\gamma}$": ESTIMATION | {"rate": (1.5, 1.5, 0)},
        r"Theorem 1, learning: $\approx(dH)^{3/2}$ times $\sqrt{H\gamma}$": LEARNING | {"rate": (2, 2, 0)},
    },
    others={r"$\tilde O(d^2H^2)$ for the lemmas on reward and learning": LEMMAS | {"rate": (2, 2, 0)}},
    mutants={
        r"$\tilde O(d^2H^2)$ for all": {"rate": (2, 2, 0)},
        r"$\tilde O(d^{5/2}H^{3/2})$ for all": {"rate": (2.5, 1.5, 0)},
        r"$\tilde O(d^{3/2}H^2)$ for the lemmas on reward and learning": LEMMAS,
    },
)
def cost_of_bad_rounds(rng, trials, rate=(1.5, 2, 0), of=ALL_BAD):
    r"""The places name different orders, and none of the formulas is $d^{3/2}H^2$.

    Up to logarithms $x_K\propto dH^2$ and $\gamma,C_d\propto d$, so that $\sqrt{x_Kd}\propto dH$. The reward lemma has
    $\sqrt{x_Kd}\cdot\sqrt{C_dH}\cdot\sqrt{Hd}\propto d^2H^2$, and so has the learning lemma. The estimation lemma and
    Theorem 1 have $C_d$ for $\sqrt{C_dH}$, hence $d^{5/2}H^{3/2}$. Theorem 1's learning error is $\sqrt{H\gamma}\cdot
    d\sqrt{x_K}\sqrt{C_dH}\propto d^{5/2}H^2$. Its labels should be $d^2H$ and $d^2H^{3/2}$. All contain $\log K$:
    free of K is true of powers only.

    Correction: $d^{5/2}H^2$ is the largest printed order. $d^2H^2$ would follow from the lemmas; their root of $C_d$ is
    right by Cauchy-Schwarz over played bad rounds, but imagined ones are not covered (C45c).

    Attack: The printed formulas with random constants, along 28 fixed and many random directions u.
    """
    worst = Worst()
    for statement, name in ((statement, name) for statement, names in of.items() for name in names):
        u, growth = _growths(rng, trials, lambda z, s=statement, n=name: terms(z)[s][n])
        see_largest(worst, growth / FAR - u @ np.array(rate), {"u": u, "term": f"{statement}: {name}"})
    return evidence_of(worst)


@claim(
    "C63",
    statement=r"Theorem 1's bound entails $R(K)=O(\sqrt{d^3H^3K})$ (L308, without the tilde of the abstract).",
    meaning="largest growth of log(bound/rate) on a way (d,H,K) = L^u, L = 10^40 to 10^80; with tilde, over log 10^40",
    tolerance=0.05,
    repairs={r"$R(K)=\tilde O(\sqrt{d^3H^3K})$, with $R(K)\le HK$ where this is less": CAPPED},
    steps={
        r"$\tilde O(\sqrt{d^3H^3K})$ for the formula alone": TILDE,
        r"label $\approx dH$ (transition)": EQUAL | {"part": TERMS[:2], "rate": (1, 1.5, 0.5)},
        r"label $\approx d$ (reward)": EQUAL | {"part": TERMS[2:3], "rate": (1, 0.5, 0.5)},
        r"label $\approx d^{3/2}H$ (noise)": EQUAL | {"part": TERMS[3:5]},
    },
    others={r"the formula is $\tilde O(\sqrt{d^3H^3K}+d^{5/2}H^2)$": TILDE | {"floor": (2.5, 2, 0)}},
    mutants={
        r"the repair with $\sqrt{d^2H^3K}$": CAPPED | {"rate": (1, 1.5, 0.5)},
        r"the repair with $\sqrt{d^3H^2K}$": CAPPED | {"rate": (1.5, 1, 0.5)},
        r"the repair with O in place of $\tilde O$": {"capped": True},
        r"the formula is $\tilde O(\sqrt{d^3H^3K}+d^2H^2)$": TILDE | {"floor": (2, 2, 0)},
    },
)
def rate_of_the_formula(
    rng, trials, rate=(1.5, 1.5, 0.5), floor=(0, 0, 0), part=TERMS, logs=False, capped=False, equal=False
):
    r"""Two things stand between the formula and the rate: logarithms of K, and terms without K.

    Noise and learning are $\sqrt{KH}\sqrt{x_Kd\gamma}\propto\sqrt{KH}\,d^{3/2}H$. But $x_K$, $\gamma$ and
    $\log(dK/\delta)$ contain $\log K$: the bound divided by $\sqrt{d^3H^3K}$ grows as $(\log K)^{3/2}$. The terms of
    the bad rounds are $d^{5/2}H^2$ (C59), more than the rate if $K<d^2H$.

    Correction: If $K<d^2H\le d^3H$, then $R(K)\le HK\le\sqrt{d^3H^3K}$. So the abstract's rate follows for all d, H, K,
    if all constants (and $B_{\mathbb A}$, $B_{\varphi,\mathbb A}$, which may depend on d) are held fixed.

    Attack: The printed formula with random constants, along 28 fixed and many random directions u.
    """
    worst = Worst()
    u, growth = _growths(rng, trials, lambda z: sum(terms(z)["theorem"][name] for name in part))
    growth = np.minimum(growth, FAR * (u[:, 1] + u[:, 2])) if capped else growth
    over = (growth - FAR * np.maximum(u @ np.array(rate), u @ np.array(floor))) / (FAR if logs else 1)
    see_largest(worst, np.abs(over) if equal else over, {"u": u})
    return evidence_of(worst)


@claim(
    "C64",
    statement=r"Theorem 1, the lemma on the estimation error, and the lemmas on transition, reward and learning give "
    r"every term the same constants.",
    meaning="largest |log| of the ratio of two statements of a term; for sums, log of (lemmas / theorem)",
    tolerance=1e-9,
    repairs={
        r"Theorem 1 and the last three lemmas, if Theorem 1 gets $\sqrt{\log(e/\delta^2)}$ in reward and noise, $\sqrt{"
        r"C_d(1+\alpha^rBH/\eta)}$ for $C_d$, $\sqrt d$ for d in its last line, no $\sqrt\gamma$ in its first": AGREE
    },
    steps=APART | {"Theorem 1 covers the sum of its lemmas": {"summed": True}, "end of the transition's proof": END},
    others={"transition, with $N=HK$": {"names": TERMS[:1]}, "learning": {"names": ("learning",)}},
    mutants={
        "the repair with $C_d$ as printed": AGREE | {"printed": BAD[0]},
        "the repair with d in the last line": AGREE | {"printed": BAD[1]},
        "the repair with the noise as printed": AGREE | {"printed": "noise"},
    },
)
def constants_of_the_terms(rng, trials, names=TERMS, statements=STATEMENTS, printed=None, summed=False):
    r"""Two of seven terms agree: transition, with $N=HK$, and learning.

    Reward and noise lack $\sqrt{\log(e/\delta^2)}$ in the theorem and in the estimation lemma. The theorem's deviation
    has $2H(1+\sqrt\gamma)$, the estimation lemma $2H+\sqrt\gamma$, the transition lemma $2H$. Bad rounds have $C_d$,
    $C_d$ with a logarithm of H alone, and $\sqrt{C_d(1+\alpha^rBH/\eta)}$; in the learning error the theorem has
    $\sqrt d$ too much. The proof of the transition lemma ends with $H\sqrt{2\sum\operatorname{KL}}$; Cauchy-Schwarz has
    $2KH$ for 2, which the lemma covers. Left aside: $\alpha$ or $\beta$ in $\gamma$ (C28), the square in $x_k$ (C52).

    Correction: A union bound of the three lemmas, $2\delta+3\delta+2\delta$, has their sum on the right.

    Attack: The printed formulas with random constants, d up to 1,000, H up to 10,000 and K up to $10^9$.
    """
    worst, z = Worst(), _draw_sizes(rng, 10 + trials)
    found = terms(z)
    found["repaired"] |= {name: found["theorem"][name] for name in TERMS if name == printed}
    for name in () if summed else names:
        values = [found[statement][name] for statement in statements if name in found[statement]]
        see_largest(worst, np.log(np.max(values, 0) / np.min(values, 0)), z | {"term": name})
    if summed:
        see_largest(worst, np.log(sum(found["lemma"].values()) / sum(found["theorem"].values())), z)
    return evidence_of(worst)


def _draw_sizes(rng, n):
    """Random constants, d, H and K; the first is an edge in which the noise rules: many episodes, small alpha_r."""
    sizes = {key: np.floor(10.0 ** rng.uniform(0, top, n)) for key, top in (("d", 3), ("H", 4), ("K", 9))}
    z = draw_constants(rng, n) | sizes
    for key, value in {"d": 100, "H": 1e4, "K": 1e9, "alpha_r": 0.1, "beta_r": 1, "delta": 1e-3, "c": 2}.items():
        z[key][0] = value
    return z
