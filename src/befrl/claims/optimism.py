"""Steps of the optimism proof."""

import numpy as np

from befrl.claims.toolbox.registry import Finding, Worst, claim, decide

SECTION = "Optimism and regret"
TOLERANCE = 1e-9
# Candidate repairs of the bound of C46; 'factor n' multiplies its right side by n.
REPAIRS = ("factor n", "nonnegative features", "products of one sign")


@claim(
    "C46",
    section=SECTION,
    where="proof of optimism, first term, L748",
    statement="For all x: |x|_{sum_i a_i a_i'} <= |x|_{(sum_i a_i)(sum_i a_i)'}; used for the matrices "
    "(A_i phi(s_h, a_h))_i, summed over steps and averaged over trajectories.",
)
def sum_inside_the_norm(rng, trials):
    """The bound is false where the products y_i = a_i'x cancel.

    Its squared sides are sum_i y_i^2 and (sum_i y_i)^2. If all y_i >= 0, it is true for vectors. But the proof
    has an expectation inside, sum_h E|U_h x|^2 against |sum_h E U_h x|^2, where Jensen's inequality goes the
    other way, even for one step and y >= 0.
    """
    return attack_sum_inside_norm(rng, trials)


def attack_sum_inside_norm(rng, trials, hypothesis="", averaged=True):
    """Attack the bound for vectors under a hypothesis (the paper states none), and each repair.

    A repair must hold in the form that the proof uses (`averaged`: matrices, with an expectation inside),
    not only for fixed vectors.
    """
    printed = _worst_share(rng, trials, hypothesis, averaged=False)
    repairs = {repair: _worst_share(rng, trials, repair, averaged) for repair in REPAIRS}
    best = min(repairs, key=lambda repair: repairs[repair].value)
    verdict = decide(printed.value, repairs[best].value, tolerance=TOLERANCE)
    reverse, spectral = _true_inequalities(rng, trials)
    corrections = {
        "holds": "",
        "corrected": f"true under the further hypothesis: {best}",
        "fails": "no repair of the bound survives; true, but other claims, are the reverse with a factor n, "
        "(sum_i a_i'x)^2 <= n sum_i (a_i'x)^2, and |x|^2_{sum E G} <= lambda |x|^2_Gbar with lambda the "
        "largest eigenvalue of Gbar^-1/2 (sum E G) Gbar^-1/2, which |u_k|^2_{Gbar^-1} does not bound",
    }
    a = np.asarray(printed.instance["U"])[:, 0, 0]
    return Finding(
        verdict=verdict,
        worst_case=printed.value,
        meaning="share of |x|^2_{sum a a'} that |x|^2_{(sum a)(sum a)'} leaves uncovered, 1 - right/left; "
        f"the claim needs at most 0 (to {TOLERANCE:g}), and 1 means that no constant helps",
        instance={"a": a.tolist(), "x": printed.instance["x"]},
        rule=f"holds if no share exceeds {TOLERANCE:g}; corrected if one does but some repair "
        f"({', '.join(REPAIRS)}) keeps its share below that in the form that the proof uses; fails otherwise",
        correction=corrections[verdict],
        details={
            "largest uncovered share after each repair, in the proof's form": {
                repair: worst.value for repair, worst in repairs.items()
            },
            "its instance (U: step, outcome, row, column)": {
                repair: worst.instance for repair, worst in repairs.items()
            },
            "products of one sign, fixed vectors": _worst_share(
                rng, trials, "products of one sign", averaged=False
            ).value,
            "share of estimation errors that break the bound, nonnegative features": _how_often(rng, trials),
            "share of lambda that |u_k|^2_{Gbar^-1} leaves uncovered, nonnegative features": {
                "fixed vectors": _conclusion(rng, trials, averaged=False),
                "in the proof's form": _conclusion(rng, trials, averaged=True),
            },
            "largest violation of (sum a'x)^2 <= n sum (a'x)^2": reverse,
            "largest violation of |x|^2_{sum E G} <= lambda |x|^2_Gbar": spectral,
        },
    )


def both_sides(U, probability, x):
    """Both sides of the bound, sum_h E|U_h x|^2 and |sum_h E U_h x|^2.

    U (H, outcomes, p, d), probability (H, outcomes).
    """
    y = U @ x
    return (probability[..., None] * y**2).sum(), ((probability[..., None] * y).sum((0, 1)) ** 2).sum()


def _worst_share(rng, trials, hypothesis, averaged):
    """The largest uncovered share that a search finds.

    It tries edge cases and random features with a random and the worst x, then climbs from the worst of them.
    """
    worst = Worst()

    def see(U, probability, x):
        if hypothesis == "products of one sign":
            U = U * np.where(U @ x < 0, -1.0, 1.0)[..., None]
        left, right = both_sides(U, probability, x)
        factor = len(U) ** 2 if hypothesis == "factor n" else 1.0  # n times the norm is n^2 times its square
        share = 1.0 - factor * right / left if left > 0 else 0.0
        return worst.see(share, {"U": U.tolist(), "probability": probability.tolist(), "x": x.tolist()})

    for a, x in _plain_vectors(hypothesis):
        see(a[:, None, None], np.ones((len(a), 1)), x)
    if averaged:  # one step and one feature, which is 1 with probability 0.001 and otherwise 0
        see(np.array([1.0, 0.0]).reshape(1, 2, 1, 1), np.array([[1e-3, 1 - 1e-3]]), np.ones(1))
    for _ in range(trials):
        U, probability = _draw(rng, averaged, nonnegative=hypothesis == "nonnegative features")
        see(U, probability, rng.standard_normal(U.shape[-1]))
        see(U, probability, _worst_direction(U, probability))
    step = 1.0
    for _ in range(2 * trials):
        U, probability, x = (np.asarray(worst.instance[key]) for key in ("U", "probability", "x"))
        U = U * np.exp(step * rng.standard_normal(U.shape))  # keeps signs, hence nonnegative features
        odds = probability * np.exp(step * rng.standard_normal(probability.shape))
        x = x + step * np.abs(x).max() * rng.standard_normal(len(x))
        found = see(U, odds / odds.sum(1, keepdims=True), x)
        step = min(1.0, 2 * step) if found else max(1e-3, 0.9 * step)
    return worst


