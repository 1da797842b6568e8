"""Sections 2 and 3.2: Assumption 1, the constants of the table of notations, and the other hypotheses of Theorem 1."""

from fractions import Fraction

import numpy as np
from scipy.special import softmax

from befrl.claims.toolbox.curvature import covariance, draw_reward_segment, draw_segment, reward_segment, segment
from befrl.claims.toolbox.laws import REWARDS
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, listed, search

ONE, ZERO, QUARTER = Fraction(1), Fraction(0), Fraction(1, 4)
ALONG_B, FREE = {"constant": "one", "along": True}, {"independent": True}  # readings that others build on
PENALISED = FREE | {"eta": 1}


@claim(
    "C16",
    statement=r"There are positive constants with $\alpha^p\le x^\top\mathbb C_{s,a}^\theta[\psi]x\le\beta^p$ and "
    r"$\alpha^r\le\operatorname{Var}_{s,a}^\theta(r)\,x^\top B^\top Bx\le\beta^r$ for all $x\in\mathbb R^d$.",
    meaning="share of the smallest eigenvalue that the form loses over all allowed x; 1: no positive constant",
    tolerance=1e-9,
    repairs={r"for all $x\in\mathbb R^p$ with $\|x\|=1$": {"vectors": "unit", "dimension": "p"}},
    mutants={
        r"for all $x\in\mathbb R^d$ with $\|x\|=1$": {"vectors": "unit"},
        r"for all $x\in\mathbb R^p$": {"dimension": "p"},
        r"for all $x\ne0$ in $\mathbb R^p$": {"vectors": "nonzero", "dimension": "p"},
    },
)
def well_formed(rng, trials, vectors="all", dimension="d"):
    r"""No model satisfies it: $x=0$ makes both forms 0, and long $x$ make them arbitrarily large.

    Moreover $\mathbb C[\psi]$ is $p\times p$, so that $x\in\mathbb R^d$ does not fit unless $d=p$. In the second line
    $B\in\mathbb R^p$, so that $B^\top B$ is the number $\|B\|^2$; the table of notations has $BB^\top$ instead (C19).

    Correction: For unit vectors of $\mathbb R^p$ the forms range from the smallest to the largest eigenvalue of the
    matrix. These are positive if no component of $\psi$ is a linear combination of the others and a constant.

    Attack: First a fair coin, exactly. Then random covariances of finite laws, and multiples of $I$ for rewards, with
    $d$ and $p$ free; the form is evaluated at eigenvectors, random vectors and, where allowed, at multiples and 0.
    """
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


@claim(
    "C17",
    statement=r"Some reward law with $r\in[0,1]$, hence $\mathbb E[r]\in[0,1]$, satisfies Assumption 1 for all "
    r"$\theta\in\mathbb R^d$: its variance is bounded from below.",
    meaning="1e-6 minus the smallest variance over the parameters as a share of the largest, at the best law tried",
    repairs={r"for all $\theta$ in a compact set": {"reach": 5.0}},
    others={r"some law on $\mathbb R$, with $\mathbb E[r]\in[0,1]$ at the true parameter alone": {"kind": "gaussian"}},
    mutants={
        r"some law on $\mathbb R$, with $\mathbb E_\theta[r]\in[0,1]$ always": {"kind": "gaussian", "always": True}
    },
)
def all_parameters(rng, trials, kind="bounded", reach=1e6, always=False):
    r"""A bounded reward becomes deterministic as its natural parameter grows, so its variance has the infimum 0.

    As $c=B^\top M_\theta\varphi\to\infty$ a law on $[0,1]$ concentrates at the top of its support, whatever the base
    measure, and $c$ takes all real values where some $B^\top A_i\varphi\ne0$. In the same way $\mathbb C[\psi]$
    degenerates for bounded $\psi$, as in tabular MDPs. Demanding $\mathbb E_\theta[r]\in[0,1]$ for all $\theta$
    contradicts $\alpha^r>0$ for every law, since the slope of $\mathbb E_c[r]$ is $\operatorname{Var}_c(r)$. Gaussian
    laws meet the assumption, but the paper's rewards lie in $[0,1]$ and its model has no base measure.

    Correction: On a compact set of parameters the variance is continuous and positive, hence bounded from below. The
    estimates and the perturbed parameters then have to stay in that set, which the paper does not ensure.

    Attack: Bernoulli, truncated-exponential and random discrete laws on $[0,1]$, Gaussian laws on $\mathbb R$;
    $|c|\le10^6$ stands for all parameters and $|c|\le5$ for a compact set. The best law counts.
    """
    half = np.geomspace(1e-2, reach, 60)
    c = np.concatenate([-half[::-1], [0.0], half])
    best = Worst()
    families = ("gaussian", "gaussian, sd 3") if kind == "gaussian" else ("bernoulli", "truncated exponential")
    for trial in range(trials):
        if trial < 2 or kind == "gaussian":
            law = {"kind": families[trial % 2]}
            means, variances = REWARDS[law["kind"]].mean(c), REWARDS[law["kind"]].variance(c)
        else:
            law, means, variances = _discrete_law(rng, c)
        excluded = always and (means.min() < 0 or means.max() > 1)
        best.see(0.0 if excluded else variances.min() / variances.max(), law)
    return Evidence(1e-6 - float(best.value), listed(best.instance), "search", trials)


