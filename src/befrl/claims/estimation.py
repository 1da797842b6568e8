"""Section 4: penalised maximum likelihood, and the value function that is planned with."""

from fractions import Fraction

import numpy as np

from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.calculus import directional_derivatives
from befrl.claims.toolbox.laws import REWARDS, Model, definition, draw_law
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, search
from befrl.model.families.base import Family
from befrl.model.features import Features
from befrl.model.spaces import FiniteSpace
from befrl.numerics import bellman, newton

HALF = Fraction(1, 2)


@claim(
    "C12",
    statement=r"With $\operatorname{pen}(\theta)=\frac12\|\theta\|_{\mathbb A}$ the penalised estimate satisfies the "
    r"equation that the proofs start from: $\sum_t(r_t-\mathbb E_{\hat\theta}[r])B^\top A_i\varphi_t=\eta(\mathbb A"
    r"\hat\theta)_i$.",
    meaning="distance of the two sides at the minimiser, as a share of the larger one",
    tolerance=1e-6,
    repairs={r"$\operatorname{pen}(\theta)=\frac12\|\theta\|_{\mathbb A}^2$": {"power": 2}},
    mutants={
        r"$\operatorname{pen}(\theta)=\|\theta\|_{\mathbb A}^2$": {"power": 2, "factor": 1},
        r"$\operatorname{pen}(\theta)=\frac12\|\theta\|_2^2$": {"power": 2, "euclidean": True},
        r"$\operatorname{pen}(\theta)=\|\theta\|_{\mathbb A}$": {"factor": 1},
    },
)
def penalty(rng, trials, power=1, factor=HALF, euclidean=False):
    r"""The proofs need the gradient $\mathbb A\theta$; the printed penalty has it divided by $2\|\theta\|_{\mathbb A}$.

    The proof of the confidence sets rewrites $S_k$ with $\eta\mathbb A\hat\theta$ and completes the square of
    $\frac\eta2\|\theta\|_{\mathbb A}^2$; neither is possible with the norm. At 0 the norm has no gradient, and 0 is the
    minimiser whenever the score at 0 is at most $\frac\eta2$ in the norm of $\mathbb A^{-1}$. For example, one unit
    Gaussian reward $r\ge0$ has $\hat\theta=\max(r-\frac\eta2,0)$ for $d=1$. The paper also misnames the norm: it is the
    Frobenius norm of $M_\theta$, not its trace norm.

    Correction: $\frac12\|\theta\|_{\mathbb A}^2$ has the gradient $\mathbb A\theta$ everywhere. Times $\eta$ it is the
    negative logarithm of the prior $\mathcal N(0,(\eta\mathbb A)^{-1})$ of the mixture, up to a constant.

    Attack: First Gaussian rewards 3 and 1/2 with $\eta=2$, exactly. Then random rewards of four families, $d\le3$, and
    $\eta$ such that the minimiser is not 0; Newton's method finds it, for the norm along the path of ridge solutions.
    """
    worst, eta = Worst(), 2
    for r in (Fraction(3), HALF):
        estimate = _gaussian_estimate(r, eta, power, factor)
        left, right = r - estimate, eta * estimate
        worst.see(abs(left - right) / max(left, right), {"kind": "gaussian", "r": r, "eta": eta, "estimate": estimate})
    for share, cases in _shares(rng, max(1, trials // 12), power, float(factor), euclidean):
        see_largest(worst, share, cases)
    return evidence_of(worst)


def _gaussian_estimate(r, eta, power, factor=HALF):
    """The estimate from one unit Gaussian reward r >= 0, d = 1, with pen(theta) = factor |theta|^power."""
    return max(r - eta * factor, Fraction(0)) if power == 1 else r / (1 + 2 * eta * factor)


def _shares(rng, n, power, factor, euclidean):
    """For each reward family and d, the distances of the two sides of C12's equation for n random problems."""
    for kind, family in REWARDS.items():
        for d in (1, 2, 3):
            x, roots = rng.standard_normal((n, d + 3, d)), rng.standard_normal((n, d, d)) + 2 * np.eye(d)
            A = roots @ roots.swapaxes(1, 2)
            r = family.quantile((x @ rng.standard_normal((n, d, 1)))[..., 0], rng.uniform(0.01, 0.99, x.shape[:2]))
            score = (x * (r - family.mean(0.0))[..., None]).sum(1)  # at 0
            size = np.sqrt((score * np.linalg.solve(A, score[..., None])[..., 0]).sum(-1))
            eta = size * 10.0 ** rng.uniform(-2, -0.1, n)
            estimate = _minimiser(family, x, r, np.eye(d) + 0 * A if euclidean else A, eta * factor, power)
            left = (x * (r - family.mean((x @ estimate[..., None])[..., 0]))[..., None]).sum(1)
            right = eta[:, None] * (A @ estimate[..., None])[..., 0]
            share = np.linalg.norm(left - right, axis=1) / np.linalg.norm([left, right], axis=-1).max(0)
            yield share, {"kind": [kind] * n, "x": x, "r": r, "eta": eta, "A": A}


def _minimiser(family, x, r, A, eta, power):
    """Minimisers of sum_t [Z(x_t'theta) - r_t x_t'theta] + eta |theta|_A^power, with x (n, m, d), r (n, m).

    For power 1 they lie on the path of the minimisers for w/2 |theta|_A^2, where w |theta|_A = eta: by bisection.
    """

    def ridge(w):
        def evaluate(theta, rows):
            X, c = x[rows], (x[rows] @ theta[..., None])[..., 0]
            Z, mean, variance = family.moments(c)
            pull = w[rows][:, None] * (A[rows] @ theta[..., None])[..., 0]
            value = (Z - r[rows] * c).sum(-1) + (theta * pull).sum(-1) / 2
            hessian = (X * variance[..., None]).swapaxes(1, 2) @ X + w[rows][:, None, None] * A[rows]
            return value, (X * (mean - r[rows])[..., None]).sum(1) + pull, hessian[:, None]

        return newton.minimise(evaluate, np.zeros((len(x), x.shape[2])))[0]

    if power == 2:
        return ridge(2 * eta)
    low, high = np.log(eta) - 7, np.log(eta) + 7
    for _ in range(30):
        middle = (low + high) / 2
        theta = ridge(np.exp(middle))
        above = np.exp(middle) * np.sqrt((theta * (A @ theta[..., None])[..., 0]).sum(-1)) > eta
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return theta


@claim(
    "C13",
    statement=r"The estimates satisfy $\sum_{t,h}(\psi(s')-\mathbb E_{\hat\theta}[\psi])^\top A_i\varphi=\eta\nabla_i"
    r"\operatorname{pen}(\hat\theta)$ and $\sum_{t,h}(r-\mathbb E_{\hat\theta}[r])B^\top A_i\varphi=\eta\nabla_i"
    r"\operatorname{pen}(\hat\theta)$.",
    meaning="largest component of the equation's residual plus the gradient of the objective, as a share of the terms",
    tolerance=1e-6,
    repairs={r"with $\operatorname{pen}(\theta)=\frac12\|\theta\|_{\mathbb A}^2$": {"power": 2}},
    mutants={
        "with this pen, on the other side": {"power": 2, "sign": -1},
        "with this pen, and expectations under the true parameter": {"power": 2, "at": "other"},
        "with this pen, and means over the episodes instead of sums": {"power": 2, "mean": True},
    },
)
def score_equations(rng, trials, power=1, sign=1, at="theta", mean=False):
    r"""They say that the gradient of the objective vanishes, since $\nabla Z_{s,a}$ is the mean of the statistic.

    $-\log P_\theta(s'|s,a)=Z_{s,a}(\theta)-\sum_i\theta_i\psi(s')^\top A_i\varphi$ has the derivative
    $(\mathbb E_\theta[\psi]-\psi(s'))^\top A_i\varphi$, and likewise for rewards. A minimiser over $\mathbb R^d$ is
    stationary where pen is differentiable. The printed pen is not at 0, and 0 is often the minimiser (C12): then there
    is no such equation. In the equation for rewards $r_t$ stands for $r_h^t$.

    Correction: The square is differentiable, and the objective is convex: the equations hold and suffice.

    Attack: First one Gaussian reward 1/2 with $\eta=2$, exactly, with both one-sided derivatives of pen. Then random
    laws of seven families, two visits, the squared penalty: the gradient of the objective at random $\theta$, by
    Cauchy's integral of its definition, is compared with the printed equation. Both must vanish at the same points.
    """
    r, eta = HALF, 2
    estimate = _gaussian_estimate(r, eta, power)
    slopes = (HALF, -HALF) if power == 1 else (estimate, estimate)  # of pen at the estimate, from right and left
    kink = max(abs(r - estimate - eta * slope) for slope in slopes)
    if kink:
        return Evidence(kink, {"kind": "gaussian", "r": str(r), "eta": eta, "estimate": str(estimate)}, number=1)
    return search(rng, trials, _draw_visits, lambda case: _disagreement(case, sign, at, mean), climb=False)


def _draw_visits(rng):
    """A random law visited at its phi and at a multiple of it, which outcomes are seen, and the penalty's eta."""
    law = draw_law(rng)
    trace = np.einsum("ipq,jpq->ij", law["A"], law["A"])
    size = np.abs(definition(law, np.asarray(law["theta"]))[0]).max() / np.abs(trace @ law["theta"]).max()
    phi = rng.uniform(-1, 1) * np.asarray(law["phi"])
    return {"law": law, "phi": phi, "outcomes": rng.random(2), "eta": float(size * 10 ** rng.uniform(-1, 1))}


def _disagreement(case, sign, at, mean):
    """The distance of C13's residual, left minus right side, from minus the gradient of the squared objective."""
    law, eta = case["law"], case["eta"]
    theta, trace = np.asarray(law["theta"]), np.einsum("ipq,jpq->ij", law["A"], law["A"])
    pull = trace @ theta
    left, gradient, scale = 0.0, eta * pull, eta * np.abs(pull).max()
    for visit, u in zip((law, law | {"phi": case["phi"]}), case["outcomes"], strict=True):
        T, log_weights = definition(visit, theta)
        seen, expected = T[int(u * len(T))], Model(visit).gradient(np.asarray(law[at]))
        gradient = gradient + directional_derivatives(T, log_weights, theta, np.eye(len(theta)))[0] - seen
        left = left + (seen - expected) / (2 if mean else 1)
        scale += max(np.abs(seen).max(), np.ptp(T, axis=0).max(), np.abs(expected).max())
    return float(np.abs(left - sign * eta * pull + gradient).max() / scale)


@claim(
    "C14",
    statement=r"For Gaussian next states with known variance the score equations "
    r"have the closed-form solution $\hat\theta=(\sum U^\top U+\eta\mathbb A)^{-1}\sum U^\top\psi(s')$ with "
    r"$U=(A_i\varphi)_i$ and $\psi=s'/\sigma$.",
    meaning="largest residual of the score equations at this solution, as a share of the score's terms",
    tolerance=1e-8,
    repairs={r"with $\operatorname{pen}(\theta)=\frac12\|\theta\|_{\mathbb A}^2$": {"squared": True}},
    mutants={
        r"with this pen, and $\eta I$ in place of $\eta\mathbb A$": {"squared": True, "ridge": False},
        "with this pen, for normal states cut to an interval": {"squared": True, "reach": 2.0},
    },
)
def gaussian_closed_form(rng, trials, squared=False, ridge=True, reach=80.0):
    r"""It is ridge regression: a Gaussian mean is linear in its natural parameter, $\mathbb E_\theta[\psi]=U\theta$.

    With $\psi=s'/\sigma$ and the base measure $\mathcal N(0,\sigma^2I)$, $Z=\frac12|U\theta|^2$. The squared penalty
    gives $\sum U^\top(\psi-U\theta)=\eta\mathbb A\theta$. The printed norm leaves a polynomial of degree $2d$ in
    $\|\theta\|_{\mathbb A}$. The printed model has no base measure (C03), so that the variance is a parameter,
    $\psi=(s',-\frac12s'^2)$ and $\mathbb E[\psi_1]=\theta_1^\top\varphi/\theta_2$. Least squares still solves the
    equations without a penalty; with one, $\theta_2$ is the root of a polynomial of degree $2q+2$.

    Correction: With the square and the base measure the equations are linear, with one solution for independent $A_i$.

    Attack: Random features, matrices and data of many dimensions and scales. The solution is put into the printed
    equations, with $\mathbb E_\theta[\psi]$ by quadrature of the density, not by the formula.
    """

    def residual(case):
        features, psi, eta = Features.dense(case["phi"][None], case["A"]), case["psi"], case["eta"]
        U, trace = features.U[0], features.trace[0]
        shrink = trace if ridge else np.eye(len(trace))
        theta = np.linalg.solve(features.gram.sum((0, 1)) + eta * shrink, np.einsum("tpi,tp->i", U, psi))
        score = np.einsum("tpi,tp->i", U, psi - _gaussian_means(U @ theta, reach))
        pull = eta * trace @ theta / (1.0 if squared else 2 * np.sqrt(theta @ trace @ theta))
        return float(np.abs(score - pull).max() / np.einsum("tpi,tp->i", np.abs(U), np.abs(psi)).max())

    return search(rng, trials, _draw_regression, residual, climb=False)


def _gaussian_means(c, reach):
    """Means of the laws ~ exp(c x - x^2/2) on |x| <= reach, by quadrature."""
    grid = np.linspace(-reach, reach, 641)
    logits = c[..., None] * grid - grid**2 / 2
    mass = np.exp(logits - logits.max(-1, keepdims=True))
    return mass @ grid / mass.sum(-1)


def _draw_regression(rng):
    """Random features, matrices and observed psi of up to eight visits."""
    p, q, d, visits = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 6)), int(rng.integers(1, 9))
    A = rng.standard_normal((min(d, p * q), p, q)) * 10.0 ** rng.uniform(-1, 1)
    psi = 5 * rng.standard_normal((visits, p))
    return {"phi": rng.standard_normal((visits, q)), "A": A, "psi": psi, "eta": 10.0 ** rng.uniform(-1, 1)}


