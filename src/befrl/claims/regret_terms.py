"""Appendix B.1: the terms of the regret bound, their martingales, the bad rounds' cost, and the rate."""

import functools
import itertools
from fractions import Fraction

import numpy as np
from scipy.special import gammaincinv

from befrl.agents.bef_rlsvi import theorem_x
from befrl.claims.toolbox import chains, printed_terms
from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.chances import LEVEL, lower_limit, upper_limit
from befrl.claims.toolbox.designs import draw_designs, norms_of
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst
from befrl.model.rewards import bernoulli, gaussian, truncated_exponential

HALF = Fraction(1, 2)


@claim(
    "C55",
    statement=r"$\zeta_{hk}$ is a martingale difference sequence with $|\zeta_{hk}|\le2H$, so that $\sum_{k,h}\zeta_{hk}"
    r"\le2H\sqrt{2KH\log(1/\delta)}$ with probability $1-\delta$.",
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
        zeta = _zetas(P, models, r, states, own)
        over = np.abs(np.where(chances[:, None, None] > 0, zeta, 0.0)).max((1, 3)) - sizes
        tail = _excess_of_tail(zeta.sum(2), chances, states[-1], K, 2 * K * H * {"2H": 2 * H, "1": 1}[scale] ** 2)
        over = np.maximum(over.max(1), np.maximum(_largest_mean(zeta, chances, P.shape[-1]), tail))
        see_largest(worst, over, {"P": P, "models": models, "r": r, "H": H, "K": K})
    return evidence_of(worst)


def _games(rng, trials, low):
    """Chains, their models by the last state of the episode before, rewards in [low, 1], H and K."""
    P, Q, r = (table[None] for table in chains.fork(0.2, 0.5, 1.0, low))
    yield P, np.repeat(Q[:, None], 5, 1), r, 7, 1
    for H in (2, 3, 4):
        P, Q, r = chains.draw_chains(rng, 2 + trials // 3, models=3)
        yield P, Q, low + (1 - low) * r, H, 2


def _zetas(P, models, r, states, own):
    """zeta of every model, step and path, (n, models, H - 1, paths); `own`: the model of the path's own last state."""
    H = len(states)
    D = chains.values(models, r[:, None], H) - chains.values(P, r, H)[:, None]
    expected = (P[:, None, None] @ D[..., None])[..., 0]
    steps = np.arange(1, H)[:, None]
    zeta = expected[:, :, steps, states[:-1]] - D[:, :, steps, states[1:]]
    return np.moveaxis(zeta[:, states[-1], :, np.arange(len(states[-1]))], 0, -1)[:, None] if own else zeta


def _largest_mean(zeta, chances, S):
    """The largest |E[zeta_h | s_1, ..., s_h]|, (n,)."""
    found = []
    for h in range(zeta.shape[2]):
        weights = chances.reshape(len(chances), 1, S**h, -1)
        means = (weights * zeta[:, :, h].reshape(*zeta.shape[:2], S**h, -1)).sum(-1) / (weights.sum(-1) + 1e-300)
        found.append(np.abs(means).max((1, 2)))
    return np.max(found, 0)


def _excess_of_tail(sums, chances, last, K, spread):
    """The largest P(sum >= v) - exp(-v^2/spread) over v > 0, for K = 1 or 2 episodes; sums (n, models, paths)."""
    total = sums[:, 0]
    if K == 2:
        second = sums[:, last] if sums.shape[1] > 1 else sums
        total, chances = total[:, :, None] + second, chances[:, :, None] * chances[:, None]
        total, chances = (table.reshape(len(total), -1) for table in (total, chances))
    order = np.argsort(-total, 1)
    v, tail = np.take_along_axis(total, order, 1), np.take_along_axis(chances, order, 1).cumsum(1)
    return np.where(v > 1e-9, tail - np.exp(-(v**2) / spread), 0.0).max(1)


@claim(
    "C56",
    statement=r"$\sum_k(V_{\hat\theta^p,\theta^r}-V_{\theta^p,\theta^r})(s_1^k)\le H\sum_k\min\{1,\sum_h\sqrt{2\operatorname"
    r"{KL}_{s_h,a_h}(\theta^p,\hat\theta^p)}\}$ + Azuma's term, for any $\hat\theta^p$: the minimum over a whole episode.",
    meaning="left minus right side of one episode in the mean, divided by H; Azuma's term vanishes in the mean over K",
    tolerance=1e-9,
    repairs={
        r"with $\frac32H$ for H": {"factor": Fraction(3, 2)},
        r"with the minimum inside the sum over h": {"inside": True},
    },
    steps={r"L557: $\mathbb E^{\hat\theta^p}[V]-\mathbb E^{\theta^p}[V]\le H\min\{1,\sqrt{2\operatorname{KL}}\}$ in one "
           r"step": {"one_step": True}},
    mutants={
        r"with $\frac{51}{50}H$ for H": {"factor": Fraction(51, 50)},
        r"with KL in place of $\sqrt{2\operatorname{KL}}$": {"root": False, "factor": Fraction(3, 2)},
        "with a quarter of the right side, the minimum inside": {"inside": True, "factor": Fraction(1, 4)},
    },
)
def minimum_over_an_episode(rng, trials, factor=Fraction(1), inside=False, root=True, one_step=False):
    r"""The minimum may be taken over an episode, but not for free: the rounds in which it is 1 are chosen by the path.

    $V_{\hat\theta^p}-V_{\theta^p}=\sum_h(\Delta_h+\zeta_h)\le H$ with $\Delta_h\le Hc_h/2$, $c_h=\sqrt{2\operatorname
    {KL}}$ (Pinsker). Where $\sum_hc_h>1$ the proof drops the $\zeta_h$ and uses the bound H. But what is left of
    $\sum\zeta$ is no martingale, since $\sum_hc_h$ depends on the path. With $\hat\theta^p$ fixed and K large, the claim
    is $V_{\hat\theta^p}-V_{\theta^p}\le H\,\mathbb E\min\{1,\sum_hc_h\}$. Example: the first step leads to a with
    chance 4/5, in the model 14/15. From a the true chain goes where rewards are 0, the model where they are 1; without
    a both are 0. Left: about $\frac{14}{15}H$; right: $(\frac45+\frac15\cdot0.42)H$.

    Correction: Stop at the first h with $c_1+\cdots+c_h>1$, which is known before $s_{h+1}$. Before it
    $\sum\Delta\le\frac H2\sum c\le\frac H2$, and what remains is at most H. The stopped $\zeta$ are a martingale.

    Attack: The example with H = 200, and a fork with a small error, in rational numbers; random chains of three states, all paths.
    """
    worst = Worst()
    for P, Q, r, H in _transports(rng, trials):
        c = np.array([chains.root_above(2 * kl) if root else kl for kl in chains.divergences(P, Q)])
        model = chains.values(Q, r, H)
        if one_step:
            over = max((((Q - P) @ model[1]) - H * np.minimum(c, 1)) / H)
        else:
            over = (model[0, 0] - chains.values(P, r, H)[0, 0]) / H - factor * _expected_minimum(P, c, H, inside)
        worst.see(over, {"P": P, "model": Q, "r": r, "H": H})
    return evidence_of(worst)


def _transports(rng, trials):
    """The example of C56 and a fork with a small error, exactly, then random chains: P, model, rewards and H."""
    P, Q, r = chains.fork(Fraction(4, 5), Fraction(14, 15), Fraction(99, 100))
    P[2], Q[2] = P[1], P[1]  # the second branch never pays, in truth and in the model
    yield P, Q, r, 200
    yield *chains.fork(Fraction(11, 20), Fraction(1, 2), Fraction(0)), 20
    P, Q, r = chains.draw_chains(rng, trials)
    for i in range(trials):
        yield P[i], Q[i, 0], r[i], 2 + i % 4


def _expected_minimum(P, c, H, inside):
    """E min{1, sum_h c(s_h)}, or E sum_h min{1, c(s_h)}, by a recursion on states and sums so far."""
    found = {(0, 0): 1}
    for _ in range(H):
        after = {}
        for (s, total), chance in found.items():
            total = total + min(c[s], 1) if inside else min(1, total + c[s])
            for t in np.flatnonzero(P[s]):
                after[t, total] = after.get((t, total), 0) + chance * P[s, t]
        found = after
    return sum(total * chance for (_, total), chance in found.items())


@claim(
    "C57",
    statement=r"$\zeta'_k=\operatorname{traj}_k-\mathbb E_{\tilde s\sim\hat\theta^p}[\widetilde{\operatorname{traj}}_k]$ is a "
    r"martingale difference sequence: $\mathbb E[\zeta'_k\mid\operatorname{past}]=0$.",
    meaning="|E[zeta'_k | past]| minus what the statement allows, divided by H; all feature norms are at most 1",
    tolerance=1e-9,
    repairs={
        r"$|\mathbb E[\zeta'_k\mid\operatorname{past}]|\le H\sqrt{\frac12\mathbb E\sum_h\operatorname{KL}_{s_h,a_h}"
        r"(\theta^p,\hat\theta^p)}$": {"drift": 1.0},
        r"with the expectation under $\theta^p$": {"model": "true"},
    },
    others={r"for $H=1$": {"horizons": (1,)}},
    mutants={
        "the first repair, halved": {"drift": 0.5},
        r"the first repair with $\frac12\mathbb E\sum\operatorname{KL}$ in place of its root": {"drift": 1.0, "power": 1.0},
    },
)
def reward_martingale(rng, trials, model="estimated", drift=0.0, power=0.5, horizons=(1, 2, 5, 20)):
    r"""The two parts of $\zeta'_k$ follow different laws, so that its mean is not zero.

    $\operatorname{traj}_k$ is a sum of norms $g(s_h)$ along the played path, which follows $\theta^p$; the expectation
    is under $\hat\theta^p$. So $\mathbb E[\zeta'_k\mid\operatorname{past}]=\mathbb E^{\theta^p}[\sum_hg]-
    \mathbb E^{\hat\theta^p}[\sum_hg]$. Example: H = 2, norms 1/2 and 1/4, $P(1\mid0)=\frac12$, $\hat P(1\mid0)=\frac34$:
    the mean is 1/16. Two more faults: the proof needs a bound of $-\sum\zeta'_k$, and prints one of $\sum\zeta'_k$; and
    good rounds depend on the path, so that a sum over them alone is no martingale either.

    Correction: $0\le\sum_hg\le H$; Pinsker's inequality for the laws of the path, whose KL is
    $\mathbb E^{\theta^p}\sum_h\operatorname{KL}_{s_h,a_h}$. These drifts add up to a new term of the regret, of
    order $\|\tilde\theta-\theta\|_{\bar G}\,H\sqrt{K\sum_k\mathbb E\sum_h\operatorname{KL}}$. With $\theta^p$ in the
    expectation $\zeta'_k$ is a martingale, but L627 has $\hat\theta^p$.

    Attack: Random chains, models at many distances and norms, H up to 20; the example first, in exact arithmetic.
    """
    worst = Worst()
    for P, Q, g in _norms_on_chains(rng, trials, exact=not drift):
        for H in horizons:
            gap = chains.values(P, g, H) - chains.values(P if model == "true" else Q, g, H)
            allowed = 0
            if drift:
                KL = chains.values(P, chains.divergences(P, Q), max(H - 1, 0))[..., 0, 0]
                allowed = drift * (KL / 2) ** power
            see_largest(worst, abs(gap[..., 0, 0]) / H - allowed, {"P": P, "model": Q, "norms": g, "H": H})
    return evidence_of(worst)


def _norms_on_chains(rng, trials, exact):
    """Chains, models and norms of their states: the example, a chain that its first step decides, and random ones."""
    if exact:
        quarter = Fraction(1, 4)
        P, Q = np.array([[[HALF, HALF], [HALF, HALF]], [[quarter, 3 * quarter], [HALF, HALF]]])
        yield P, Q, np.array([HALF, quarter])
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
    others={
        r"for all norms: $|\zeta'_k|\le\sqrt{(1+\frac{\alpha^rBH}\eta)Hd\log(1+\frac{\alpha^rBH}\eta)}$":
            {"bound": "grown", "good": False},
    },
    mutants={
        r"$|\zeta'_k|\le H$ for all norms": {"bound": "H", "good": False},
        r"$|\zeta'_k|\le\frac H2$": {"bound": "H", "factor": HALF},
        "with twice the printed right side": {"factor": 2},
    },
)
def increments_of_norms(rng, trials, bound="printed", good=True, factor=1):
    r"""Norms below 1 bound the sum over an episode by H; the printed bound belongs to a sum over all episodes.

    $\bar G_k$ is fixed during episode k. If all its steps visit one (s,a) of norm $g<1$, then
    $\operatorname{traj}_k=Hg$, which is larger than $\sqrt{Hd\log(\cdot)}$ for large H. The elliptical lemma bounds sums
    over k of squares, not each of them. Example: $d=1$, $\varphi(0)=1$, $\varphi(1)\approx0$, $\eta/\alpha=1.21$,
    first episode, K = 1: norms 10/11 and 0, and $\hat\theta^p=0$ expects half of the steps in state 0. If the path stays
    in 0, $\zeta'_1=\frac{10}{11}\cdot\frac{H-1}2$: 28.6 for H = 64, against 16.

    Correction: Both parts of $\zeta'_k$ lie in $[0,H]$. Azuma's inequality then gives $H\sqrt{2K\log(1/\delta)}$, a
    factor $\sqrt H$ more. For all norms, C45e bounds each part by the grown root.

    Attack: The example, exactly; random designs, where the path stays at the largest norm and the model expects the
    smallest, after the common first step, H up to 10,000.
    """
    worst = Worst()
    for case in itertools.chain(_exact_increments(), _increments(rng, trials)):
        if case["largest"] >= 1 and good:
            continue
        H, d, y = case["H"], case["d"], case["y"]
        logs = log1p_bounds(y * H * (case["K"] if bound == "printed" else 1))[1]
        right = {"printed": H * d * logs, "H": H * H, "grown": (1 + y * H) * H * d * logs}[bound]
        worst.see(1 - factor**2 * right / case["left"] ** 2 if case["left"] else 0, case)
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