def _discrete_law(rng, c):
    """A random base measure of a few atoms in [0, 1], and the means and variances at the natural parameters c."""
    atoms = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 1, rng.integers(1, 6)))])
    law = {"atoms": atoms / max(1.0, atoms[-1]), "log weights": rng.normal(0, 2, len(atoms))}
    mass = softmax(np.multiply.outer(c, law["atoms"]) + law["log weights"], axis=-1)
    means = mass @ law["atoms"]
    return law, means, (mass * np.square(law["atoms"] - means[:, None])).sum(-1)


@claim(
    "C18",
    statement=r"With $\alpha^p=\inf_{\theta,s,a}\lambda_{\max}(\mathbb C_{s,a}^\theta[\psi])$: "
    r"$\frac{\alpha^p}2\|\theta'-\theta\|_{G_{s,a}}^2\le\operatorname{KL}_{s,a}(\theta,\theta')$.",
    meaning="share of the larger side by which the inequality fails",
    tolerance=1e-6,
    repairs={r"$\alpha^p=\inf_{\theta,s,a}\lambda_{\min}(\mathbb C_{s,a}^\theta[\psi])$": {"which": "min"}},
    others={
        r"as printed, for $p=1$": {"p": 1},
        r"the upper bound $\frac{\beta^p}2\|\theta'-\theta\|_G^2$ with $\beta^p=\sup\lambda_{\max}$": {"upper": True},
    },
    mutants={
        r"$\alpha^p=2\inf\lambda_{\min}(\mathbb C_{s,a}^\theta[\psi])$": {"which": "min", "factor": 2},
        r"the upper bound with $\beta^p=\sup\lambda_{\min}$": {"which": "min", "upper": True},
    },
)
def smallest_curvature(rng, trials, which="max", factor=1, upper=False, p=None):
    r"""The bound needs the smallest eigenvalue, because the two parameters may differ in any direction.

    With $\delta=M_{\theta'-\theta}\varphi$, $\operatorname{KL}=\frac12\delta^\top\mathbb C\delta$ at some point between
    them, and $\|\theta'-\theta\|_G^2=|\delta|^2$. The curvature is $\lambda_{\max}$ along its own eigenvectors only.
    For $p=1$ the two eigenvalues agree.

    Correction: $\delta^\top\mathbb C\delta\ge\lambda_{\min}(\mathbb C)|\delta|^2$ everywhere on the segment. Where the
    components of $\psi$ are affinely dependent, as all indicators of tabular MDPs are, this makes $\alpha^p=0$.

    Attack: First Gaussian laws with covariance $\operatorname{diag}(1,\frac14)$ and $I$, exactly. Then random finite
    laws, $p\le4$, and a climb; KL from its definition, eigenvalues on the segment, the smallest set of parameters.
    """

    def excess(case):
        spectra, square, KL = segment(case)
        values = [(min if which == "min" else max)(spectrum) for spectrum in spectra]
        bound = factor * (max if upper else min)(values) * square / 2
        small, large = (KL, bound) if upper else (bound, KL)
        return -1.0 if small < 1e-6 else 1 - large / small  # what is below is rounding

    edges = [{"cov": [ONE, c], "delta": delta} for c in (QUARTER, ONE) for delta in ([ONE, ZERO], [ZERO, ONE])]
    return search(rng, trials, lambda rng: draw_segment(rng, p), excess, edges=[] if p == 1 else edges)


