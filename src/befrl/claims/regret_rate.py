"""Theorem 1 against its lemmas: the order of every printed term in d, H and K, and its constants."""

import itertools
import math

import numpy as np

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.printed_terms import TERMS, draw_constants, terms
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst

FAR = 40 * math.log(10)  # orders are read off between d^u H^v K^w = 10^40 and 10^80
BAD = TERMS[-2:]  # estimation and learning
GRID = [(u, v, 6 - u - v) for u, v in itertools.product(range(7), repeat=2) if u + v <= 6]
ROOT = {"logs": True, "capped": True}  # readings of C63 that others build on
AGREE = {"statements": ("repaired", "lemma")}  # the repair of C64


def _growths(rng, trials, quantity):
    """How the logarithm of a quantity grows from (d, H, K) = 10^(40 u) to 10^(80 u), for many directions u, (n, 3)."""
    u = np.concatenate([np.array(GRID) / 6, rng.dirichlet(np.ones(3), trials)])
    constants = draw_constants(rng, len(u))
    near, far = (
        np.log(quantity(constants | dict(zip("dHK", np.exp(size * u.T), strict=True)))) for size in (FAR, 2 * FAR)
    )
    return u, far - near


@claim(
    "C59",
    statement=r"Bad rounds cost $O(d^{3/2}H^2)$, free of K (L382); the terms that stand for them in Theorem 1 and in the "
    r"three lemmas are of this order, logarithms aside.",
    meaning="largest exponent of a term, on its way (d,H,K) = L^u, minus that of the stated order",
    tolerance=0.05,
    repairs={r"$\tilde O(d^{5/2}H^2)$": {"rate": (2.5, 2, 0)}},
    steps={
        r"Theorem 1: $\approx dH$ beside $\sqrt{H\gamma^r_K}$ (estimation error)": {
            "rate": (1.5, 1.5, 0),
            "of": {"theorem": BAD[:1]},
        },
        r"Theorem 1: $\approx(dH)^{3/2}$ beside $\sqrt{H\gamma^r_K}$ (learning error)": {
            "rate": (2, 2, 0),
            "of": {"theorem": BAD[1:]},
        },
    },
    others={r"$\tilde O(d^2H^2)$ for the lemmas on reward and learning": {"rate": (2, 2, 0), "of": {"lemma": BAD}}},
    mutants={
        r"$\tilde O(d^2H^2)$ for Theorem 1 too": {"rate": (2, 2, 0)},
        r"$\tilde O(d^{5/2}H^{3/2})$": {"rate": (2.5, 1.5, 0)},
        r"$\tilde O(d^{3/2}H^2)$ for the lemmas on reward and learning": {"of": {"lemma": BAD}},
    },
)
def cost_of_bad_rounds(rng, trials, rate=(1.5, 2, 0), of=None):
    r"""The three places name three orders, and none of the formulas is $d^{3/2}H^2$.

    With $x_K\propto dH^2$, $\gamma\propto d$ and $C_d\propto d$ up to logarithms, $\sqrt{x_Kd}\propto dH$. The reward
    lemma has $\sqrt{x_Kd}\cdot\sqrt{C_dH}\cdot\sqrt{Hd}\propto d^2H^2$, and so has the learning lemma. The estimation
    lemma and Theorem 1 have $C_d$ for $\sqrt{C_dH}$, hence $d^{5/2}H^{3/2}$; Theorem 1's learning error has
    $\sqrt{H\gamma}\cdot d\sqrt{x_K}\sqrt{C_dH}\propto d^{5/2}H^2$. Its labels should be $d^2H$ and $d^2H^{3/2}$. All
    contain $\log K$, through $x_K$ and $\gamma_K$, so that "independent of K" is true of powers only.

    Correction: $d^{5/2}H^2$ is the largest of the printed orders. $d^2H^2$ would follow from the lemmas, whose root of
    $C_d$ is right by Cauchy-Schwarz over the played bad rounds; imagined ones are not covered (C45c).

    Attack: The printed formulas with random constants, along 28 fixed and many random directions; orders are slopes
    between $10^{40}$ and $10^{80}$.
    """
    worst = Worst()
    of = of or {"theorem": BAD, "lemma": BAD, "estimation": BAD[:1]}
    for statement, name in ((statement, name) for statement, names in of.items() for name in names):
        u, growth = _growths(rng, trials, lambda z, s=statement, n=name: terms(z)[s][n])
        see_largest(worst, growth / FAR - u @ np.array(rate), {"u": u, "term": f"{statement}: {name}"})
    return evidence_of(worst)


