"""Random designs, with the matrices a = (A_i phi)_i of a few (s,a), bold A and Gbar; norms, and adversaries.

Shapes: n designs at once, `arms` pairs (s,a), a (n, arms, d, p).
"""

import numpy as np


def draw_designs(rng, n, d, p, q, arms=8):
    """n random designs: the matrices a (n, arms, d, p), G = aa', bold A, B and eta/alpha, past visits and Gbar."""
    A_i = (
        rng.standard_normal((n, d, p, q))
        * 10.0 ** rng.uniform(-1, 1, (n, d, 1, 1))
        * 10.0 ** rng.uniform(-2, 2, (n, 1, 1, 1))
    )
    phi = np.abs(rng.standard_normal((n, arms, q))) * 10.0 ** rng.uniform(-2, 2, (n, 1, 1))
    phi *= 2.0 ** -rng.integers(0, 5, (n, arms, 1))
    a = np.einsum("nipq,nmq->nmip", A_i, phi)
    A, G = np.einsum("nipq,njpq->nij", A_i, A_i), a @ np.swapaxes(a, 2, 3)
    B = np.linalg.norm(np.linalg.solve(A[:, None], G), 2, axis=(2, 3)).max(1)
    ratio = min(d, p) * B * 10.0 ** rng.uniform(-3, 0.3, n)
    visits = rng.integers(0, 3, (n, arms)) * rng.integers(1, 100, (n, arms))
    ratio[:2], visits[:4] = B[:2] / 1000, 0  # edges: a weak penalty, no data
    Gbar = ratio[:, None, None] * A + np.einsum("nm,nmij->nij", visits, G)
    return {"a": a, "A": A, "G": G, "B": B, "ratio": ratio, "visits": visits, "Gbar": Gbar}


def bad_rounds(Gbar, a, G, rounds=150):
    """How many rounds can be bad if an adversary plays the arm of the smallest norm >= 1 as long as there is one."""
    rows, count = np.arange(len(a)), np.zeros(len(a), int)
    for _ in range(rounds):
        norms = norms_of(a, Gbar)
        bad = norms >= 1.0
        playing = bad.any(1)
        if not playing.any():
            break
        chosen = np.where(bad, norms, np.inf).argmin(1)
        Gbar = Gbar + playing[:, None, None] * G[rows, chosen]
        count += playing
    return count


def norms_of(a, Gbar):
    """tr(a' Gbar^-1 a) for all arms, (n, arms)."""
    return (a * np.linalg.solve(Gbar[:, None], a)).sum((2, 3))


def sizes_of_products(X, G, measure, plus_one=False):
    """Norms of X^-1 G, or of X^-1/2 G X^-1/2, or traces of both, (n, d, d) and (n, m, d, d) -> (n, m)."""
    L = np.linalg.cholesky(X)[:, None]
    inner = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, G), 2, 3))
    if measure == "trace":
        return np.trace(inner, axis1=2, axis2=3)
    product = inner if measure == "symmetric" else np.linalg.solve(X[:, None], G)
    product = product + plus_one * np.eye(X.shape[-1])
    return np.linalg.norm(product, "fro" if measure == "frobenius" else 2, axis=(2, 3))


def keep_norms_large(rng, y, d, p, norm, length, threshold, delay, rounds=70):
    """Play with V_0 = I and a squared length of at most y, (n,): counts, trace and log det of V, sum log(1 + |a|^2)."""
    n, rank = len(y), min(d, p)
    V = np.broadcast_to(np.eye(d), (n, d, d)).copy()
    count, potential, idle = np.zeros(n, int), np.zeros(n), 0
    for _ in range(rounds):
        values, vectors = np.linalg.eigh(V)
        a = rng.standard_normal((n, d, p)) * (rng.random((n, 1, p)) < 0.7)
        a = np.where((np.arange(n) % 2)[:, None, None] == 1, a, 0.0)
        # Squared lengths of the r weakest eigenvectors, scaled to a norm of 1; the smallest feasible r.
        sums = np.cumsum(1 / values[:, :rank], 1) if norm == "frobenius" else 1 / values[:, [0] * rank]
        lengths = (np.arange(1, rank + 1) if length == "frobenius" else 1) / sums
        r = 1 + (lengths * threshold**2 > y[:, None]).argmin(1)
        few = vectors[:, :, :rank] * (np.arange(rank) < r[:, None])[:, None]
        a[::2, :, :rank] = few[::2]
        product = np.swapaxes(a, 1, 2) @ np.linalg.solve(V, a)
        own, weighted = _squared(np.swapaxes(a, 1, 2) @ a, length), _squared(product, norm)
        scale = threshold**2 * (1 + 1e-9) / np.maximum(weighted, 1e-300)
        playing = (scale * own <= y) & (weighted > 0)
        a = a * np.sqrt(np.where(playing, scale, 0.0))[:, None, None]
        V = V + delay * a @ np.swapaxes(a, 1, 2)
        count += delay * playing
        potential += delay * np.log1p(np.where(playing, scale * np.trace(product, axis1=1, axis2=2), 0.0))
        idle = 0 if playing.any() else idle + 1
        if idle == 2:
            break
    trace, determinant = np.trace(V, axis1=1, axis2=2), np.linalg.slogdet(V)[1]
    return {"count": count, "trace": trace, "log det": determinant, "potential": potential}


def _squared(gram, norm):
    """The squared norm of a from a'a or a'V^-1 a: the trace, or the largest eigenvalue."""
    return np.trace(gram, axis1=1, axis2=2) if norm == "frobenius" else np.linalg.eigvalsh(gram)[:, -1]