@claim(
    "C19",
    statement=r"$\alpha^r=\lambda_{\min}(BB^\top)\inf_{\theta,s,a}\operatorname{Var}_{s,a}^\theta(r)$ is positive, and "
    r"$\frac{\alpha^r}2\|\theta'-\theta\|_{G_{s,a}}^2\le\operatorname{KL}^r_{s,a}(\theta,\theta')$, for every $p$.",
    meaning="1 if the constant is zero, else the share of the left side by which the inequality fails",
    tolerance=1e-6,
    repairs={
        r"$\alpha^r=\inf\operatorname{Var}$ and $G^B=(\varphi^\top A_i^\top BB^\top A_j\varphi)_{ij}$ for $G$": ALONG_B
    },
    others={r"as printed, for $p=1$": {"p": 1}},
    mutants={
        r"$\alpha^r=\|B\|^2\inf\operatorname{Var}$, with $G_{s,a}$": {"constant": "norm"},
        r"$\alpha^r=\|B\|^2\inf\operatorname{Var}$, with $G^B$": {"constant": "norm", "along": True},
        r"$\alpha^r=2\inf\operatorname{Var}$, with $G^B$": ALONG_B | {"factor": 2},
    },
)
def reward_constant(rng, trials, constant="smallest", along=False, factor=1, p=None):
    r"""The matrix $BB^\top$ has rank 1, so that $\lambda_{\min}(BB^\top)=0$ and $\alpha^r=0$ for every $p\ge2$.

    Then $\bar G^r=\frac\eta{\alpha^r}\mathbb A+\sum G$ does not exist. No positive constant helps: a reward depends on
    $\theta$ through $c=B^\top M_\theta\varphi$ alone, so that $\operatorname{KL}^r=0$ where
    $M_{\theta'-\theta}\varphi\perp B$, while $\|\theta'-\theta\|_G=|M_{\theta'-\theta}\varphi|$ is not 0 there.

    Correction: $\operatorname{KL}^r=\frac12\operatorname{Var}\,(c'-c)^2$ at some point between the two parameters, and
    $(c'-c)^2=\|\theta'-\theta\|_{G^B}^2$. The design matrix of the reward part has to be built from $G^B$ as well.

    Attack: First $B=(1,0)$, $M_{\theta'-\theta}\varphi=(0,1)$, and $B=(2,0)$ with $(1,0)$, exactly. Then random $B$ and
    parameters, four reward families; the infimum is taken between the two parameters, its largest possible value.
    """

    def excess(case):
        B, delta, variance, KL = reward_segment(case)
        if constant == "smallest" and np.linalg.eigvalsh(np.outer(B, B).astype(float))[0] < 1e-12 * (B @ B):
            return 1
        square = (B @ delta) ** 2 if along else delta @ delta
        bound = factor * (1 if constant == "one" else B @ B) * variance / 2 * square
        return -1.0 if bound < 1e-6 else 1 - KL / bound  # what is below is rounding

    edges = [{"kind": "unit", "B": [b, ZERO], "delta": [b - 1, 2 - b]} for b in (ONE, 2 * ONE) if p != 1]
    return search(rng, trials, lambda rng: draw_reward_segment(rng, p), excess, edges=edges, climb=False)


@claim(
    "C20",
    statement=r"Assumption 1, for unit $x\in\mathbb R^p$, controls the eigenvalues of both Hessians: "
    r"$\alpha\lambda_i(G_{s,a})\le\lambda_i(\nabla^2Z_{s,a}(\theta))\le\beta\lambda_i(G_{s,a})$ for all $i$.",
    meaning="share of the larger side by which one of the bounds fails, at the worst eigenvalue",
    tolerance=1e-6,
    repairs={
        r"for $Z^p$ so; for $Z^r$ with $\lambda_i(G^B)$ and the extremes of $\operatorname{Var}$": {"along": True}
    },
    steps={r"for $Z^p$": {"only": "p"}, r"for $Z^r$": {"only": "r"}, r"the upper bounds": {"lower": False}},
    mutants={
        r"$\alpha\le\lambda_i(\nabla^2Z)\le\beta$, for $Z^p$": {"only": "p", "relative": False},
        r"for $Z^p$, with $2\alpha$ and $\frac12\beta$": {"only": "p", "slack": 2},
    },
)
def hessian_eigenvalues(rng, trials, along=False, only="", lower=True, relative=True, slack=1):
    r"""It is true for transitions and false for rewards if $p\ge2$.

    With $U=(A_i\varphi)_i$, $\nabla^2Z^p=U^\top\mathbb CU$ and $G=U^\top U$: $\alpha I\le\mathbb C\le\beta I$ gives
    $\alpha G\le\nabla^2Z^p\le\beta G$, and ordered matrices have ordered eigenvalues. These need not lie between
    $\alpha$ and $\beta$: for $d>p$ some are 0, and they scale with the $A_i$. For rewards the assumption bounds
    $\|B\|^2\operatorname{Var}$, but $\nabla^2Z^r$ has rank 1: a second positive eigenvalue of $G$ has no counterpart.

    Correction: $\nabla^2Z^r=\operatorname{Var}\,G^B$ with $G^B=U^\top BB^\top U$: its eigenvalues are those of $G^B$
    times the variance, which lies between its infimum and its supremum.

    Attack: First a fair coin, exactly: $B=(1,0)$, $U=I$ for rewards; $p=1$, $U=(0,1)$ for transitions. Then random
    laws, the Hessian as the covariance of the sufficient statistic, the constants as extremes over two parameters.
    """

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


