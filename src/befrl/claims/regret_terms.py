"""Appendix B.1: the terms of the regret bound and their martingales."""

import itertools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox import chains
from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import draw_designs, norms_of
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
UNROOTED = {"drift": 1, "power": 1}  # a mutant of C57
GROWN = {"bound": "grown", "good": False}  # a bound for all norms in C58


@claim(
    "C55",
    statement=r"$\zeta_{hk}$ is a martingale difference sequence with $|\zeta_{hk}|\le2H$, so that with probability "
    r"$1-\delta$ $\sum_{k,h}\zeta_{hk}\le2H\sqrt{2KH\log(1/\delta)}$.",
    meaning="largest of |conditional mean|, |increment| - bound, P(sum >= v) - delta where v is the bound at delta",
    tolerance=1e-9,
    others={r"$|\zeta_{hk}|\le2(H-h-1)^+$": {"size": "rest"}},
    mutants={
        r"$|\zeta_{hk}|\le H$": {"size": "H"},
        r"only $|\mathbb E[r]|\le1$ is assumed, as in L551": {"low": -1.0},
        r"$\hat\theta^p(k)$ uses the data of episode k too, as in L326": {"own": True},
        r"$\sum_{k,h}\zeta_{hk}\le\sqrt{2KH\log(1/\delta)}$": {"scale": "1"},
    },
)
def transition_martingale(rng, trials, size="2H", scale="2H", low=0.0, own=False):
    r"""True, with room to spare, if $\hat\theta^p(k)$ and the policy are known before episode k.

    Let $D=V_{\hat\theta^p,\theta^r,h+1}-V_{\theta^p,\theta^r,h+1}$. Then $\zeta_{hk}=\mathbb E[D(s_{h+1})\mid
    s_h]-D(s_{h+1})$ has mean 0 given all before $s_{h+1}$. Both values lie in $[0,H-h]$ and share the reward at
    $s_{h+1}$, so $|D|\le(H-h-1)^+$ and $|\zeta_{hk}|\le2(H-h-1)^+\le2H$. Azuma's inequality for KH increments of at
    most $c=2H$ is $P(\sum\zeta\ge v)\le\exp(-v^2/(2KHc^2))$, the printed bound. Two slips: $|\mathbb E[r]|\le1$ is not
    enough (it doubles D), but the theorem has $\mathbb E[r]\in[0,1]$; and L326 lets $\hat\theta^p(k)$ see episode k,
    which C10 corrects.

    Attack: All paths of two episodes of random chains; the model of the second episode depends on the first. First a
    fork in which the model errs about both branches. Means, increments and tails are exact sums over paths.
    """
    worst = Worst()
    for P, models, r, H, K in _games(rng, trials, low):
        sizes = {"2H": 2 * H, "H": H, "rest": 2 * np.arange(H - 2, -1, -1)}[size]
        states, chances = chains.paths(P, H)
        zeta = chains.zetas(P, models, r, states, own)
        over = np.abs(np.where(chances[:, None, None] > 0, zeta, 0.0)).max((1, 3)) - sizes
        spread = 2 * K * H * {"2H": 2 * H, "1": 1}[scale] ** 2
        tail = chains.excess_of_tail(zeta.sum(2), chances, states[-1], K, spread)
        over = np.maximum(over.max(1), np.maximum(chains.largest_mean(zeta, chances, P.shape[-1]), tail))
        see_largest(worst, over, {"P": P, "models": models, "r": r, "H": H, "K": K})
    return evidence_of(worst)


