"""Sections 2 and 3.2: Assumption 1, the constants of the table of notations, and the other hypotheses of Theorem 1."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from scipy.special import softmax

from befrl.claims.toolbox.curvature import covariance, draw_reward_segment, draw_segment, reward_segment, segment
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.laws import REWARDS
from befrl.claims.toolbox.search import Worst, listed, search

ONE, ZERO, QUARTER = Fraction(1), Fraction(0), Fraction(1, 4)


def well_formed(rng, trials, vectors="all", dimension="d"):
    """C16: Assumption 1 is well formed (dimension of x, normalisation)."""
    scales = {"unit": (1,), "nonzero": (1, ONE / 1000, 1000), "all": (1, 0, 1000)}[vectors]

    def loss(case):
        C = np.asarray(case["C"])
        if dimension == "d" and case["d"] != len(C):
            return 1  # there is no such form
        eigenvalues, axes = np.linalg.eigh(C) if len(C) > 1 else (C[0], C * 0 + 1)
        x = np.concatenate([axes.T, case["x"] / np.linalg.norm(case["x"], axis=1)[:, None]]) if len(C) > 1 else axes
        forms = np.array([scale**2 * value for value in np.einsum("ip,pq,iq->i", x, C, x) for scale in scales])
        return max(1 - forms.min() / eigenvalues[0], 1 - eigenvalues[-1] / forms.max())

    return search(rng, trials, _draw_form, loss, edges=[{"C": [[QUARTER]], "d": d} for d in (1, 2)], climb=False)


def _draw_form(rng):
    """A random covariance (p, p) of transitions or rewards, a number d, and five vectors."""
    p, d = (int(n) for n in rng.integers(1, 5, 2))
    C = np.eye(p) * rng.uniform(0.1, 3) * 10.0 ** rng.uniform(-3, 0)
    if rng.random() < 0.5:
        C = covariance(rng.standard_normal((p + 2, p)), rng.standard_normal(p))
    return {"C": C, "d": d, "x": rng.standard_normal((5, p))}


COIN = {"atoms": [0, 1], "weights": [1, 1]}  # a base measure on [0, 1]: weights at multiples of 1/n, n the last atom
UNIFORM = {"atoms": list(range(9)), "weights": [1] * 9}
CANDIDATES = [Fraction(1, 10**n) for n in range(1, 13)]  # for a lower bound of the variance


def all_parameters(rng, trials, kind="bounded", top=1, always=False, reach=0, root=1, share=0):
    """C17: Assumption 1 can hold for all theta in R^d with rewards in [0,1]."""
    if reach or share:  # statements on every law
        excess = partial(_decay, reach=reach, root=root) if reach else partial(_least_variance, share=share)
        return search(rng, 4 + trials // 4, _draw_base, excess, edges=[COIN, UNIFORM], climb=False)
    best = Worst()  # some law and some bound: the best pair counts
    if kind == "gaussian":
        laws = [{"variance": Fraction(n)} for n in (1, 9)]
    else:
        laws = [COIN, UNIFORM, *(_draw_base(rng) for _ in range(4 + trials // 4))]
    for law in laws:
        for value, found in _gaussian_shortfalls(law, always) if kind == "gaussian" else _shortfalls(law, top):
            best.see(-value, law | found)
    return Evidence(-best.value, listed(best.instance), "search", best.number)


def _draw_base(rng):
    """A random base measure with a few rational atoms in [0, 1]."""
    n = int(rng.integers(1, 33))
    atoms = [0, *(np.flatnonzero(rng.random(n - 1) < rng.uniform(0, 1)) + 1).tolist(), n]
    return {"atoms": atoms, "weights": [int(w) for w in np.ceil(10.0 ** rng.uniform(0, 6, len(atoms)))]}


def _variance(law, t):
    """Var_c(r), exactly, at the natural parameter c with exp(c/n) = t."""
    t, n, pairs = Fraction(t), law["atoms"][-1], list(zip(law["atoms"], law["weights"], strict=True))
    mass = [(w * t.numerator**a * t.denominator ** (n - a), a) for a, w in pairs]
    total, first, second = (sum(m * a**power for m, a in mass) for power in range(3))
    return Fraction(second * total - first**2, (total * n) ** 2)


def _shortfalls(law, top):
    """1 - Var_c/v for each candidate v, at a c with Var_c <= v/2; rewards are `top` times the atoms."""
    k = 0
    for v in CANDIDATES:
        while (variance := top**2 * _variance(law, 2**k)) > v / 2:
            k += 1
        yield 1 - variance / v, {"v": v, "c": f"{law['atoms'][-1]} log(2^{k}) / {top}"}


def _gaussian_shortfalls(law, always):
    """The same for a Gaussian law; if `always`, its means, which spread over 2 Var/v for |c| <= 1/v, stay in [0, 1]."""
    for v in CANDIDATES:
        spread = min(2 * law["variance"] / v - 1, ONE) if always else -ONE
        yield max(1 - law["variance"] / v, spread), {"v": v}


def _decay(law, reach, root):
    """The largest 1 - (Var_c/Var_0)^root exp(|c|) over a grid of |c| <= reach."""
    n, start = law["atoms"][-1], _variance(law, 1)
    grid = [Fraction(5, 4) ** k for k in range(1, 1 + max(1, round(reach / (n * math.log(1.25)))))]
    return max(1 - (_variance(law, s) / start) ** root * t**n for t in grid for s in (t, 1 / t))


def _least_variance(law, share):
    """1 - share/(C v) for the least variance v over |c| <= C, at the worst of eight C: positive if v > share/C."""
    n, least, excesses = law["atoms"][-1], _variance(law, 1), []
    for t in (Fraction(5, 4) ** k for k in range(1, 9)):
        least = min(least, _variance(law, t), _variance(law, 1 / t))
        excesses.append(1 - share / (n * log1p_bounds(t - 1)[0] * least))
    return max(excesses)


def smallest_curvature(rng, trials, which="max", factor=1, upper=False, p=None):
    """C18: Alpha^p = inf lambda_max gives the KL lower bound that the proofs use."""

    def excess(case):
        spectra, square, KL = segment(case)
        values = [(min if which == "min" else max)(spectrum) for spectrum in spectra]
        bound = factor * (max if upper else min)(values) * square / 2
        small, large = (KL, bound) if upper else (bound, KL)
        return -1.0 if small < 1e-6 else 1 - large / small  # what is below is rounding

    edges = [{"cov": [ONE, c], "delta": delta} for c in (QUARTER, ONE) for delta in ([ONE, ZERO], [ZERO, ONE])]
    return search(rng, trials, lambda rng: draw_segment(rng, p), excess, edges=[] if p == 1 else edges)


def reward_constant(rng, trials, constant="smallest", along=False, factor=1, p=None):
    """C19: Alpha^r = lambda_min(B B') inf Var is a usable constant for every p."""

    def excess(case):
        B, delta, variance, KL = reward_segment(case)
        if constant == "smallest" and np.linalg.eigvalsh(np.outer(B, B).astype(float))[0] < 1e-12 * (B @ B):
            return 1
        square = (B @ delta) ** 2 if along else delta @ delta
        bound = factor * (1 if constant == "one" else B @ B) * variance / 2 * square
        return -1.0 if bound < 1e-6 else 1 - KL / bound  # what is below is rounding

    edges = [{"kind": "unit", "B": [b, ZERO], "delta": [b - 1, 2 - b]} for b in (ONE, 2 * ONE) if p != 1]
    return search(rng, trials, lambda rng: draw_reward_segment(rng, p), excess, edges=edges, climb=False)


def hessian_eigenvalues(rng, trials, along=False, only="", lower=True, relative=True, slack=1):
    """C20: Assumption 1 controls the Hessians' eigenvalues."""

    def excess(case):
        low, high, H, G = _spectra(case, along)
        G = G if relative else [1] * len(H)
        pairs = [(low * g, h) for h, g in zip(H, G, strict=True) if lower]
        pairs += [(h, high * g) for h, g in zip(H, G, strict=True)]
        rounding = 1e-7 * max(max(pair) for pair in pairs)
        return max([1 - large / (slack * small) for small, large in pairs if small > rounding], default=0)

    coin = {"H": [ZERO, QUARTER], "G": [ZERO if only == "p" else ONE, ONE], "GB": [ZERO, ONE]}
    return search(rng, trials, lambda rng: _draw_hessian(rng, only), excess, edges=[coin], climb=False)


def _draw_hessian(rng, only):
    """A random U, two parameters, and psi for transitions or B for rewards; `only` is 'p', 'r' or ''."""
    p, d = (int(n) for n in rng.integers(1, 5, 2))
    U = rng.standard_normal((p, d)) * 10.0 ** rng.uniform(-1, 1)
    case = {"U": U, "theta": rng.standard_normal((2, d)) / np.linalg.norm(U, 2)}
    if only == "p" or (not only and rng.random() < 0.5):
        return case | {"psi": rng.standard_normal((p + 3, p))}
    return case | {"B": rng.standard_normal(p), "kind": str(rng.choice(list(REWARDS)))}


def _spectra(case, along):
    """The constants of C20, and the eigenvalues of a Hessian and of its G, or of G^B along B."""
    if "H" in case:
        return QUARTER, QUARTER, case["H"], case["GB" if along else "G"]
    U, theta, B = case["U"], case["theta"], case.get("B")
    if B is None:
        values = np.linalg.eigvalsh(covariance(case["psi"], theta @ U.T))
        H, G = covariance(case["psi"] @ U, theta[0]), U.T @ U
    else:
        variances, GB = REWARDS[case["kind"]].variance(theta @ (B @ U)), np.outer(B @ U, B @ U)
        values, H, G = variances * (1.0 if along else B @ B), variances[0] * GB, GB if along else U.T @ U
    return values.min(), values.max(), np.linalg.eigvalsh(H), np.linalg.eigvalsh(G)


def nonnegative_features(rng, trials, laws=False, matrices=False, x=False):
    """C21: Nonnegativity of psi and phi: used anywhere, sufficient for the steps that seem to need it?."""

    def uncovered(case):
        phi, A, direction = (np.asarray(case[key]) for key in ("phi", "A", "x"))
        if laws:
            return _difference(phi, A, case["psi"], direction)
        products = np.einsum("i,ipq,hq->hp", np.abs(direction) if x else direction, np.abs(A) if matrices else A, phi)
        left, right = np.square(products).sum(), np.square(products.sum(0)).sum()
        return 1 - right / left if left else 0

    edge = {"phi": [[ONE, ZERO], [ZERO, ONE]], "A": [[[ONE, ZERO]], [[ZERO, ONE]]], "x": [ONE, -ONE]}
    edges = [] if laws else [edge, edge | {"A": [[[ONE, -ONE]]], "x": [ONE]}]
    return search(rng, trials, _draw_trajectory, uncovered, edges=edges, climb=False)


def _draw_trajectory(rng):
    """Random nonnegative features of up to three steps, matrices A_i, x, and a psi of four states."""
    H, p, q, d = (int(n) for n in rng.integers(1, 4, 4))
    case = {"phi": np.abs(rng.standard_normal((H, q))), "A": rng.standard_normal((d, p, q))}
    return case | {"x": rng.standard_normal(d), "psi": rng.standard_normal((4, p))}


def _difference(phi, A, psi, theta):
    """The largest difference between the laws and the G of signed features and of their nonnegative form."""
    phi = phi - phi.mean()
    split = np.concatenate([np.maximum(phi, 0), np.maximum(-phi, 0)], axis=1)
    U, V = np.einsum("ipq,hq->hpi", A, phi), np.einsum("ipq,hq->hpi", np.concatenate([A, -A], axis=2), split)
    laws = np.abs(softmax(U @ theta @ psi.T, axis=-1) - softmax(V @ theta @ (psi - psi.min()).T, axis=-1)).max()
    grams = np.abs(U.swapaxes(1, 2) @ U - V.swapaxes(1, 2) @ V).max() / max(1.0, np.abs(U).max() ** 2)
    return float(max(laws, grams))


def strictly_convex(rng, trials, eta=0, independent=False, small=False, strictly=True, visits=1):
    """C22: Z_{s,a} strictly convex in theta."""

    def flatness(case):
        A, psi, delta = np.asarray(case["A"]), np.asarray(case["psi"]), case.get("delta")
        trace = np.einsum("ipq,jpq->ij", A, A)
        statistics = [psi @ np.einsum("ipq,q->pi", A, phi) for phi in np.asarray(case["phi"])]
        if delta is not None:  # exact: no statistic varies along delta, and no penalty counts
            varies = any(np.ptp(T @ delta) != 0 for T in statistics) or eta * (delta @ trace @ delta) != 0
            return int(strictly and not varies)
        H = sum(covariance(T, case["theta"]) for T in statistics) + eta * trace
        return float(np.linalg.eigvalsh(H)[0] < (1e-10 if strictly else -1e-10) * np.trace(H))

    given = (visits, independent, small)
    edges = list(_flat_cases(*given))
    return search(rng, trials, lambda rng: _draw_visits(rng, *given), flatness, edges=edges, climb=False)


def _flat_cases(visits, independent, small):
    """Exact cases within the hypotheses of C22, each with a direction along which no statistic varies."""
    coin, unit = [[ZERO], [ONE]], np.array([[ONE, ZERO], [ZERO, ONE]])
    yield {"A": unit[:, :, None], "psi": unit, "phi": [[ONE]] * visits, "delta": unit.sum(0)}
    if not small:
        yield {"A": unit[:, None], "psi": coin, "phi": [unit[0]] * visits, "delta": unit[1]}
    if not independent:
        yield {"A": [[[ONE]], [[ONE]]], "psi": coin, "phi": [[ONE]] * visits, "delta": unit[0] - unit[1]}


def _draw_visits(rng, visits, independent, small):
    """Random A_i, psi of transitions or rewards, features of the visits, and a parameter."""
    p, q = (int(n) for n in rng.integers(1, 4, 2))
    d = int(rng.integers(1, (p if small else p * q if independent else 5) + 1))
    A, psi = rng.standard_normal((d, p, q)), rng.standard_normal((p + 2, p))
    if rng.random() < 0.5:  # rewards: r B
        psi = np.multiply.outer([0.0, 1.0], rng.standard_normal(p))
    return {"A": A, "psi": psi, "phi": rng.standard_normal((visits, q)), "theta": 0.3 * rng.standard_normal(d)}
