"""Sums along the episodes of bef-seed: potentials of a design that is frozen in an episode, variances, a lower tail."""

import numpy as np

from befrl.claims.toolbox.batches import evidence_of
from befrl.claims.toolbox.search import Worst, search
from befrl.claims.toolbox.seed import uncovered
from befrl.model.seed_theorem import TAIL


def frozen(rng, trials, total=2, once=3, bad=1, cells=1, capped=True, good=True, logarithm=2):
    """S09: the elliptical lemma for a design V_k that is frozen in each episode.

    total     of gamma/log(logarithm), the bound of the sum of min{1, x} over good visits; not `capped`: of x;
              not `good`: over all visits
    once      bound of this sum within one episode
    bad       of H gamma/log 2, the bound of the number of bad visits
    cells     of H, the bound of the number of bad visits of one cell with one-hot features
    """

    def violation(case):
        if "visits" in case:
            return uncovered(_bad_visits(case["visits"]), cells * case["visits"].sum(1).max())
        a = np.reshape(case["potentials"], (1, -1, 1, 1)) ** 0.5 if "potentials" in case else case["a"]
        x, growth, gamma = _potentials(a, case["scale"])
        is_good, H = growth <= np.log(2) + 1e-12, x.shape[1]
        sums = ((np.minimum(x, 1) if capped else x) * (is_good if good else 1)).sum(1)
        sides = [(sums.sum(), total * gamma / np.log(logarithm)), (sums.max(), once)]
        sides += [((~is_good).sum(), bad * H * gamma / np.log(2))]
        return max(uncovered(left, float(right)) for left, right in sides)

    shown = ([1, 1], [1] * 100, [1.001] + [1e-6] * 99)  # d = 1 and V_1 = 1
    edges = [{"visits": np.array([[40]])}, {"scale": 0.01, "potentials": [1]}]
    edges += [{"scale": 1.0, "potentials": potentials} for potentials in shown]
    return search(rng, trials, _draw_design, violation, edges=edges, move=_moved_design)


def _potentials(a, scale):
    """x = tr(a'V_k^-1 a) (K, H), log det V_{k,h}/det V_k (K, H) and gamma, for a (K, H, d, p) and V_1 = scale I."""
    K, _, d, _ = a.shape
    G = a @ a.swapaxes(-1, -2)
    before = scale * np.eye(d) + np.concatenate([np.zeros((1, d, d)), G.sum(1).cumsum(0)])
    within = before[:-1, None] + np.concatenate([np.zeros((K, 1, d, d)), G.cumsum(1)[:, :-1]], 1)
    logs = np.linalg.slogdet(before)[1]
    x = (a * np.linalg.solve(before[:-1, None], a)).sum((-1, -2))
    return x, np.linalg.slogdet(within)[1] - logs[:-1, None], logs[-1] - logs[0]


def _bad_visits(visits):
    """The largest number of bad visits of a cell, for visits (K, X) of each cell in each episode."""
    before = visits.cumsum(0) - visits
    return np.maximum(visits - before, 0).sum(0).max()


def _draw_design(rng):
    K, H = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    if rng.random() < 0.2:
        X = int(rng.integers(1, 4))
        return {"visits": rng.multinomial(H, rng.dirichlet(np.ones(X) / 2), K)}
    d, p = (int(most) for most in rng.integers(1, 4, 2))
    a = rng.standard_normal((K, H, d, p)) * 10.0 ** rng.uniform(-1, 1, (K, H, 1, 1))
    return {"a": a * rng.choice((1, 2)) ** np.arange(K)[:, None, None, None], "scale": 10.0 ** rng.uniform(-2, 2)}


def _moved_design(rng, case, step):
    if "a" not in case:
        return case
    return case | {"a": case["a"] * np.exp(step * rng.standard_normal(case["a"].shape))}


def variances(rng, trials, total=0.25, factor=2):
    """S10: the variances of V^pi and of Delta = O - V^pi along an episode of pi.

    total   of H^2, the bound of E sum Var_*(V^pi_{h+1})
    factor  of H E sum e_h, the bound of E sum Var_*(Delta_{h+1})
    """

    def violation(case):
        P, r, e = CHAINS[case["chain"]](case["H"]) if "chain" in case else _errors(case)
        gained, of_Delta = _along(P, e)
        H, of_values = len(P), _along(P, r)[1]
        return max(uncovered(of_values, float(total) * H**2), uncovered(of_Delta, float(factor) * H * gained))

    edges = [{"chain": chain, "H": H} for chain, H in (("coin", 100), ("rare entry", 100), ("rare entry", 2000))]
    return search(rng, trials, _draw_chain, violation, edges=edges, move=_moved_chain)


