"""Appendix D.4.1: the elliptical lemma, its variants, and its use in the bound of the transition error."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from befrl.claims.toolbox.exact import log1p_bounds, root
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import search

LARGEST = 1e6  # cap of alpha/eta and of c; also, negative, the score of what is not tried
CONDITION = 1e5  # beyond it, rounding decides
ALMOST = Fraction(95, 100)
SHARE = "share of the left side that the right side leaves uncovered, 1 - right/left"
REPAIR = {"shift": 0}


@claim(
    "C41",
    statement=r"$\sum_{t=1}^T\min\{c,\sum_{h=1}^H\|\bar G_n^{-1/2}G_{s_h^t,a_h^t}\bar "
    r"G_n^{-1/2}\|\}\le\frac{c}{\log(1+c)}d\log(1+\alpha\eta^{-1}B_{\varphi,\mathbb A}n)$ with $n=(k-1)H$, on the "
    r"right for the last episode, $k=T$.",
    meaning=SHARE,
    tolerance=1e-6,
    steps={
        r"$\min\{c,\sum_{h,i}\lambda_{h,i}\}\le\frac{c}{\log(1+c)}\sum_{h,i}\log(1+\lambda_{h,i})$": {"part": "logs"},
        r"$\prod_h\det(I+a_h^\top\bar G_n^{-1}a_h)\le\det\bar G_{n+H}/\det\bar G_n$": {"part": "dets"},
    },
    repairs={"with $N=TH$, the number of all steps, on the right": REPAIR},
    others={r"the repair with $\operatorname{tr}(\bar G_n^{-1}G)$ for the norm": REPAIR | {"norm": "traces"}},
    mutants={
        "the repair with 0.95 times the right side": REPAIR | {"factor": ALMOST},
        "the repair without d on the right": REPAIR | {"dimensions": False},
        "the repair without the minimum on the left": REPAIR | {"capped": False},
    },
)
def elliptical_lemma(rng, trials, part="sum", norm="norms", factor=1, shift=1, dimensions=True, capped=True):
    r"""The lemma needs the number of all steps, and a step of its printed proof is false.

    For $T=1$ there is $n=0$, and the printed right side is 0. The printed proof bounds $\sum_h\log\det(I+a_h^\top\bar
    G_n^{-1}a_h)$ by the log of the ratio of the determinants of $\bar G_{n+H}$ and $\bar G_n$. It is at least, not at
    most, this log: with $d=1$, $H=2$ and potentials 1, $2\cdot2>3$.

    Correction: Let $\mu_i$ be the eigenvalues of $\bar G_n^{-1/2}\sum_hG_h\bar G_n^{-1/2}$. A norm is at most a trace,
    so the sum over h is at most $\sum_i\mu_i$. Since $x\log(1+c)\le c\log(1+x)$ on $[0,c]$,
    $\min\{c,\sum_i\mu_i\}\le\frac{c}{\log(1+c)}\log(1+\sum_i\mu_i)\le\frac{c}{\log(1+c)}\sum_i\log(1+\mu_i)$. The last
    sum is the log of the ratio above. The logs telescope to $\log\det(I+\frac\alpha\eta\mathbb A^{-1}G_N)\le
    d\log(1+\frac{\alpha}{\eta d}\operatorname{tr}(\mathbb A^{-1}G_N))$, and $\operatorname{tr}(\mathbb A^{-1}G)\le
    d\|\mathbb A^{-1}G\|$.

    Attack: Random $A_i$, features that grow or not, $\alpha/\eta$ and c, with $B_{\varphi,\mathbb A}$ the largest
    spectral norm among the features used; then a climb. First scalar sequences in exact arithmetic.
    """

    def violation(case):
        x = _potentials(case)
        if part != "sum":
            return _excess_of_logarithms(x) if part == "logs" else _excess_of_determinants(x)
        sums = (x.norms if norm == "norms" else x.traces).sum(1)
        left = np.minimum(sums, x.c).sum() if capped else sums.sum()
        right = _constant(x.c) * (x.d if dimensions else 1) * _log_term(x, x.steps - shift * x.horizon)
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


@claim(
    "C42",
    statement=r"$\sum_{t=1}^K\sum_{h=1}^H\min\{1,\|(\bar G_k^p)^{-1/2}G_{s_h^t,a_h^t}(\bar "
    r"G_k^p)^{-1/2}\|\}\le2d\log(1+\alpha^p\eta^{-1}B_{\varphi,\mathbb A}HK)$ with $k=t$, the minimum inside the sum "
    r"over h.",
    meaning=SHARE,
    tolerance=1e-6,
    repairs={r"with $\frac{H}{\log(1+H)}$ in place of 2": {"growth": "H/log(1+H)"}},
    others={
        "with the minimum outside the sum over h": {"inside": False},
        r"with $\bar G$ updated after every step": {"updated": True},
    },
    mutants={
        r"with $0.95\frac{H}{\log(1+H)}$ in place of 2": {"growth": "H/log(1+H)", "factor": ALMOST},
        r"with $1+\log H$ in place of 2": {"growth": "1+log(H)"},
    },
)
def minimum_inside(rng, trials, growth="", factor=1, inside=True, updated=False):
    r"""It is false: $\bar G_k$ does not change within an episode, so all H potentials of an episode can be 1.

    For $d=1$, one episode and $\frac\alpha\eta\mathbb A^{-1}G=1$ the left side is H and the right side $2\log(1+H)$.
    The lemma has the minimum outside the sum over h, and $\sum_h\min\{1,x_h\}$ is at least, not at most,
    $\min\{1,\sum_hx_h\}$. The sum of the divergences, eq:sum_kl_bound, inherits the gap. It also needs
    $\frac{\beta^p}{\alpha^p}\beta^p(K,\delta)\ge1$.

    Correction: $\sum_h\min\{1,x_h\}\le\min\{H,\sum_hx_h\}$, and the lemma holds with $c=H$. The constant is attained in
    the example, so a factor $H/\log(1+H)$ is lost. With $\bar G$ updated after every step the printed constant is
    right, but the algorithm does not update it.

    Attack: Sequences as for the lemma; first a scalar episode of 10 steps with potentials 1, in exact arithmetic.
    """

    def violation(case):
        x, H = _potentials(_stepwise(case) if updated else case), len(case["phi"][0])
        left = np.minimum(x.norms, 1).sum() if inside else np.minimum(x.norms.sum(1), 1).sum()
        constants = {"": 2, "1+log(H)": 1 + log1p_bounds(Fraction(H - 1))[1], "H/log(1+H)": _constant(Fraction(H))}
        return _uncovered(left, factor * constants[growth] * x.d * _log_term(x, x.steps))

    return _attack(rng, trials, violation, [_scalar([1], horizon=10)])


@claim(
    "C43",
    statement=r"$\sum_{t=1}^T\sum_{h=1}^H\|\bar G_n^{-1/2}G_{s_h^t,a_h^t}\bar G_n^{-1/2}\|"
    r"\le2d\log(1+\alpha\eta^{-1}B_{\varphi,\mathbb A}N)+\frac{3dH}{\log2}\log(1+\frac{\alpha\|\mathbb "
    r"A\|_2^2B_{\varphi,\mathbb A}^2}{\eta\log2})$.",
    meaning=SHARE,
    tolerance=1e-6,
    repairs={
        r"$\frac{c}{\log(1+c)}d\log(1+\alpha\eta^{-1}B_{\varphi,\mathbb A}N)$ on the right, with "
        r"$c=\alpha\eta^{-1}B_{\varphi,\mathbb A}H$": {"repaired": True}
    },
    steps={
        r"$\sup\|G_{s,a}\|_2\le\|\mathbb A\|_2B_{\varphi,\mathbb A}$": {"part": "size"},
        r"$\|\bar G_n^{-1/2}G_{s,a}\bar G_n^{-1/2}\|\le\frac\alpha\eta B_{\varphi,\mathbb A}$": {"part": "largest"},
    },
    mutants={
        "with 0.95 times the repaired right side": {"repaired": True, "factor": ALMOST},
        "printed, if no norm exceeds 1": {"bounded": True},
    },
)
def elliptical_without_minimum(rng, trials, repaired=False, factor=1, part="sum", bounded=False):
    r"""It is false: the proof counts the steps with norms above 1, and then adds 1, not the norm, for each of them.

    With $d=H=T=1$ and $\mathbb A=G=1$ the left side is $\alpha/\eta$ and the right side grows as its logarithm. Nor
    does it hold if all norms are at most 1: multiply all $A_i$ by a small s. Only the second term changes, and it
    vanishes with $\|\mathbb A\|_2$; the first one is too small for long episodes.

    Correction: Since $\bar G_n-\frac\eta\alpha\mathbb A$ is positive semi-definite, $\|\bar G_n^{-1/2}G\bar
    G_n^{-1/2}\|\le\frac\alpha\eta\|\mathbb A^{-1/2}G\mathbb A^{-1/2}\|\le\frac\alpha\eta\|\mathbb A^{-1}G\|$: the last
    two matrices have the same eigenvalues. So the sum over h is at most c, and the first result applies. For $T=1$ and
    equal features it is an equality: no better bound in these constants exists.

    Attack: Sequences as for the lemma; first scalars with large potentials, and with small $A_i$, in exact arithmetic.
    """

    def violation(case):
        x = _potentials(case)
        if part != "sum":
            sizes = {"size": (x.G, _spectral(x.prior)), "largest": (x.small, x.kappa)}
            return _uncovered(_spectral(sizes[part][0]), sizes[part][1] * x.bound)
        if bounded and _spectral(x.small) > 1:
            return 0
        right = _first_result(x, x.kappa * x.bound * x.horizon) if repaired else _second_result(x)
        return _uncovered(_each_spectral(x.small).sum(), factor * right)

    return _attack(rng, trials, violation, [_scalar([1], kappa=100), _scalar([1], horizon=6, A=Fraction(1, 100))])


@claim(
    "C44",
    statement=r"$\sum_{t=1}^T\min\{c,\sum_{h=1}^H\|(A_i\varphi)_i\|_{\bar G^{-1}}\}\le"
    r"\frac{c}{\log(1+c)}d\log(1+\alpha\eta^{-1}B_{\varphi,\mathbb A}N)$, and without the minimum the bound of the "
    r"lemma's second result; $\|a\|^2_{\bar G^{-1}}=\operatorname{tr}(a^\top\bar G^{-1}a)$.",
    meaning="larger share of the two left sides that the right side leaves uncovered, 1 - right/left",
    tolerance=1e-6,
    repairs={
        r"$\sqrt{TH\frac{c'}{\log(1+c')}d\log(1+\alpha\eta^{-1}B_{\varphi,\mathbb A}N)}$ on the right, with "
        r"$c'=c^2/H$; and, without the minimum, with $c'=\alpha\eta^{-1}B_{\varphi,\mathbb A}Hd$": {"repaired": True}
    },
    others={"the first line, with the squares of the norms": {"squared": True}},
    mutants={
        "0.95 times the repaired right side": {"repaired": True, "factor": ALMOST},
        "the repair for imagined trajectories, whose features are not in G": {"repaired": True, "imagined": True},
    },
)
def elliptical_unsquared(rng, trials, repaired=False, factor=1, squared=False, imagined=False):
    r"""It is false: a potential is the square of the norm, so the norm is far above it when both are small.

    With $d=H=T=1$ and potential $\frac1{100}$ the norm is $\frac1{10}$, and the right sides are below 0.015 and 0.09
    for $c=1$. The printed reason, to skip the first bound of the proof, leads to the trace, which is the squared norm.
    The remark is about imagined trajectories, while $\bar G$ grows with the real ones. If they differ, nothing
    telescopes and the left side grows linearly with T. The attack on the printed remark uses one trajectory for both.

    Correction: Let $y_h=\|a_h\|_{\bar G^{-1}}$. Cauchy's inequality gives $\min\{c,\sum_hy_h\}\le\sqrt{H\min\{c^2/H,
    \sum_hy_h^2\}}$ and $\sqrt T$ for the sum over t; the lemma holds for traces, with $c^2/H$ for c. Without
    the minimum, $y_h^2\le\frac\alpha\eta\operatorname{tr}(\mathbb A^{-1}G)\le\frac\alpha\eta dB_{\varphi,\mathbb A}$.

    Attack: Sequences as for the lemma; first scalars in exact arithmetic, one with real features 0 and imagined ones 1.
    """

    def violation(case):
        x = _potentials(case)
        traces = x.imagined if imagined else x.traces
        sums = (traces if squared else _roots(traces)).sum(1)
        first, second = _by_cauchy(x) if repaired else (_first_result(x, x.c), _second_result(x))
        share = _uncovered(np.minimum(sums, x.c).sum(), factor * first)
        return share if squared else max(share, _uncovered(sums.sum(), factor * second))

    stuck = _scalar([0] * 40) | {"imagined": np.full((40, 1, 1), Fraction(1))}
    return _attack(rng, trials, violation, [_scalar([1], kappa=Fraction(1, 100)), _scalar([1]), stuck])


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
    two = log1p_bounds(Fraction(1))[0]
    square = x.kappa * _spectral(x.prior) ** 2 * x.bound**2
    count = 3 * x.horizon / two * log1p_bounds(square / (two if isinstance(square, Fraction) else float(two)))[1]
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
