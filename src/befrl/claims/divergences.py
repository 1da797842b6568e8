"""Appendices D.1 to D.3: transportation inequalities, Bregman divergences, and the derivatives of the log-partition."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from scipy.special import xlog1py

from befrl.claims.toolbox.calculus import directional_derivatives, nearest_to
from befrl.claims.toolbox.exact import log1p_bounds
from befrl.claims.toolbox.laws import Model, definition, draw_law, draw_transition, log_sum, moved
from befrl.claims.toolbox.legendre import LogSumExp, ascend
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import listed, search

NOISE = 1e-7  # a difference below this share of its terms counts as rounding
TINY = 1e-100  # stands in for 0 in denominators
THIRD = Fraction(1, 3)
SHARE = "share of the square of (difference of means minus linear term) that the term under the root leaves uncovered"


@claim(
    "C34",
    statement=r"For $Q\ll P$: $\mathbb E_Q[f]-\mathbb E_P[f]\le\sqrt{2\mathbb V_P[f]\,\mathrm{KL}(Q,P)}+"
    r"\frac{2S(f)}{3}\mathrm{KL}(Q,P)$.",
    meaning=SHARE,
    tolerance=1e-6,
    others={r"with $\frac{S(f)}{3}$ in place of $\frac{2S(f)}{3}$": {"linear": THIRD}},
    mutants={
        r"with $\frac{S(f)}{4}$ in place of $\frac{2S(f)}{3}$": {"linear": Fraction(1, 4)},
        "without the linear term": {"linear": 0},
        r"$\sqrt{\mathbb V_P[f]\,\mathrm{KL}(Q,P)}$ in place of the root": {"factor": 1},
        r"with $\mathrm{KL}(P,Q)$": {"swapped": True},
    },
)
def transport_upwards(rng, trials, linear=2 * THIRD, factor=2, swapped=False):
    r"""Bernstein's inequality gives it, even with $\frac13S(f)$ in the linear term, which is sharp.

    Let $g=f-\mathbb E_P[f]\le S$ and $0<\lambda<3/S$. Then $\log\mathbb E_P[e^{\lambda g}]\le \frac{\lambda^2\mathbb
    V_P[f]}{2(1-\lambda S/3)}$. By the variational formula $\lambda\mathbb E_Q[g]\le\mathrm{KL}(Q,P)+ \log\mathbb
    E_P[e^{\lambda g}]$, and the best $\lambda$ gives $\sqrt{2\mathbb V_P[f]\,\mathrm{KL}}+\frac S3\mathrm{KL}$. For
    rare events, $P(f=1)\to0$, no smaller factor than 1/3 will do.

    Attack: Laws P on two to six points, rare points included, and functions f are drawn, then moved uphill. For given P
    and f the worst Q of its mean is a tilt $Q\propto Pe^{\lambda f}$, so a scan of $\lambda$ exhausts Q.
    """
    return _transport(rng, trials, 1, linear=linear, factor=factor, swapped=swapped)


@claim(
    "C35",
    statement=r"For $Q\ll P$: $\mathbb E_P[f]-\mathbb E_Q[f]\le\sqrt{2\mathbb V_P[f]\,\mathrm{KL}(Q,P)}$.",
    meaning=SHARE,
    tolerance=1e-6,
    repairs={
        r"$\mathbb E_P[f]-\mathbb E_Q[f]\le\sqrt{2\mathbb E_P[(f-\min f)^2]\,\mathrm{KL}(Q,P)}$": {"spread": "square"},
        r"with the linear term $\frac{2S(f)}{3}\mathrm{KL}(Q,P)$ of the first line": {"linear": 2 * THIRD},
    },
    others={
        r"$\mathbb E_P[f]-\mathbb E_Q[f]\le S(f)\sqrt{\frac12\mathrm{KL}(Q,P)}$": {"spread": "pinsker"},
        r"with the linear term $\frac{S(f)}{3}\mathrm{KL}(Q,P)$": {"linear": THIRD},
    },
    mutants={
        r"with $\mathbb V_Q[f]$": {"spread": "variance under Q"},
        r"with the linear term $\frac{S(f)}{4}\mathrm{KL}(Q,P)$": {"linear": Fraction(1, 4)},
        r"$\sqrt{1.8\,\mathbb E_P[(f-\min f)^2]\,\mathrm{KL}(Q,P)}$": {"spread": "square", "factor": Fraction(9, 5)},
    },
)
def transport_downwards(rng, trials, spread="variance", factor=2, linear=0):
    r"""It is false: f and -f have the same variance and span, so it is the first line without its linear term.

    Take $P(f=1)=\frac9{10}$, $P(f=0)=\frac1{10}$ and Q uniform. The difference of means is $\frac25$, but $2\mathbb
    V_P[f]\,\mathrm{KL}(Q,P)=\frac9{50}\log\frac53<\frac{4}{25}$. A left tail is Gaussian with the second moment of a
    nonnegative f, not with its variance.

    Correction: For $f\ge0$ and $\lambda\ge0$: $e^{-\lambda f}\le1-\lambda f+\frac12\lambda^2f^2$, so $\log\mathbb
    E_P[e^{-\lambda f}]\le-\lambda\mathbb E_P[f]+\frac12\lambda^2\mathbb E_P[f^2]$. The variational formula with the
    best $\lambda$ gives the root without a linear term; subtract $\min f$ for other f. The bound
    $S(f)\sqrt{2\mathrm{KL}}$ that the paper derives survives, and Pinsker's inequality halves it.

    Attack: As for the first line, with tilts downwards; first the example above, with a rational upper bound of KL.
    """
    return _transport(rng, trials, -1, edges=DOWNWARDS, spread=spread, factor=factor, linear=linear)


DOWNWARDS = [
    {"P": [Fraction(9, 10), Fraction(1, 10)], "Q": [Fraction(1, 2)] * 2, "f": [Fraction(1), Fraction(0)]},
    {
        "P": [Fraction(999, 1000), Fraction(1, 1000)],
        "Q": [Fraction(9991, 10000), Fraction(9, 10000)],
        "f": [Fraction(0), Fraction(1)],
    },
]


def _transport(rng, trials, sign, edges=(), spread="variance", factor=2, linear=0, swapped=False):
    """Attack sign (E_Q f - E_P f) <= sqrt(factor spread KL) + linear span KL."""

    def violation(case):
        law = _tilted(case, sign) if "logits" in case else _stated(case)
        kl = law.reverse if swapped else law.kl
        under_root, excess = factor * law.spreads[spread] * kl, sign * law.difference - linear * law.span * kl
        if "logits" not in case:
            return max(Fraction(0), 1 - under_root / excess**2) if excess > 0 else Fraction(0)
        with np.errstate(over="ignore"):
            share = np.where(excess > 0, 1 - under_root / np.maximum(excess, TINY) ** 2, -1)
        return float(np.clip(share, -1, None).max())

    def draw(rng):
        n = int(rng.integers(2, 7))
        f = rng.random(n) ** rng.choice((1, 5)) * rng.choice((-1, 1))
        return {"logits": rng.standard_normal(n) * 10.0 ** rng.uniform(-1, 0.9), "f": f}

    rare = {"P": [Fraction(999, 1000), Fraction(1, 1000)], "Q": [Fraction(997, 1000), Fraction(3, 1000)]}
    return search(rng, trials, draw, violation, edges=[*edges, rare | {"f": [Fraction(0), Fraction(sign)]}])


def _tilted(case, sign):
    """P, with all Q ~ P exp(sign t f / S) for a range of t > 0: differences, spreads and divergences, each (t,)."""
    f, P = case["f"], np.exp(np.maximum(case["logits"] - case["logits"].max(), -30))
    P = P / P.sum()
    centred, span = f - P @ f, max(np.ptp(f), TINY)
    ratio = sign * np.geomspace(0.03, 300, 48)[:, None] * centred / span
    ratio = ratio - np.log(np.exp(ratio) @ P)[:, None]
    u = np.expm1(ratio)  # Q/P - 1, also where it is small
    difference = u @ (P * centred)
    variances = P @ centred**2, (1 + u) @ (P * centred**2) - difference**2
    return _law(P, f, difference, span, variances, (xlog1py(1 + u, u) - u) @ P, (u - ratio) @ P)


def _stated(case):
    """The same for one rational P and Q, exactly, but for KL, of which these are rational upper bounds."""
    P, Q, f = (np.array(case[key]) for key in ("P", "Q", "f"))
    variances = [law @ f**2 - (law @ f) ** 2 for law in (P, Q)]
    kl, reverse = (sum(a * log1p_bounds(a / b - 1)[1] for a, b in zip(*pair, strict=True)) for pair in ((Q, P), (P, Q)))
    return _law(P, f, Q @ f - P @ f, f.max() - f.min(), variances, kl, reverse)


def _law(P, f, difference, span, variances, kl, reverse):
    """What the transportation inequalities are made of; `reverse` is KL(P, Q)."""
    spreads = {"variance": variances[0], "variance under Q": variances[1]}
    spreads |= {"square": P @ (f - f.min()) ** 2, "pinsker": span**2 / 4}
    return SimpleNamespace(difference=difference, span=span, spreads=spreads, kl=kl, reverse=reverse)


@claim(
    "C36",
    statement=r"$B_F(\theta',\theta)=B^\star_{F,\theta'}(\nabla F(\theta)-\nabla F(\theta'))$ for a Legendre function "
    r"F, where $B^\star_{F,\theta}$ is the convex dual of $B_{F,\theta}(\lambda)"
    r"=F(\theta+\lambda)-F(\theta)-\lambda^\top\nabla F(\theta)$.",
    meaning="largest |dual - B_F| / (1 + B_F), with the supremum of the dual computed by an ascent",
    tolerance=1e-6,
    steps={"the formula holds for convex F that are not strictly convex": {"curvature": 0.0}},
    mutants={
        r"$B_{F,\theta}(\lambda)=B_F(\theta+\lambda,\lambda)$, as the definition reads on its left": {"literal": True},
        r"with $B_F(\theta,\theta')$": {"swapped": True},
        r"with $\nabla F(\theta')-\nabla F(\theta)$": {"sign": -1},
        "for F that are not convex": {"curvature": -1.0},
    },
)
def bregman_duality(rng, trials, curvature=1.0, swapped=False, sign=1, literal=False):
    r"""The supremum is attained where the gradient vanishes, at $\lambda=\theta-\theta'$.

    The dual is $\sup_\lambda\,[\lambda^\top\nabla F(\theta)-F(\theta'+\lambda)+F(\theta')]$. The bracket is concave
    with gradient $\nabla F(\theta)-\nabla F(\theta'+\lambda)$. At $\lambda=\theta-\theta'$ its value is
    $(\theta-\theta')^\top\nabla F(\theta)-F(\theta)+F(\theta')=B_F(\theta',\theta)$. Strict convexity makes the
    maximiser unique, but is not needed. The definition's first half, $B_F(\theta+\lambda,\lambda)$, is a slip for
    $B_F(\theta+\lambda,\theta)$: its second half is the function used.

    Attack: $F(\theta)=\log\sum_j\exp(t_j^\top\theta)+\frac\kappa2\|\theta\|^2$ with random $t_j$ and $\kappa$, in up to
    three dimensions. An ascent from $\lambda=0$ that does not know the maximiser finds the supremum.
    """
    F, theta, other = _draw_potentials(rng, max(40, trials), curvature)
    target = sign * (F.gradient(theta) - F.gradient(other))

    def inside(step):
        return (step * target).sum(-1) - F.bregman(other + step, step if literal else other)

    found = ascend(rng, inside, lambda step: F.newton(other + step, target + F.gradient(other)), np.zeros_like(theta))
    value = F.bregman(theta, other) if swapped else F.bregman(other, theta)
    error = np.abs(inside(found) - value) / (1 + np.abs(value))
    worst = int(error.argmax())
    instance = {"t": F.t[worst], "kappa": F.kappa[worst, 0], "theta": theta[worst], "theta'": other[worst]}
    return Evidence(float(error[worst]), listed(instance), "search", len(error))


def _draw_potentials(rng, n, curvature):
    """A batch of n functions F in up to three dimensions, with a point theta and a point theta' for each."""
    t = rng.standard_normal((n, 5, 3)) * 10.0 ** rng.uniform(-1, 0.3, (n, 1, 1)) * (rng.random((n, 1, 3)) < 0.7)
    return LogSumExp(t, curvature * 10.0 ** rng.uniform(-1, 1, (n, 1))), *rng.standard_normal((2, n, 3))


@claim(
    "C37",
    statement=r"The gradients of $Z^p,Z^r$ are $\mathbb E[\psi]^\top A_i\varphi$ and $\mathbb E[r]\,B^\top "
    r"A_i\varphi$, the Hessians $\varphi^\top A_i^\top\mathbb C[\psi]A_j\varphi$ and "
    r"$\operatorname{Var}(r)\,\varphi^\top A_i^\top BB^\top A_j\varphi$. $\mathrm{KL}(P_\theta,P_{\theta'})"
    r"=B_Z(\theta',\theta)=\frac12(\theta-\theta')^\top\nabla^2Z(\tilde\theta)(\theta-\theta')$ for some "
    r"$\tilde\theta$ in the hypercube $[\theta,\theta']$.",
    meaning="largest relative error against the definition: Cauchy's integral, or the expected log ratio for KL",
    tolerance=1e-6,
    mutants={
        "gradient 1 % too large": {"gradient": 1.01},
        "Hessian halved, as by the factor 1/2 of lem:Reward_Transportation": {"hessian": 0.5},
        r"$\mathrm{KL}=(\theta-\theta')^\top\nabla^2Z(\tilde\theta)(\theta-\theta')$": {"taylor": 1.0},
        r"$\mathrm{KL}(P_\theta,P_{\theta'})=B_Z(\theta,\theta')$": {"swapped": True},
    },
)
def derivatives_and_divergences(rng, trials, gradient=1.0, hessian=1.0, taylor=0.5, swapped=False):
    r"""The derivatives of Z are moments, and KL is the remainder of a Taylor expansion of Z.

    $Z(\theta)=\log\int\exp(T(x)^\top\theta)dx$ has gradient $\mathbb E[T]$ and Hessian $\operatorname{Cov}(T)$, with
    $T_i=\psi^\top A_i\varphi$ or $rB^\top A_i\varphi$. With $f(u)=Z(\theta+u(\theta'-\theta))$: $\mathrm{KL}=\mathbb
    E_\theta\log\frac{p_\theta}{p_{\theta'}}=f(1)-f(0)-f'(0)=\frac12f''(u)$ for some u in (0,1). The point lies on the
    segment, hence in the hypercube. It exists for either order of the arguments, so the order is tested separately. The
    index t in the proof of the gradients is a slip for i.

    Attack: Random transition laws (finite, cosine features, truncated normal) and reward laws of four families, close,
    distant and saturated parameters, $A_i$ of many scales; then a climb. The definitions use no formula for a moment.
    """

    def violation(law):
        kl, terms = _divergence(law), _bregman_terms(law, gradient, swapped)
        size = kl + NOISE * (1 + np.abs(terms).sum())
        errors = abs(terms.sum() - kl) / size, _distance_to_curvature(law, kl, taylor * hessian) / size
        return float(max(*errors, _derivative_error(law, gradient, hessian)))

    return search(rng, max(5, trials // 4), draw_law, violation, edges=[COIN], move=moved)


COIN = {"kind": "finite", "phi": [1.0], "A": [[[1.0]]], "psi": [[0.0], [1.0]], "theta": [0.0], "other": [1.0]}


def _divergence(law, swapped=False):
    """KL(theta, other), or KL(other, theta) if swapped, as the expected log ratio."""
    theta, other = _parameters(law, swapped)
    T, log_weights = definition(law, theta)
    log_p = T @ theta + log_weights - log_sum(T, log_weights, theta)
    log_q = T @ other + log_weights - log_sum(*definition(law, other), other)
    return float(np.exp(log_p) @ (log_p - log_q))


def _parameters(law, swapped=False):
    """theta and other as arrays, in reverse order if swapped."""
    return np.array([law["other"], law["theta"]] if swapped else [law["theta"], law["other"]])


def _bregman_terms(law, gradient, swapped):
    """The three terms of B_Z(other, theta), or of B_Z(theta, other) if swapped, with a factor of the gradient."""
    model, (first, second) = Model(law), _parameters(law, swapped)
    slope = (first - second) @ (gradient * model.gradient(first))
    return np.array([slope, -model.log_partition(first), model.log_partition(second)])


def _distance_to_curvature(law, kl, factor):
    """The distance of KL from the values of factor (theta - other)' Hessian (theta - other) on the segment."""
    model, (theta, other) = Model(law), _parameters(law)
    delta = other - theta
    points = np.linspace(0.0, 1.0, 129)
    return nearest_to(kl, lambda u: factor * model.curvature(theta + u[:, None] * delta, delta), points)[1]


def _derivative_error(law, gradient, hessian):
    """Error of gradient and Hessian against Cauchy's integral, in units of the statistic's size and spread."""
    model, theta = Model(law), np.asarray(law["theta"])
    d, (T, log_weights) = len(theta), definition(law, theta)
    size, spread = np.maximum(np.abs(T).max(0), TINY), np.ptp(T, axis=0)
    unit = np.where(spread > 1e-12 * size, spread, size)
    i, j = np.triu_indices(d, 1)
    basis = np.eye(d) / unit
    first, second = directional_derivatives(T, log_weights, theta, np.concatenate([basis, basis[i] + basis[j]]))
    measured = np.diag(second[:d])
    measured[i, j] = measured[j, i] = (second[d:] - second[i] - second[j]) / 2
    printed = hessian * model.hessian(theta) / np.outer(unit, unit)
    slopes = np.abs(first[:d] * unit - gradient * model.gradient(theta)) / size
    return max(slopes.max(), np.abs(measured - printed).max())


LEAST = {"low": "smallest"}


@claim(
    "C38",
    statement=r"With $\alpha=\inf\lambda_{\max}(\mathbb C^\theta_{s,a}[\psi])$ and $\beta=\sup\lambda_{\max}$ (table "
    r"of notation): $\frac\alpha2\|\theta'-\theta\|^2_{G_{s,a}}\le\mathrm{KL}_{s,a}(\theta,\theta')\le"
    r"\frac\beta2\|\theta'-\theta\|^2_{G_{s,a}}$.",
    meaning="larger excess of the two inequalities, as a share of KL or of the upper bound",
    tolerance=1e-6,
    repairs={r"with $\alpha=\inf\lambda_{\min}(\mathbb C^\theta)$, as in Assumption 1 for unit x": LEAST},
    others={r"the repair for $\mathrm{KL}(\theta',\theta)$": LEAST | {"swapped": True}},
    mutants={
        r"the repair with $\alpha$ in place of $\frac\alpha2$": LEAST | {"left": 1.0},
        r"the repair with $\frac\beta4$ in place of $\frac\beta2$": LEAST | {"right": 0.25},
        r"the repair with $\mathbb A$ in place of $G_{s,a}$ on the left": LEAST | {"trace_norm": True},
    },
)
def divergence_sandwich(rng, trials, left=0.5, right=0.5, low="largest", trace_norm=False, swapped=False):
    r"""The lower bound is false with the table's $\inf\lambda_{\max}$.

    Let $\psi$ be $(0,0)$ or $(1,0)$ and $A_1\varphi=(0,1)$. The law does not depend on $\theta$, so $\mathrm{KL}=0$,
    but $\lambda_{\max}=\frac14$ throughout.

    Correction: $\mathrm{KL}=\int_0^1(1-u)\,v^\top\mathbb C^{\theta_u}v\,du$ with $v=M_{\theta'-\theta}\varphi$, and
    $\|v\|^2=\|\theta'-\theta\|^2_{G_{s,a}}$. Bounds of $\mathbb C$ on the segment suffice, in either order of the
    arguments.

    Attack: Random transition laws of three kinds and a climb of the excess, with the extreme eigenvalues on the
    segment; first the example above, a coin, and a direction that the features do not see.
    """

    def violation(law):
        eigenvalues, (square, trace) = _eigenvalues(law), _square_and_trace(law)
        alpha, beta = eigenvalues[:, 0 if low == "smallest" else -1].min(), eigenvalues[:, -1].max()
        kl, upper = _divergence(law, swapped), right * beta * square
        lower = left * alpha * (trace if trace_norm else square)
        return float(max(lower - kl, kl - upper) / (max(kl, upper) + NOISE))

    edges = [COIN, FLAT, FLAT | {"A": [[[1.0], [0.0]]]}, UNSEEN]
    return search(rng, max(5, trials // 4), draw_transition, violation, edges=edges, move=moved)


FLAT = COIN | {"A": [[[0.0], [1.0]]], "psi": [[0.0, 0.0], [1.0, 0.0]]}
UNSEEN = COIN | {"phi": [1.0, 0.0], "A": [[[1.0, 0.0]], [[0.0, 1.0]]], "theta": [0.0, 0.0], "other": [0.0, 1.0]}


def _eigenvalues(law):
    """The eigenvalues of the covariance of psi, ascending, at 65 points of the segment."""
    model, (theta, other) = Model(law), _parameters(law)
    segment = model.features.natural(theta + np.linspace(0, 1, 65)[:, None] * (other - theta))
    return np.linalg.eigvalsh(model.family.moments(segment)[2][:, 0, 0])


def _square_and_trace(law):
    """Delta' G Delta and Delta' A Delta for the difference Delta of the parameters."""
    delta, A = np.subtract(law["other"], law["theta"]), np.asarray(law["A"])
    return (np.einsum("i,ipq,q->p", delta, A, law["phi"]) ** 2).sum(), np.einsum("i,ipq,jpq,j->", delta, A, A, delta)