def _along(P, f):
    """E sum_h f_h and E sum_h Var(F_{h+1}) from state 0, for F_h = f_h + P_h F_{h+1}; P (H, S, S), f (H, S)."""
    F, variance = np.zeros(f.shape[1]), np.zeros(f.shape[1])
    for step, kernel in zip(f[::-1], P[::-1], strict=True):
        mean = kernel @ F
        variance = kernel @ np.square(F) - np.square(mean) + kernel @ variance
        F = step + mean
    return F[0], variance[0]


def _errors(case):
    """P, r and e: at each step a share of what leaves Delta_h = H - h + 1."""
    P, share = case["P"], case["share"]
    e, Delta = np.zeros(share.shape), np.zeros(share.shape[1])
    for h in reversed(range(len(P))):
        e[h] = share[h] * (len(P) - h - P[h] @ Delta)
        Delta = e[h] + P[h] @ Delta
    return P, case["r"], e


def _draw_chain(rng):
    H, S = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    P = rng.dirichlet(np.full(S, 10.0 ** rng.uniform(-1, 1)), (H, S))
    r, share = rng.random((2, H, S)) ** rng.choice((0.2, 1, 5), (2, 1, 1))
    return {"P": P, "r": r, "share": share * (rng.random((H, S)) < 0.5)}


def _moved_chain(rng, case, step):
    P = case["P"] * np.exp(step * rng.standard_normal(case["P"].shape))
    moved = {key: (case[key] + step * rng.standard_normal(case[key].shape)).clip(0, 1) for key in ("r", "share")}
    return moved | {"P": P / P.sum(-1, keepdims=True)}


def _coin(H):
    """The first step decides between the rewards 0 and 1 at all later steps: the variance is (H - 1)^2/4."""
    P = np.broadcast_to(np.eye(3), (H, 3, 3)).copy()
    P[0, 0] = [0.0, 0.5, 0.5]
    r = np.zeros((H, 3))
    r[1:, 2] = 1.0
    return P, r, 0 * r


def _rare_entry(H):
    """A state that is entered with a small probability and left with probability H^-1/2, where Delta_h = H - h + 1."""
    leave, entry = H**-0.5, 1e-6
    P = np.broadcast_to(np.array([[1.0, 0, 0], [0, 1.0, 0], [0, leave, 1 - leave]]), (H, 3, 3)).copy()
    P[0, 0] = [0.0, 1 - entry, entry]
    left, e = np.arange(H, 0.0, -1.0), np.zeros((H, 3))  # left: H - h + 1
    e[1:, 2] = left[1:] - (1 - leave) * (left[1:] - 1)
    return P, 0 * e, e


CHAINS = {"coin": _coin, "rare entry": _rare_entry}


def lower_tail(rng, trials, factor=TAIL, late=1.0, step=False):
    """S11: sum E_k Y_k <= factor (sum Y_k + late y log(1/delta)) for all K, with probability 1 - delta.

    Y_k is 0 or y = 1, with probabilities q_k that repeat; the chance of a violation up to the last K is exact.
    step  the inequality of the proof, E e^-Y <= exp(-E Y/factor), instead
    """
    worst = Worst()
    for case in _tails(rng, trials):
        q = case["q"]
        if step:
            worst.see(float(np.max(np.log1p(q * np.expm1(-1.0)) + q / factor)), case)
        else:
            chance = _crossing(q, float(factor), float(late) * np.log(1 / case["delta"]), case["episodes"])
            worst.see(chance / case["delta"] - 1, case | {"chance": chance})
    return evidence_of(worst)


def _tails(rng, trials):
    """Rare events, frequent ones, and periodic probabilities."""
    for q, episodes in ((0.01, 4000), (0.1, 2000), (1.0, 10)):
        for delta in (0.5, 0.05):
            yield {"q": np.array([q]), "delta": delta, "episodes": episodes}
    for _ in range(max(2, trials // 20)):
        q = 10.0 ** rng.uniform(-2, 0, int(rng.integers(1, 5)))
        yield {"q": q, "delta": 10.0 ** rng.uniform(-2, -0.1), "episodes": 1000}


def _crossing(q, factor, late, episodes):
    """The chance that sum q > factor (sum Y + late) for some K <= episodes."""
    sums = np.cumsum(np.resize(q, episodes))
    most = int(sums[-1] / factor) + 2
    alive, crossed = np.zeros(most), 0.0
    alive[0] = 1.0
    S = np.arange(most)
    for chance, total in zip(np.resize(q, episodes), sums, strict=True):
        alive = alive * (1 - chance) + np.append(0.0, alive[:-1]) * chance
        out = total > factor * (S + late)
        crossed += alive[out].sum()
        alive[out] = 0.0
    return float(crossed)
