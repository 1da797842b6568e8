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


def keep_norms_large(rng, n, d, p, norm, length, delay, rounds=70):
    """n games with V_0 = I and squared lengths of at most y: counts, trace and log det of V, sum log(1 + |a|^2).

    Every second game plays random matrices, the others as few of the weakest eigenvectors of V as y allows; both are
    scaled to a norm of 1, while this is possible. V changes after `delay` rounds with the same matrix.
    """
    y = 10.0 ** rng.uniform(-2, 2.5, n)
    y[:6] = np.repeat([1.0, 4.0, 300.0], 2) * (1 + 1e-6)
    V = np.broadcast_to(np.eye(d), (n, d, d)).copy()
    count, potential, idle = np.zeros(n, int), np.zeros(n), 0
    for _ in range(rounds):
        a = rng.standard_normal((n, d, p)) * (rng.random((n, 1, p)) < 0.7)
        a[::2] = _weakest(V, y, a.shape, norm, length)[::2]
        product = np.swapaxes(a, 1, 2) @ np.linalg.solve(V, a)
        own, weighted = _squared(np.swapaxes(a, 1, 2) @ a, length), _squared(product, norm)
        scale = (1 + 1e-9) / np.maximum(weighted, 1e-300)
        playing = (scale * own <= y) & (weighted > 0)
        a = a * np.sqrt(np.where(playing, scale, 0.0))[:, None, None]
        V = V + delay * a @ np.swapaxes(a, 1, 2)
        count += delay * playing
        potential += delay * np.log1p(np.where(playing, scale * np.trace(product, axis1=1, axis2=2), 0.0))
        idle = 0 if playing.any() else idle + 1
        if idle == 2:
            break
    trace, determinant = np.trace(V, axis1=1, axis2=2), np.linalg.slogdet(V)[1]
    return {"y": y, "count": count, "trace": trace, "log det": determinant, "potential": potential}


def _weakest(V, y, shape, norm, length):
    """Matrices of the r weakest eigenvectors of V, with the smallest r that reaches a norm of 1 within y."""
    rank = min(shape[1:])
    values, vectors = np.linalg.eigh(V)
    sums = np.cumsum(1 / values[:, :rank], 1) if norm == "frobenius" else 1 / values[:, [0] * rank]
    lengths = (np.arange(1, rank + 1) if length == "frobenius" else 1) / sums  # squared, at a norm of 1
    r = 1 + (lengths > y[:, None]).argmin(1)
    a = np.zeros(shape)
    a[:, :, :rank] = vectors[:, :, :rank] * (np.arange(rank) < r[:, None])[:, None]
    return a


def _squared(gram, norm):
    """The squared norm of a from a'a or a'V^-1 a: the trace, or the largest eigenvalue."""
    return np.trace(gram, axis1=1, axis2=2) if norm == "frobenius" else np.linalg.eigvalsh(gram)[:, -1]
