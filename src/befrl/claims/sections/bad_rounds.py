"""Appendices B.1.2 and D.4.2: how often feature norms are large, the bad rounds, and what they cost."""

import itertools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox import episodes
from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import bad_rounds, draw_designs, keep_norms_large, norms_of
from befrl.claims.toolbox.search import Worst

USES = episodes.uses()
HALF = Fraction(1, 2)
LOG2 = Fraction(693147, 1000000)  # a little less than log 2
SHAPES = ((1, 1, 1), (3, 1, 4), (2, 2, 1), (4, 2, 3), (6, 3, 2))  # d, p, q
# Edge cases (d, c, f, r): d = p, A_i = c e_i, phi = f, eta/alpha = r, so that a = c f I and bold A = c^2 I.
EDGES = ((1, 1, 1, 1), (1, HALF, 1, 1), (1, 1, Fraction(1, 10), Fraction(1, 100)), (40, 1, 1, 20), (40, HALF, 1, 1))


def _excess(count, d, y, factor=3):
    """The count minus factor d/log 2 log(1 + y/log 2): exact if y is and log(1 + x) <= x suffices to refute."""
    if isinstance(y, Fraction | int) and count > factor * d * y / LOG2**2:
        return count - factor * d * y / LOG2**2
    return count - float(factor) * d / np.log(2) * np.log1p(np.asarray(y, dtype=float) / np.log(2))