@claim(
    "C15",
    statement=r"$Q_h(s,a)=\mathbb E_{\tilde\theta^r}[r(s,a)]+\langle\phi^p(s,a),\int\mu^p(s')V_{h+1}(s')ds'\rangle$ "
    r"with $\phi^p$, $\mu^p$ of eq. linear_transition, which have the factor $(2\pi)^{-p/2}$.",
    meaning="largest difference of the two sides over h, s, a, as a share of the largest value",
    tolerance=1e-9,
    repairs={r"with $\mu^p(s')=e^{\|\psi(s')\|^2/2}k(\psi(s'),\cdot)$, without $(2\pi)^{-p/2}$": {"constant": False}},
    steps={r"$Q_h$ itself is linear: $Q_h(s,a)=\langle\phi^p(s,a),w_h\rangle$ for some $w_h$": {"affine": False}},
    mutants={
        r"with $V_h$ in place of $V_{h+1}$": {"constant": False, "later": 0},
        r"without $e^{\|\psi\|^2/2}$ in $\mu^p$": {"constant": False, "lift": 0.0},
        r"with the kernel $e^{-\|x-y\|^2}$": {"constant": False, "width": 1.0},
    },
)
def linear_values(rng, trials, constant=True, affine=True, later=1, lift=0.5, width=0.5):
    r"""Since $\langle k(x,\cdot),k(y,\cdot)\rangle=k(x,y)$ and $k(x,x)=1$, there is no room for $(2\pi)^{-p/2}$.

    $e^{|\psi|^2/2+|v|^2/2-Z}k(\psi,v)=e^{\psi^\top v-Z}$ is the density for $v=M\varphi$ (the printed $M^\top\varphi$
    has the wrong shape). With the constant, every expectation of the next value shrinks by $(2\pi)^{-p/2}$. Moreover Q
    is affine in $\phi^p$: pairs with equal $M_{\theta^p}\varphi$ and unequal rewards have one $\phi^p$ and two values.

    Correction: Without the constant $\langle\phi^p,\mu^p\rangle=P$. Inner product and integral commute if
    $\int e^{|\psi|^2/2}|V|ds'$ is finite, as for bounded $\psi$ on a compact space. For Gaussian states,
    $\psi=(s',|s'|^2)$ on $\mathbb R^m$, it is not: the function $\int\mu^pV$ takes the value $\int V(s')ds'$ at 0.

    Attack: Values by backward induction with the package's kernels in random MDPs, against sums of kernel values; first
    one state with reward 1, then two actions with one $\varphi$ and two rewards.
    """

    def gap(case):
        psi, v, R, Q, V = _planned(case)
        if not affine:
            same = (v[:, :, None] == v[:, None]).all(-1)  # actions of one state with the same features
            return float((np.abs(Q[..., :, None] - Q[..., None, :]) * same).max() / np.abs(Q).max())
        density = _kernel_products(psi, v, lift, width) * ((2 * np.pi) ** (-psi.shape[1] / 2) if constant else 1.0)
        right = R + np.einsum("xas,hs->hxa", density, V[later : later + case["H"]])
        return float(np.abs(Q - right).max() / np.abs(Q).max())

    edges = [{"psi": [[0.0]], "v": [[[0.0]] * n], "R": [[1.0, 0.0][:n]], "H": 2} for n in (1, 2)]  # n actions
    return search(rng, trials, _draw_values, gap, edges=edges, climb=False)