@claim(
    "C63",
    statement=r"Theorem 1's bound entails $R(K)=O(\sqrt{d^3H^3K})$ (L308, without the tilde of the abstract).",
    meaning="largest growth of log(bound / rate) from 10^40 to 10^80 on a way (d,H,K) = L^u; per unit of log L with tilde",
    tolerance=0.05,
    repairs={r"$R(K)=\tilde O(\sqrt{d^3H^3K})$, with $R(K)\le HK$ where this is less": ROOT},
    steps={
        r"label $\approx dH$ (transition)": {"part": ("transition", "deviation"), "rate": (1, 1.5, 0.5), "logs": True},
        r"label $\approx d$ (reward)": {"part": ("reward",), "rate": (1, 0.5, 0.5), "logs": True},
        r"label $\approx d^{3/2}H$ (noise)": {"part": ("noise", "learning"), "logs": True},
        r"$\tilde O(\sqrt{d^3H^3K})$ for the formula alone": {"logs": True},
    },
    others={
        r"the formula is $\tilde O(\sqrt{d^3H^3K}+d^{5/2}H^2)$": {"logs": True, "floor": (2.5, 2, 0)},
        r"the formula is $\tilde O(\sqrt{d^3H^3K})$ for $K\ge d^2H$": {"logs": True, "least": (2, 1)},
    },
    mutants={
        r"the repair with $\sqrt{d^2H^3K}$": ROOT | {"rate": (1, 1.5, 0.5)},
        r"the repair with $\sqrt{d^3H^2K}$": ROOT | {"rate": (1.5, 1, 0.5)},
        r"the repair with O in place of $\tilde O$": {"capped": True},
        r"the repair with $K^{2/5}$": ROOT | {"rate": (1.5, 1.5, 0.4)},
        r"the formula is $\tilde O(\sqrt{d^3H^3K})$ for $K\ge dH$": {"logs": True, "least": (1, 1)},
    },
)
def rate_of_the_formula(rng, trials, rate=(1.5, 1.5, 0.5), logs=False, capped=False, part=TERMS, floor=(), least=()):
    r"""Two things stand between the formula and the rate: logarithms of K, and terms without K.

    Noise and learning: $\sqrt{KH}\sqrt{x_Kd\gamma}\propto\sqrt{KH}\,d^{3/2}H$. But $x_K$, $\gamma$ and $\log(dK/\delta)$
    each contain $\log K$: the ratio of the bound to $\sqrt{d^3H^3K}$ grows as $(\log K)^{3/2}$. The terms of the bad
    rounds are $d^{5/2}H^2$ (C59), more than the rate if $K<d^2H$.

    Correction: $\tilde O$ hides the logarithms. If $K<d^2H$, then $K<d^3H$, and $R(K)\le HK\le\sqrt{d^3H^3K}$. So the
    rate of the abstract follows from the formula for all d, H and K; the constants of Assumption 1, $B_{\mathbb A}$ and
    $B_{\varphi,\mathbb A}$ are held fixed, although they may depend on d.

    Attack: The printed formula with random constants, along 28 fixed and many random directions.
    """
    worst = Worst()
    u, growth = _growths(rng, trials, lambda z: sum(terms(z)["theorem"][name] for name in part))
    growth = np.minimum(growth, FAR * (u[:, 1] + u[:, 2])) if capped else growth
    over = growth - FAR * np.maximum(u @ np.array(rate), u @ np.array(floor or rate))
    if least:
        u, over = (table[u[:, 2] >= u[:, :2] @ np.array(least)] for table in (u, over))
    see_largest(worst, over / FAR if logs else over, {"u": u})
    return evidence_of(worst)