def _repeated(weight, f, r):
    """How many t = 0, 1, ... have weight f^2/(r + t f^2) >= 1: the same a = c f I in every round, one per episode."""
    return max(0, (weight * f * f - r) // (f * f) + 1)


def large_norms(rng, trials, norms="mixed", spread=False, factor=3, delay=1, step=""):
    """C45: Number of large norms, for matrices, norm as stated."""
    worst, edges = Worst(), () if step or delay > 1 else _same_in_every_round(norms)
    for game in itertools.chain(edges, _games(rng, trials, norms, delay)):
        y = game["y"] * (min(game["d"], game["p"]) if spread else 1)
        over = _steps_of_counting(game)[step] if step else _excess(game["count"], game["d"], y, factor)
        see_largest(worst, over, game["case"])
    return evidence_of(worst)


def _same_in_every_round(norms):
    """The edge cases as games with V_0 = r I and a_t = f I; y = L^2/r."""
    for d, _, f, r in EDGES:
        count, y = _repeated(1 if norms == "spectral" else d, f, r), Fraction(f * f) / r
        case = {"d = p": d, "every a_t / I": f, "lambda": r, "count": count}
        yield {"d": d, "p": d, "y": d * y if norms == "frobenius" else y, "count": count, "case": case}


def _games(rng, trials, norms, delay):
    """Games of all shapes; with mixed norms the Frobenius norm counts, while L bounds the spectral norm."""
    norm, length = ("frobenius", "spectral") if norms == "mixed" else (norms, norms)
    for d, p, _ in SHAPES:
        game = keep_norms_large(rng, 6 + trials // 3, d, p, norm, length, delay)
        yield game | {"d": d, "p": p, "case": {"d": d, "p": p, "L^2/lambda": game["y"], "count": game["count"]}}


def _steps_of_counting(game):
    """Left minus right side of the steps in the proof of C45, for V_0 = I; x = d/log 2, and y of the proof is y/d."""
    xy = game["y"] / np.log(2)
    logarithms = np.log1p(3 * xy * np.log1p(xy)), np.log1p(3 * xy**2), 3 * np.log1p(xy)
    slope = 1 - xy / (1 + 3 * xy * np.log1p(xy))
    return {
        "trace": (game["trace"] - game["d"] - game["count"] * game["y"]) / game["trace"],
        "determinant": abs(game["log det"] - game["potential"]),
        "determinant, one side": game["potential"] - game["log det"],
        "logarithms": np.maximum(logarithms[0] - logarithms[1], logarithms[1] - logarithms[2]),
        "decreasing": slope,
        "increasing": -slope,
    }


def printed_constant(rng, trials, by="printed", step=False, vectors=False):
    """C45b: C_d as printed bounds the bad rounds under rescaling of the A_i."""
    worst = Worst()
    for game in _rounds_against_an_adversary(rng, trials, vectors):
        y = _arguments(game)[by]
        over = 1 - y / game["norm of G"] if step else _excess(game["count"], game["d"], y / game["r"])
        see_largest(worst, over, game["case"])
    return evidence_of(worst)


def _arguments(game):
    """What stands beside alpha/eta in the logarithm, in the readings of C45b; m = min(d, p)."""
    A, B, m = game["norm of A"], game["B"], min(game["d"], game["p"])
    condition = m * B * A / game["least"]
    return {"printed": A**2 * B**2, "A B": A * B, "B": B, "m B": m * B, "m B^2": m * B**2, "condition": condition}


def _rounds_against_an_adversary(rng, trials, vectors):
    """How many rounds can be bad: the edge cases, then random designs; `least` is the least eigenvalue of bold A."""
    for d, c, f, r in (edge for edge in EDGES if edge[0] == 1 or not vectors):
        count, A, B = _repeated(d, f, r), Fraction(c) ** 2, Fraction(f) ** 2
        case = {"d = p": d, "A_i": f"{c} e_i", "phi": f, "eta/alpha": r, "bad rounds": count}
        sizes = {"norm of A": A, "least": A, "norm of G": A * B, "B": B}
        yield {"d": d, "p": d, "r": r, **sizes, "count": count, "case": case}
    for d, p, q in SHAPES[:2] if vectors else SHAPES:
        designs = draw_designs(rng, 4 + trials // 3, d, p, q)
        r, a, A, G = (designs[key] for key in ("ratio", "a", "A", "G"))
        count, values = bad_rounds(r[:, None, None] * A, a, G), np.linalg.eigvalsh(A)
        norm_G = np.linalg.norm(G, 2, axis=(2, 3)).max(1)
        sizes = {"norm of A": values[:, -1], "least": values[:, 0], "norm of G": norm_G, "B": designs["B"]}
        case = {"a": a, "A": A, "eta/alpha": r, "bad rounds": count}
        yield {"d": d, "p": p, "r": r, **sizes, "count": count, "case": case}


def bad_episodes(rng, trials, counted="both", factor=3, allowance=None, printed=False):
    """C45c: Bad rounds are O(d), free of H and K: of real and of imagined trajectories.

    printed: against the printed C_d, for the example alone, instead of the corrected one
    """
    worst, table = Worst(), {}
    for run in episodes.bad_round_runs(int(rng.integers(2**32)), trials):
        ours, K = run["example"], run["KL"].shape[1]
        case = {"instance": run["name"], "K": K, "alpha_r p B/eta": run["y"]}
        if ours and counted in ("both", "imagined") and allowance is None:
            over = ours["least"] - ours["printed"] if printed else _excess(ours["least"], 2, run["y"], factor)
            worst.see(over, case | {"eta": ours["eta"], "at least": ours["least"], "C_d": float(ours["printed"])})
        if ours:
            table |= {run["name"]: {"expected": ours["imagined"].sum(), "printed C_d": float(ours["printed"])}}
        if not printed:
            over = _numbers_of_bad_rounds(run)[counted] - _limit(run, factor, allowance)
            see_largest(worst, over, case)
    return evidence_of(worst, details={"imagined bad rounds of the example": table})


def _limit(run, factor, allowance):
    """The bound of every row: that of C45b, or, with an allowance, twice the played ones plus so many times the KL."""
    if allowance is None:
        return -_excess(0, run["d"], np.asarray(run["y"], float), factor)
    return (2 * run["played"] + allowance * run["KL"]).sum(1)


def _numbers_of_bad_rounds(run):
    """Played and imagined bad rounds of every row, the larger of both, and bad steps of the worst played episode."""
    played, imagined = run["steps"].astype(bool).sum(1), run["imagined"].sum(1)
    both = np.maximum(played, imagined)
    return {"played": played, "imagined": imagined, "both": both, "steps": run["steps"].max(1)}


def norm_of_products(rng, trials, measure="operator", bound="B", factor=1):
    """C45d: Operator-norm comparison of Gbar^-1 G with A^-1 G."""
    worst = Worst()
    if bound != "sum":
        worst.see(*_exact_rotation(measure, bound, factor))
    for designs in (_rotation(), *(draw_designs(rng, 10 + trials // 2, *shape) for shape in SHAPES)):
        over = _ratios_of_sizes(designs, measure, bound, float(factor)).max(1) ** 2 - 1
        see_largest(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")})
    return evidence_of(worst)


def _ratios_of_sizes(designs, measure, bound, factor, H=8):
    """Left side / right side of C45d for all (s,a), (n, arms)."""
    A, G, Gbar, B, r = designs["A"], designs["G"], designs["Gbar"], designs["B"][:, None], designs["ratio"][:, None]
    if bound == "sum":
        return _sizes(Gbar, H * G, measure, plus_one=True) / (1 + H * B / r)
    right = _sizes(A, G, measure) if bound == "own" else B
    return _sizes(Gbar, G, measure) / (factor * right / r)


def _sizes(X, G, measure, plus_one=False):
    """Operator norms of X^-1 G or of X^-1/2 G X^-1/2, or their traces, (n, d, d) and (n, m, d, d) -> (n, m)."""
    L = np.linalg.cholesky(X)[:, None]
    inner = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, G), 2, 3))
    if measure == "trace":
        return np.trace(inner, axis1=2, axis2=3)
    product = inner if measure == "symmetric" else np.linalg.solve(X[:, None], G)
    return np.linalg.norm(product + plus_one * np.eye(X.shape[-1]), 2, axis=(2, 3))


def _rotation():
    """The example in the form of `draw_designs`."""
    A, past, *vectors = (each.astype(float) for each in _matrices())
    a = np.array(vectors)[None, :, :, None]
    G = a @ np.swapaxes(a, 2, 3)
    B = np.linalg.norm(np.linalg.solve(A, G), 2, axis=(2, 3)).max(1)
    return {"a": a, "A": A[None], "G": G, "B": B, "ratio": np.ones(1), "Gbar": (A + past)[None]}


def _exact_rotation(measure, bound, factor):
    """The square of left/right minus 1 at the example, and its case; G has rank one: norms are products of lengths."""
    A, past, g, other = _matrices()
    quadratic = measure in ("trace", "symmetric")

    def squared(X, g, quadratic):
        solved = np.array([[X[1, 1], -X[0, 1]], [-X[1, 0], X[0, 0]]]) @ g / (X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0])
        return (g @ solved) ** 2 if quadratic else (g @ g) * (solved @ solved)

    right = squared(A, g, quadratic) if bound == "own" else max(squared(A, each, False) for each in (g, other))
    case = {"A_1": "(1/16, 0)", "A_2": "(1, 1)", "phi": "(1, 1)", "visits of phi' = (0, 1)": 3, "eta/alpha": 1}
    return squared(A + past, g, quadratic) / (Fraction(factor) ** 2 * right) - 1, case


def _matrices():
    """Bold A, the sum of G over three visits of phi' = (0, 1), and the vectors a of phi = (1, 1) and of phi'."""
    rows = np.array([[Fraction(1, 16), Fraction(0)], [Fraction(1), Fraction(1)]])  # A_1, A_2
    g, other = rows @ np.array([1, 1]), rows @ np.array([0, 1])
    return rows @ rows.T, 3 * np.outer(other, other), g, other


def change_of_design(rng, trials, relation="=", part=1, step="", played=False, vectors=False):
    """C45e: The equality under the square root."""
    worst, edges = Worst(), () if step else _changes_of_one_number()
    for change in itertools.chain(edges, _changes(rng, trials, vectors)):
        ratio = change["before"] / ((1 + change["growth"] / part) * change["after"])
        over = _steps_after_a_change(change, played)[step] if step else _miss(ratio, relation)
        see_largest(worst, over, change["case"])
    return evidence_of(worst)


def _miss(ratio, relation):
    """By how much a ratio, or the worst of every row of ratios, misses =, <= or >= 1."""
    found = {"=": abs(ratio - 1), "<=": ratio - 1, ">=": 1 - ratio}[relation]
    return found.max(1) if np.ndim(found) else found


def _changes_of_one_number():
    """Exact cases with d = 1, alpha B/eta = 1: squared norms before and after an episode, and alpha B H/eta."""
    for visits, H in ((1, 1), (0, 4)):
        before, after = Fraction(1, 1 + visits), Fraction(1, 1 + visits + H)
        yield {"before": before, "after": after, "growth": Fraction(H), "case": {"visits": visits, "H": H}}


def _changes(rng, trials, vectors):
    """The same for random designs and episodes of 1 and 8 steps, for all (s,a); `arms` are the (s,a) played."""
    for shape, H in itertools.product(SHAPES[:2] if vectors else SHAPES, (1, 8)):
        designs = draw_designs(rng, 10 + trials // 4, *shape)
        a, G, Gbar, n = designs["a"], designs["G"], designs["Gbar"], len(designs["a"])
        arms = rng.integers(8, size=(n, H))
        after = norms_of(a, Gbar + G[np.arange(n)[:, None], arms].sum(1))
        growth = (designs["B"] / designs["ratio"] * H)[:, None]
        case = {key: designs[key] for key in ("a", "A", "ratio", "Gbar")} | {"arms": arms}
        yield {"d": shape[0], "before": norms_of(a, Gbar), "after": after, "growth": growth, "arms": arms, "case": case}


def _steps_after_a_change(change, played):
    """Left minus right side of L657 and L659; an imagined episode stays at the (s,a) of the largest norm."""
    after, arms, H = change["after"], change["arms"], change["arms"].shape[1]
    norms = np.take_along_axis(after, arms, 1) if played else np.repeat(after.max(1, keepdims=True), H, 1)
    limit = np.sqrt(H * change["d"] * np.log1p(change["growth"][:, 0]))
    return {"one": norms.max(1) - 1, "sum": np.sqrt(norms).sum(1) - limit}