def _planned(case):
    """The psi, v and R of an MDP, and its Q and V by backward induction."""
    psi, v, R = (np.asarray(case[key]) for key in ("psi", "v", "R"))
    kernel = Family(FiniteSpace(len(psi)), psi, np.zeros(len(psi))).kernel(v[None])
    Q, V = bellman.backward_induction(R[None], kernel, case["H"])
    return psi, v, R, Q[0], V[0]


def _kernel_products(psi, v, lift, width):
    """exp(lift |psi|^2 + |v|^2/2 - Z - width |v - psi|^2) for psi (S, p) and v (S, A, p) -> (S, A, S)."""
    Z = np.log(np.exp(v @ psi.T).sum(-1))[..., None]
    distance = np.square(v[..., None, :] - psi).sum(-1)
    return np.exp(lift * np.square(psi).sum(-1) + 0.5 * np.square(v).sum(-1)[..., None] - Z - width * distance)


def _draw_values(rng):
    """A random MDP by its psi, the vectors v = M phi of its (s,a), and its rewards."""
    S, A, p = (int(n) for n in rng.integers(1, 5, 3))
    psi, v = rng.standard_normal((S, p)), 10.0 ** rng.uniform(-1, 0.7) * rng.standard_normal((S, A, p))
    return {"psi": psi, "v": v, "R": rng.random((S, A)), "H": int(rng.integers(1, 6))}