@claim(
    "C64",
    statement=r"Theorem 1, the lemma on the estimation error, and the lemmas on transition, reward and learning give "
    r"every term the same constants.",
    meaning="largest |log| of the ratio of two statements of a term; for the sum, log of lemmas / theorem",
    tolerance=1e-9,
    repairs={
        r"Theorem 1 and the three lemmas, if Theorem 1 gets $\sqrt{\log(e/\delta^2)}$ in reward and noise, "
        r"$\sqrt{C_d(1+\alpha^rBH/\eta)}$ for $C_d$, $\sqrt d$ for d in the last line, no $\sqrt{\gamma^r_K}$ in the first": AGREE
    },
    steps={
        "reward": {"names": ("reward",)},
        "noise": {"names": ("noise",)},
        "deviation of the transitions": {"names": ("deviation",)},
        "bad rounds, estimation": {"names": BAD[:1]},
        "bad rounds, learning": {"names": BAD[1:]},
        "end of the proof of the transition lemma against the lemma": {
            "names": ("transition",),
            "statements": ("proof", "lemma"),
        },
        "Theorem 1 covers the sum of the three lemmas": {"summed": True},
    },
    others={"transition, with $N=HK$": {"names": ("transition",)}, "learning": {"names": ("learning",)}},
    mutants={
        "the repair with $C_d$ as printed": AGREE | {"printed": BAD[0]},
        "the repair with d in the last line": AGREE | {"printed": BAD[1]},
        r"the repair without $\sqrt{\log(e/\delta^2)}$ in the noise": AGREE | {"printed": "noise"},
    },
)
def constants_of_the_terms(
    rng, trials, names=TERMS, statements=("theorem", "estimation", "lemma"), printed="", summed=False
):
    r"""Two of seven terms agree.

    Transition ($N=HK$) and learning agree. Reward and noise lack $\sqrt{\log(e/\delta^2)}$ in the theorem and in the
    estimation lemma. The theorem's deviation has $2H(1+\sqrt{\gamma^r})$; the estimation lemma has $2H$ and, without
    H, $\sqrt{\gamma^r}$. For bad rounds the factors are $C_d\sqrt{\gamma_K}$, $C_d$ with a logarithm of H alone, and
    $\sqrt{C_d(1+\alpha^rBH/\eta)\gamma_K}$; in the learning error the theorem has $\sqrt d$ too much. The proof of the
    transition lemma ends with $H\sqrt{2\sum\operatorname{KL}}$: Cauchy-Schwarz gives $H\sqrt{2KH\sum\operatorname{KL}}$,
    which is less than the lemma. The lemmas' sum is not covered by the theorem either. Left aside: $\gamma_K$ with
    $\alpha$ or $\beta$ (C28), and the square in $x_k$ (C52).

    Correction: A union bound of the three lemmas, $2\delta+3\delta+2\delta$, has their sum on the right.

    Attack: The printed formulas with random constants, d up to 1,000, H up to 10,000 and K up to $10^9$.
    """
    worst, n = Worst(), 20 + trials
    sizes = {key: np.ceil(10.0 ** rng.uniform(0, top, n)) for key, top in (("d", 3), ("H", 4), ("K", 9))}
    z = draw_constants(rng, n) | sizes
    z["K"][:2], z["d"][:2], z["H"][:2] = 1e9, 100.0, 1e4
    z["alpha_r"][:2], z["B_A"][:2] = z["beta_r"][:2] / 10, 0.1
    found = terms(z)
    if printed:
        found["repaired"][printed] = found["theorem"][printed]
    if summed:
        see_largest(worst, np.log(sum(found["lemma"].values()) / sum(found["theorem"].values())), z)
        return evidence_of(worst)
    for name in names:
        values = [found[statement][name] for statement in statements if name in found[statement]]
        see_largest(worst, np.log(np.max(values, 0) / np.min(values, 0)), z | {"term": name})
    return evidence_of(worst)
