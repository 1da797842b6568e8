"""Appendix D.4.1: the elliptical lemma, its variants, and its use in the bound of the transition error."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from befrl.claims.toolbox.exact import log1p_bounds, root
from befrl.claims.toolbox.search import search

LARGEST = 1e6  # cap of alpha/eta and of c; also, negative, the score of what is not tried
CONDITION = 1e5  # beyond it, rounding decides
LOG2 = log1p_bounds(Fraction(1))  # below and above


def elliptical_lemma(rng, trials, part="sum", norm="norms", factor=1, before_last=False, dimensions=True, capped=True):
    """C41: Min outside the sum over h; and the determinant step of its proof."""

    def violation(case):
        x = _potentials(case)
        if part != "sum":
            return _excess_of_logarithms(x) if part == "logs" else _excess_of_determinants(x)
        sums = (x.norms if norm == "norms" else x.traces).sum(1)
        left = np.minimum(sums, x.c).sum() if capped else sums.sum()
        steps = x.steps - x.horizon if before_last else x.steps  # n = (k - 1)H at k = T, or N = TH
        right = _constant(x.c) * (x.d if dimensions else 1) * _log_term(x, steps)
        return _uncovered(left, factor * right)

    return _attack(rng, trials, violation, [_scalar([1]), _scalar([1], horizon=2), _scalar([5]), SQUARE])


SINGLE = np.ones((1, 1, 1))
SQUARE = {"A": np.eye(2)[:, :, None], "phi": SINGLE, "imagined": SINGLE, "kappa": 1.0, "c": 1.4}


def _excess_of_determinants(x):
    """The share of the product of the determinants that the ratio of the determinants leaves uncovered."""
    apart = _det(np.eye(x.small.shape[-1], dtype=x.small.dtype) + x.small).prod(1)
    return (1 - _det(x.after) / _det(x.before) / apart).max()


def _excess_of_logarithms(x):
    """The share of min(c, sum of the eigenvalues) that c/log(1 + c) times the sum of logarithms leaves uncovered."""
    logs = np.log1p(np.linalg.eigvalsh(x.small.astype(float))).sum((1, 2))
    return _uncovered(np.minimum(float(x.c), x.traces.astype(float).sum(1)), float(_constant(x.c)) * logs)


def minimum_inside(rng, trials, inside=True, constant=2, factor=1, added="", updated=False, use="", episodes=True):
    """C42: Its use with the min inside the sum over h.

    use       '' the potentials; 'KL' their use, sum_k min(1, sum_h KL); 'roots', sum_k min(1, sum_h sqrt(2 KL));
              'lemma', what the stopped proof adds up to, against the printed bound of the transition error
    constant  of d log(1 + alpha/eta B HK), for the potentials: a number, '1/log2' or 'H/log(1+H)'
    added     '', 'H' (H - 1 times the limit of the number of episodes that double det G) or '1' (this limit once)
    episodes  False: 'roots' without the factor sqrt(H) on the right
    """

    def violation(case):
        x = _potentials(_stepwise(case) if updated else case)
        if use:
            return _uncovered(*_used(case, x, use, inside, factor, episodes))
        H, gamma = len(case["phi"][0]), x.d * _log_term(x, x.steps)
        left = np.minimum(x.norms, 1).sum() if inside else np.minimum(x.norms.sum(1), 1).sum()
        if constant == "H/log(1+H)":
            right = _constant(Fraction(H) if isinstance(x.kappa, Fraction) else H) * gamma
        else:
            right = (1 / LOG2[0] if constant == "1/log2" else constant) * gamma
        if added:
            right = right + (H - 1 if added == "H" else 1) * _limit_of_doublings(x)
        return _uncovered(left, factor * right)

    return _attack(rng, trials, violation, [_scalar([1], horizon=H, kappa=kappa) for H, kappa in EPISODES])


# H and alpha/eta of single episodes: potentials 1, a sum of 1, nearly the largest roots, 100 divergences above 1, and
# nearly the largest share of the printed lemma
EPISODES = ((10, 1), (1, 1), (10, "1/10"), (1, "4/5"), (10, "1/45"), (100, 1), (100, "3/10"), (3, 10**8))


def _limit_of_doublings(x):
    """At most so many episodes more than double det G: 3d/log 2 log(1 + min(d, p) alpha/eta B H/log 2), or above."""
    argument = min(x.d, x.small.shape[-1]) * x.kappa * x.bound * x.horizon
    log2 = LOG2[0] if isinstance(argument, Fraction) else float(LOG2[0])
    return 3 * x.d / log2 * log1p_bounds(argument / log2)[1]


def _used(case, x, use, inside, factor, episodes):
    """Both sides of the bound of the sum of divergences, or of their roots, for the worst estimate in the region.

    Gaussian laws of variance 1: KL_h = |theta - hat|^2_{G_h}/2, and |theta - hat|^2_{Gbar} = 2Q with Q = beta(K, delta)
    = gamma + c/10. The estimate lies in the direction in which the episode has the largest sum of divergences.
    """
    gamma = float(x.d * _log_term(x, x.steps))
    Q, (K, H) = gamma + float(x.c) / 10, case["phi"].shape[:2]
    printed = np.sqrt(2 * K * H * Q * gamma)
    if use == "lemma":
        return H * printed / 2 / np.sqrt(np.log(2)) + (H - 1) * gamma / np.log(2), float(factor) * 2 * H * printed
    half = np.linalg.inv(np.linalg.cholesky(x.before.astype(float)))
    M = half[:, None] @ x.G.astype(float) @ half[:, None].swapaxes(-1, -2)
    v = np.linalg.eigh(M.sum(1))[1][..., -1]
    KL = Q * np.einsum("ti,thij,tj->th", v, M, v).clip(0)
    terms = KL if use == "KL" else np.sqrt(2 * KL)
    left = np.minimum(terms, 1).sum() if inside else np.minimum(terms.sum(1), 1).sum()
    right = 2 * Q * gamma if use == "KL" else printed / np.sqrt(np.log(2) * (1 if episodes else H))
    return left, float(factor) * right


def elliptical_without_minimum(rng, trials, right="printed", factor=1, part="sum", bounded=False):
    """C43: The version without min; `right`: 'printed', 'first' (the first result) or 'counted' (large episodes)."""

    def violation(case):
        x = _potentials(case)
        if part != "sum":
            sizes = {"size": (x.G, _spectral(x.prior)), "largest": (x.small, x.kappa)}
            return _uncovered(_spectral(sizes[part][0]), sizes[part][1] * x.bound)
        if bounded and _spectral(x.small) > 1:
            return 0
        c = x.kappa * x.bound * x.horizon
        if right == "counted":
            limit = x.d * _log_term(x, x.steps) / LOG2[0] + c * _limit_of_doublings(x)
        else:
            limit = _first_result(x, c) if right == "first" else _second_result(x)
        return _uncovered(_each_spectral(x.small).sum(), factor * limit)

    single = [_scalar([1], kappa=kappa) for kappa in (100, 10**6, Fraction(1, 100))]
    return _attack(rng, trials, violation, [*single, _scalar([1], horizon=6, A=Fraction(1, 100))])


def elliptical_unsquared(rng, trials, repaired=False, factor=1, squared=False, imagined=False):
    """C44: The version with unsquared norms."""

    def violation(case):
        x = _potentials(case)
        traces = x.imagined if imagined else x.traces
        sums = (traces if squared else _roots(traces)).sum(1)
        first, second = _by_cauchy(x) if repaired else (_first_result(x, x.c), _second_result(x))
        share = _uncovered(np.minimum(sums, x.c).sum(), factor * first)
        return share if squared else max(share, _uncovered(sums.sum(), factor * second))

    small = [_scalar([1], kappa=Fraction(1, size)) for size in (100, 10**8)]
    stuck = _scalar([0] * 40) | {"imagined": np.full((40, 1, 1), Fraction(1))}
    return _attack(rng, trials, violation, [*small, _scalar([1]), stuck])


def _by_cauchy(x):
    """The two right sides of the repair: with the minimum and without it."""
    constants = x.c**2 / x.horizon, x.kappa * x.bound * x.horizon * x.d
    return [root(float(x.steps * _first_result(x, c))) for c in constants]


def _attack(rng, trials, violation, edges):
    """Search over A (d, p, q), phi (T, H, q), kappa = alpha/eta, c, and the features of imagined trajectories."""

    def draw(rng):
        d, q = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        p = int(rng.integers(-(-d // q), 4))
        T, H = int(rng.integers(1, 6)), int(rng.integers(1, 7))
        A = rng.standard_normal((d, p, q)) * 10.0 ** rng.uniform(-1, 1, (d, 1, 1))
        phi = rng.standard_normal((2, T, H, q)) * rng.choice((1, 2, 5)) ** np.arange(T)[:, None, None]
        kappa, c = 10.0 ** rng.uniform((-3, -1.5), (2, 1.5))
        return {"A": A, "phi": phi[0], "imagined": phi[1], "kappa": float(kappa), "c": float(c)}

    def move(rng, case, step):
        moved = {key: case[key] + step * rng.standard_normal(case[key].shape) for key in ("A", "phi", "imagined")}
        scales = {key: float(min(case[key] * np.exp(step * rng.standard_normal()), LARGEST)) for key in ("kappa", "c")}
        return moved | scales

    def conditioned(case):
        prior = np.einsum("ipq,jpq->ij", case["A"], case["A"])
        return violation(case) if len(prior) == 1 or np.linalg.cond(prior) < CONDITION else -LARGEST

    return search(rng, trials, draw, conditioned, edges=edges, move=move)


def _scalar(features, horizon=1, A=1, kappa=1, c=1):
    """An exact case with d = p = q = 1: one number phi^2 A^2 / A^2 = feature^2 per episode."""
    phi = np.array([[[Fraction(feature)]] * horizon for feature in features])
    return {"A": np.array([[[Fraction(A)]]]), "phi": phi, "imagined": phi, "kappa": Fraction(kappa), "c": Fraction(c)}


def _stepwise(case):
    """The same steps, as episodes of one step each."""
    flat = {key: case[key].reshape(-1, 1, case[key].shape[-1]) for key in ("phi", "imagined")}
    return case | flat


def _potentials(case):
    """The quantities of the lemma for one sequence; exact if the case is."""
    A, phi = case["A"], case["phi"]
    a, b = (np.einsum("ipq,thq->thip", A, features) for features in (phi, case["imagined"]))
    G, prior = a @ a.swapaxes(-1, -2), np.einsum("ipq,jpq->ij", A, A)
    after = prior / case["kappa"] + G.sum(1).cumsum(0)
    before = np.concatenate([prior[None] / case["kappa"], after[:-1]])
    inverse = _inverse(before)[:, None]
    small = a.swapaxes(-1, -2) @ inverse @ a  # (T, H, p, p), with the nonzero eigenvalues of the potentials
    every = np.concatenate([G, b @ b.swapaxes(-1, -2)])
    return SimpleNamespace(
        d=len(prior),
        horizon=phi.shape[1],
        steps=phi.shape[0] * phi.shape[1],
        kappa=case["kappa"],
        c=case["c"],
        G=G,
        prior=prior,
        before=before,
        after=after,
        small=small,
        norms=small[..., 0, 0] if small.shape[-1] == 1 else np.sqrt((small**2).sum((-1, -2))),
        traces=np.trace(small, axis1=-2, axis2=-1),
        imagined=np.trace(b.swapaxes(-1, -2) @ inverse @ b, axis1=-2, axis2=-1),
        bound=_spectral(_inverse(prior) @ every),
    )


def _uncovered(left, right):
    """The largest share of the left sides that the right sides leave uncovered."""
    return (1 - right / left).max() if isinstance(left, np.ndarray) else 1 - right / left if left else 0


def _log_term(x, steps):
    """log(1 + alpha/eta B n), or a rational upper bound."""
    return log1p_bounds(x.kappa * x.bound * steps)[1]


def _constant(c):
    """c / log(1 + c), or a rational upper bound."""
    return c / log1p_bounds(c)[0]


def _roots(x):
    """Square roots of the entries, exact where they are squares of fractions."""
    return np.vectorize(root, otypes=[x.dtype])(x)


def _first_result(x, c):
    """The right side of the lemma's first result, with all steps, or a rational upper bound."""
    return _constant(c) * x.d * _log_term(x, x.steps)


def _second_result(x):
    """The right side of the lemma's second result, or a rational upper bound."""
    square = x.kappa * _spectral(x.prior) ** 2 * x.bound**2
    log2 = LOG2[0] if isinstance(square, Fraction) else float(LOG2[0])
    count = 3 * x.horizon / log2 * log1p_bounds(square / log2)[1]
    return x.d * (2 * _log_term(x, x.steps) + count)


def _inverse(matrices):
    """The inverses, exact for 1 x 1 matrices."""
    return 1 / matrices if matrices.shape[-1] == 1 else np.linalg.inv(matrices)


def _det(matrices):
    """The determinants, exact for 1 x 1 matrices."""
    return matrices[..., 0, 0] if matrices.shape[-1] == 1 else np.linalg.det(matrices)


def _each_spectral(matrices):
    """Spectral norms, exact for 1 x 1 matrices."""
    return abs(matrices[..., 0, 0]) if matrices.shape[-1] == 1 else np.linalg.norm(matrices, 2, axis=(-2, -1))


def _spectral(matrices):
    """The largest spectral norm."""
    return np.max(_each_spectral(matrices))