def _games(rng, trials, low):
    """Chains, their models by the last state of the episode before, rewards in [low, 1], H and K."""
    P, Q, r = (table[None] for table in chains.fork(0.2, 0.5, 1.0, low))
    yield P, np.repeat(Q[:, None], 5, 1), r, 7, 1
    for H in (2, 3, 4):
        P, Q, r = chains.draw_chains(rng, 2 + trials // 3, models=3)
        yield P, Q, low + (1 - low) * r, H, 2


@claim(
    "C56",
    statement=r"$\sum_k(V_{\hat\theta^p,\theta^r}-V_{\theta^p,\theta^r})(s_1^k)\le H\sum_k\min\{1,\sum_h\sqrt{2"
    r"\operatorname{KL}_{s_h,a_h}(\theta^p,\hat\theta^p)}\}$ + Azuma's term: the minimum over a whole episode.",
    meaning="left minus right side of one episode in the mean, divided by H; Azuma's term vanishes in the mean over K",
    tolerance=1e-9,
    repairs={r"with $\frac32H$ for H": {"factor": 3 * HALF}, "with the minimum inside the sum": {"inside": True}},
    steps={r"L557, one step: $\mathbb E^{\hat\theta^p}V-\mathbb E^{\theta^p}V\le H\min\{1,c_h\}$": {"one_step": True}},
    mutants={
        r"with $\frac{51}{50}H$ for H": {"factor": Fraction(51, 50)},
        r"with KL for $\sqrt{2\operatorname{KL}}$, and $\frac32H$": {"root": False, "factor": 3 * HALF},
        r"with the minimum inside the sum, and $\frac H4$": {"inside": True, "factor": QUARTER},
    },
)
def minimum_over_an_episode(rng, trials, factor=Fraction(1), inside=False, root=True, one_step=False):
    r"""The minimum may be taken over an episode, but at a price: the path decides where it is 1.

    $V_{\hat\theta^p}-V_{\theta^p}=\sum_h(\Delta_h+\zeta_h)\le H$, with $\Delta_h\le Hc_h/2$ for
    $c_h=\sqrt{2\operatorname{KL}}$ (Pinsker). Where $\sum_hc_h>1$ the proof drops the $\zeta_h$. What is left of
    $\sum\zeta$ is no martingale. Judged as in the proof, for any $\hat\theta^p$ known before the episode: if it is
    fixed and K large, the claim is $V_{\hat\theta^p}-V_{\theta^p}\le H\,\mathbb E\min\{1,\sum_hc_h\}$. Example: state 0
    leads to 1 with chance 4/5, in the model 14/15. From 1 the true chain goes where rewards are 0, the model where they
    are 1; all else has 0. Left: about $\frac{14}{15}H$; right: about $(\frac45+\frac15\cdot0.42)H$.

    Correction: Stop at the first h with $c_1+\cdots+c_h>1$, which is known before $s_{h+1}$. Before it
    $\sum\Delta\le\frac H2\sum c\le\frac H2$, and what remains is at most H. The stopped $\zeta$ are a martingale.

    Attack: The example with H = 200 and a fork with a small error, in rational numbers; random chains, all paths.
    """
    worst = Worst()
    for P, Q, r, H in _transports(rng, trials):
        c = np.array([chains.root_above(2 * kl) if root else kl for kl in chains.divergences(P, Q)])
        model = chains.values(Q, r, H)
        if one_step:
            over = max((((Q - P) @ model[1]) - H * np.minimum(c, 1)) / H)
        else:
            gap = model[0, 0] - chains.values(P, r, H)[0, 0]
            over = gap / H - factor * chains.expected_minimum(P, c, H, inside)
        worst.see(over, {"P": P, "model": Q, "r": r, "H": H})
    return evidence_of(worst)


def _transports(rng, trials):
    """The example of C56 and a fork with a small error, exactly, then random chains: P, model, rewards and H."""
    P, Q, r = chains.fork(Fraction(4, 5), Fraction(14, 15), Fraction(99, 100))
    P[2], Q[2] = P[1], P[1]  # the second branch never pays, in truth and in the model
    yield P, Q, r, 200
    yield *chains.fork(Fraction(11, 20), HALF, Fraction(0)), 20
    P, Q, r = chains.draw_chains(rng, trials)
    for i in range(trials):
        yield P[i], Q[i, 0], r[i], 2 + i % 4


@claim(
    "C57",
    statement=r"$\zeta'_k=\operatorname{traj}_k-\mathbb E_{\tilde s\sim\hat\theta^p}[\widetilde{\operatorname{traj}}_k]"
    r"$ is a martingale difference sequence: its mean, given the past, is 0.",
    meaning="|mean of zeta'_k given the past| minus what the statement allows, divided by H; norms are at most 1",
    tolerance=1e-9,
    repairs={
        r"its mean is at most $H\sqrt{\frac12\mathbb E\sum_h\operatorname{KL}_{s_h,a_h}(\theta^p,\hat\theta^p)}$ in "
        r"absolute value": {"drift": 1},
        r"with the expectation under $\theta^p$": {"model": "true"},
    },
    others={r"for $H=1$": {"horizons": (1,)}},
    mutants={"half the first repair": {"drift": 0.5}, "the first repair without its root": UNROOTED},
)
def reward_martingale(rng, trials, model="estimated", drift=0, power=0.5, horizons=(1, 2, 5, 20)):
    r"""The two parts of $\zeta'_k$ follow different laws, so that its mean is not zero.

    $\operatorname{traj}_k=\sum_hg(s_h)$, with norms g, follows $\theta^p$, and the expectation is under
    $\hat\theta^p$. So the mean is $\mathbb E^{\theta^p}[\sum_hg]-\mathbb E^{\hat\theta^p}[\sum_hg]$. Example: H = 2,
    norms 1/2 and 1/4, $P(1\mid0)=\frac12$, $\hat P(1\mid0)=\frac34$: the mean is 1/16. Two more faults: the proof needs
    a bound of $-\sum\zeta'_k$, and prints one of $\sum\zeta'_k$; and good rounds depend on the path, so that a sum over
    them alone is no martingale either.

    Correction: $0\le\sum_hg\le H$; Pinsker's inequality for the laws of the path, whose KL is
    $\mathbb E^{\theta^p}\sum_h\operatorname{KL}_{s_h,a_h}$. These drifts are a new term of the regret, of order
    $\|\tilde\theta-\theta\|_{\bar G}\,H\sqrt{K\sum_k\mathbb E\sum_h\operatorname{KL}}$. With $\theta^p$ in the
    expectation there is no drift, but L627 has $\hat\theta^p$.

    Attack: Random chains, models at many distances and norms, H up to 20; the example first, in exact arithmetic.
    """
    worst = Worst()
    for (P, Q, g), H in itertools.product(_norms_on_chains(rng, trials), horizons):
        gap = chains.values(P, g, H) - chains.values(P if model == "true" else Q, g, H)
        KL = chains.values(P, chains.divergences(P, Q), H - 1)[..., 0, 0]
        allowed = drift and drift * (KL / 2) ** power
        see_largest(worst, abs(gap[..., 0, 0]) / H - allowed, {"P": P, "model": Q, "norms": g, "H": H})
    return evidence_of(worst)


def _norms_on_chains(rng, trials):
    """Chains, models and norms of their states: the example, a chain that its first step decides, and random ones."""
    P, Q = np.array([[[HALF, HALF], [HALF, HALF]], [[QUARTER, 3 * QUARTER], [HALF, HALF]]])
    yield P, Q, np.array([HALF, QUARTER])
    P, Q = np.array([[[0.0, p, 1 - p], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] for p in (0.5, 0.51)])
    yield P[None], Q[None], np.array([[1.0, 1.0, 0.0]])
    P, Q, g = chains.draw_chains(rng, 2 + trials)
    yield P, Q[:, 0], g


@claim(
    "C58",
    statement=r"If all feature norms are less than 1, then $|\zeta'_k|\le\sqrt{Hd\log(1+\alpha^r\eta^{-1}"
    r"B_{\varphi,\mathbb A}HK)}$.",
    meaning="1 - (right side / left side)^2",
    tolerance=1e-9,
    repairs={r"$|\zeta'_k|\le H$": {"bound": "H"}},
    others={r"$|\zeta'_k|\le\sqrt{(1+y)Hd\log(1+y)}$ for all norms, $y=\alpha^rBH/\eta$": GROWN},
    mutants={
        r"$|\zeta'_k|\le H$ for all norms": {"bound": "H", "good": False},
        r"$|\zeta'_k|\le\frac H2$": {"bound": "H", "factor": HALF},
        "with twice the printed right side": {"factor": 2},
    },
)
def increments_of_norms(rng, trials, bound="printed", good=True, factor=1):
    r"""Norms below 1 bound the sum over an episode by H, and no better.

    $\bar G_k$ is fixed during episode k. If all its steps visit one (s,a) of norm $g<1$, then
    $\operatorname{traj}_k=Hg$, more than $\sqrt{Hd\log(\cdot)}$ for large H. Example: $d=1$, $\varphi(0)=1$,
    $\varphi(1)\approx0$, $\eta/\alpha=1.21$, first episode, K = 1. Norms are 10/11 and 0, and $\hat\theta^p=0$ expects
    half of the steps in state 0. If the path stays in 0, $\zeta'_1=\frac{10}{11}\cdot\frac{H-1}2$: 28.6 for H = 64,
    against 16.

    Correction: Both parts of $\zeta'_k$ lie in $[0,H]$. Azuma's inequality then gives $H\sqrt{2K\log(1/\delta)}$, a
    factor $\sqrt H$ more. For all norms, C45e bounds each part by the root with $1+y$.

    Attack: The example, exactly; random designs, where the path stays at the largest norm and the model expects the
    smallest, after the common first step, H up to 10,000.
    """
    worst = Worst()
    for case in itertools.chain(_exact_increments(), _increments(rng, trials)):
        if case["largest"] >= 1 and good:
            continue
        H, d, y = case["H"], case["d"], case["y"] * case["H"]
        logs = H * d * log1p_bounds(y * case["K"] if bound == "printed" else y)[1]
        right = {"printed": logs, "H": H * H, "grown": (1 + y) * logs}[bound]
        over = 1 - factor**2 * right / case["left"] ** 2 if case["left"] else 0.0
        see_largest(worst, over if isinstance(over, Fraction) else np.array([over]), case)
    return evidence_of(worst)


def _exact_increments():
    """The example, with shares 1/2 and 1 of the steps that the model expects in state 1; then a norm of 10."""
    for norm, share in ((Fraction(10, 11), HALF), (Fraction(10, 11), 1), (Fraction(10), 1)):
        yield {"d": 1, "H": 64, "K": 1, "y": norm**2, "largest": norm, "left": norm * 63 * share}


def _increments(rng, trials):
    """Random designs: d, H, K, y = alpha B/eta, the largest norm, and the largest |zeta'|."""
    for d, p, q in ((1, 1, 1), (3, 1, 4), (4, 2, 3)):
        designs = draw_designs(rng, 4 + trials // 3, d, p, q)
        norms = np.sqrt(norms_of(designs["a"], designs["Gbar"]))
        for g, y, visits in zip(norms, designs["B"] / designs["ratio"], designs["visits"].sum(1), strict=True):
            H = int(10 ** rng.uniform(0, 4))
            sizes = {"d": d, "H": H, "K": 1 + -(-int(visits) // H), "y": float(y), "largest": float(g.max())}
            yield sizes | {"left": float((H - 1) * (g.max() - g.min()))}