@claim(
    "C21",
    statement=r"For nonnegative $\psi$, $\varphi$ the step with signs holds: $\|x\|_{\sum_hG_h}\le\|x\|_{uu^\top}$ "
    r"with $u=\sum_h(A_i\varphi_h)_i$, that is $\sum_h|M_x\varphi_h|^2\le|\sum_hM_x\varphi_h|^2$.",
    meaning="share of the left side that the right side leaves uncovered",
    tolerance=1e-9,
    others={
        r"for nonnegative $A_i$ and $x$ too, on a fixed trajectory": {"matrices": True, "x": True},
        r"laws and $G_{s,a}$ are the same with $\psi+c$, $(\varphi^+,\varphi^-)$ and $(A_i,-A_i)$": {"laws": True},
    },
    mutants={"for nonnegative $A_i$ too": {"matrices": True}, "for nonnegative $x$ too": {"x": True}},
)
def nonnegative_features(rng, trials, laws=False, matrices=False, x=False):
    r"""Signs of $\psi$ and $\varphi$ say nothing about those of $M_x\varphi$: $A_i$ and $x=\hat\theta-\theta$ vary.

    No step of the paper cites nonnegativity; the step of C46 is the one where it seems to help. With $A_i\ge0$ and
    $x\ge0$ too it is true on a fixed trajectory, but $x$ is an estimation error, and Jensen's inequality turns it
    around under the expectation of the proof (C46). Nor does it restrict bounded features: $\psi+c$ changes only $Z$,
    and $(\varphi^+,\varphi^-)$ with $(A_i,-A_i)$ leaves $M\varphi$ and $G$ unchanged and doubles $\mathbb A$. But no
    shift makes the paper's example $\psi=(s',|s'|^2)$ on $\mathbb R$ nonnegative.

    Attack: First $\varphi_1=(1,0)$, $\varphi_2=(0,1)$ and $M_x=(1,-1)$, exactly, with nonnegative $A_i$ or nonnegative
    $x$. Then random nonnegative features with random matrices and $x$.
    """

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


@claim(
    "C22",
    statement=r"$Z^p_{s,a}$ and $Z^r_{s,a}$ are strictly convex in $\theta\in\mathbb R^d$ for all $(s,a)$.",
    meaning="1 if some direction has zero curvature relative to the largest (below 1e-10), 0 if none has",
    repairs={r"$\sum_tZ_{s_t,a_t}+\frac\eta2\|\theta\|_{\mathbb A}^2$ is, for linearly independent $A_i$": PENALISED},
    others={r"$Z_{s,a}$ is convex": {"strictly": False}},
    mutants={
        r"the penalised sum is, for all $A_i$": {"eta": 1},
        r"$\sum_tZ_{s_t,a_t}$ is, for linearly independent $A_i$ and two visits": FREE | {"visits": 2},
        r"for linearly independent $A_i$ and $d\le p$": FREE | {"small": True},
    },
)
def strictly_convex(rng, trials, eta=0, independent=False, small=False, strictly=True, visits=1):
    r"""The function depends on $\theta$ only through $M_\theta\varphi$, and for rewards only through one number.

    So it is constant along every $\theta$ with $M_\theta\varphi=0$. Such directions exist for $d>p$, as in tabular
    MDPs, and for rewards whenever $d\ge2$: only $d=1$ is left. Even for $d\le p$ it fails if the components of
    $\psi$ are affinely dependent. The proofs need strict convexity only for the maximiser $\lambda^\star$, where
    convexity suffices: a stationary point of a concave function is a maximiser.

    Correction: $\mathbb A$ is the Gram matrix of the $A_i$, positive definite if and only if they are linearly
    independent. The curvature of the penalised sum is at least $\eta\mathbb A$, which also makes the estimate unique.

    Attack: First exact cases with a direction along which the statistic does not vary: $d>p$, equal $A_i$, and
    indicators as $\psi$. Then the covariance of the sufficient statistic, for random transition laws and rewards.
    """

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