def _plain_vectors(hypothesis):
    """Small cases (a, x) that can be checked by hand; in the last one the a_i are one-hot."""
    if hypothesis != "nonnegative features":
        yield np.array([[1.0], [-1.0]]), np.array([1.0])
    yield np.array([[1.0], [1.0]]), np.array([1.0])
    yield np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])


def _draw(rng, averaged, nonnegative):
    """Random U (H, outcomes, p, d) of many shapes and scales, some one-hot, and probabilities (H, outcomes).

    If not `averaged`, there is one outcome and p = 1.
    """
    H, d = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    outcomes, p = (int(rng.integers(1, 4)), int(rng.integers(1, 4))) if averaged else (1, 1)
    U = rng.standard_normal((H, outcomes, p, d)) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.2:
        U = np.eye(d)[rng.integers(d, size=(H, outcomes, p))]
    if nonnegative:
        U = np.abs(U)
    return U, rng.dirichlet(np.full(outcomes, 0.5), size=H)


def _worst_direction(U, probability):
    """The x that minimises right/left: the smallest eigenvector of S'S relative to L = sum_h E[U_h'U_h]."""
    L = _second_moment(U, probability)
    S = np.einsum("ho,hopi->pi", probability, U)
    values, vectors = np.linalg.eigh(L)
    kept = values > 1e-10 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    return root @ np.linalg.eigh(root.T @ S.T @ S @ root)[1][:, 0]


def _how_often(rng, trials):
    """How often the proof's bound fails for x distributed like an estimation error, N(0, Gbar^-1)."""
    broken = 0
    for _ in range(trials):
        U, probability = _draw(rng, averaged=True, nonnegative=True)
        error = np.linalg.solve(_design_root(rng, U).T, rng.standard_normal(U.shape[-1]))
        left, right = both_sides(U, probability, error)
        broken += left > (1 + TOLERANCE) * right
    return broken / trials


def _design_root(rng, U):
    """Cholesky factor of a random Gbar of U's scale: a multiple of the identity plus a few past features."""
    d = U.shape[-1]
    rows = U.reshape(-1, d)
    past = rng.integers(0, 5, size=(3, len(rows))) @ rows
    penalty = rng.uniform(0.1, 1.0) * np.square(rows).mean() + 1e-12
    return np.linalg.cholesky(past.T @ past + penalty * np.eye(d))


def _whitened(root, matrix):
    """Gbar^-1/2 matrix Gbar^-1/2, up to a rotation."""
    return np.linalg.solve(root, np.linalg.solve(root, matrix).T)


def _second_moment(U, probability):
    """sum_h E[U_h'U_h], which is sum_h E G."""
    return np.einsum("ho,hopi,hopj->ij", probability, U, U)


def _conclusion(rng, trials, averaged):
    """Attack the proof's conclusion |x|^2_{sum E G} <= |u_k|^2_{Gbar^-1} |x|^2_Gbar at its worst x.

    Returns the largest uncovered share, 1 - |u_k|^2_{Gbar^-1} / lambda; present and past features are
    nonnegative.
    """
    largest = -np.inf
    for _ in range(trials):
        U, probability = _draw(rng, averaged, nonnegative=True)
        root = _design_root(rng, U)
        u = np.einsum("ho,hopi->pi", probability, U)
        needed = np.linalg.eigvalsh(_whitened(root, _second_moment(U, probability)))[-1]
        largest = max(largest, 1 - np.linalg.eigvalsh(_whitened(root, u.T @ u))[-1] / needed)
    return float(largest)


def _true_inequalities(rng, trials):
    """Largest relative violations of the reverse inequality and of the bound by the largest eigenvalue."""
    reverse = spectral = -np.inf
    for _ in range(trials):
        U, probability = _draw(rng, averaged=True, nonnegative=bool(rng.integers(2)))
        H, d = U.shape[0], U.shape[-1]
        root = _design_root(rng, U)
        values, vectors = np.linalg.eigh(_whitened(root, _second_moment(U, probability)))
        top = np.linalg.solve(root.T, vectors[:, -1])  # where the eigenvalue bound is an equality
        for x in (rng.standard_normal(d), _worst_direction(U, probability), top):
            left, right = both_sides(U, probability, x)
            if left > 0:
                reverse = max(reverse, right / (H * left) - 1.0)
                spectral = max(spectral, left / (values[-1] * np.square(root.T @ x).sum()) - 1.0)
        y = rng.standard_normal(d)
        equal = np.broadcast_to(y, (H, 1, 1, d))  # equal steps, where the reverse inequality is an equality
        left, right = both_sides(equal, np.ones((H, 1)), y)
        reverse = max(reverse, right / (H * left) - 1.0)
    return float(reverse), float(spectral)
