"""Appendix F and Section 4, Planning: what an approximate transition law costs, in values, operations and regret."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import expit, ndtr

from befrl.claims.planning import enough
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import search

ROWS = {"size": "rows", "values": "sup", "form": "power"}
TIMES_S = ROWS | {"size": "times S"}


@claim(
    "C70",
    statement=r"If $\sup|\hat P-P|\le\epsilon$ and the spans of all $V_h^\pi$ are at most $dH^{3/2}$, then $\hat "
    r"V_1^\pi-V_1^\pi\le\epsilon dH^{5/2}$.",
    meaning="largest error of the value minus its bound, as a share of H",
    tolerance=1e-9,
    repairs={
        r"$|\hat V_1^\pi-V_1^\pi|\le D((1+\epsilon|S|)^{H-1}-1)$, if $|V_h^\pi|\le D$ for $h\ge2$": TIMES_S,
        r"the same with $\int|\hat P-P|\le\epsilon$ for $\epsilon|S|$": ROWS,
    },
    steps={
        r"$\int(\hat P-P)V\le\epsilon\,\mathbb S(V)$": {"form": "one step", "values": "span"},
        r"$\epsilon HD\frac{1-\epsilon^{H-1}}{1-\epsilon}$ solves the recursion, if $\int|\hat P-P|\le\epsilon$ and "
        r"$|V|\le D$": ROWS | {"form": "geometric"},
    },
    others={r"$\int(\hat P-P)V\le D\int|\hat P-P|$ if $|V|\le D$": ROWS | {"form": "one step"}},
    mutants={
        r"the first repair without $|S|$": ROWS | {"size": "sup"},
        r"the second repair with $\epsilon HD$": ROWS | {"form": "linear"},
        "half the bound of the second repair": ROWS | {"factor": Fraction(1, 2)},
        "the second repair with the span for D": ROWS | {"values": "span"},
    },
)
def error_recursion(rng, trials, size="sup", values="printed", form="linear", factor=1):
    r"""Three steps are false: the integral takes $|S|$, the span does not suffice, and the sum is not geometric.

    $\int|\hat P-P|$ is $\epsilon|S|$ if only the density is $\epsilon$-close. As $\hat P$ is not normalised, it errs on
    constant V too. Ten states, d = 1, $\theta=0$, $\hat P=P+\epsilon$, reward 1 and H = 2: span 0, error $10\epsilon$.
    And $e_h\le\epsilon(D+e_{h+1})+e_{h+1}$ has the solution $D((1+\epsilon)^n-1)$ after n transitions, more than
    $n\epsilon D$. ($\frac{1-\epsilon^n}{1-\epsilon}\le1$ is false for n > 1. $V_H$ takes no transition.)

    Correction: With $e_H=0$ this is $D((1+\epsilon)^{H-1}-1)$, at most $(e-1)\epsilon HD$ if $\epsilon H\le1$: the
    printed order is right for $\int|\hat P-P|\le\epsilon$. Neither signs nor masses of $\hat P$ matter.

    Attack: Random chains with signed errors; first one state, the example, and ten states in a row, exactly.
    """
    reading = size, values, form, factor
    draw, edges = _draw_chain, _exact_chains()
    return search(rng, trials, draw, lambda case: _excess(case, *reading), edges=edges, climb=False)


def _excess(case, size, values, form, factor):
    """The error of the values in the first step minus its bound, as a share of H."""
    P, error, r = (np.asarray(case[key]) for key in ("P", "error", "r"))
    H = 2 if form == "one step" else case["H"]
    V, V_hat = _values(P, r, H), _values(P + error, r, H)
    if values == "printed":
        D = case["d"] * upper_power(H, 3)
    else:
        D = max((abs(v).max() if values == "sup" else v.max() - v.min() for v in V[1:]), default=0)
    e = {"sup": abs(error).max(), "rows": abs(error).sum(1).max(), "times S": abs(error).max() * len(r)}[size]
    forms = {"power": (1 + e) ** (H - 1) - 1, "linear": e * H, "one step": e}
    bound = forms[form] if form in forms else e * H * sum(e**j for j in range(H - 1))
    return (abs(V_hat[0] - V[0]).max() - factor * D * bound) / H


def upper_power(H, n):
    """H^(n/2), rounded up to a fraction."""
    return Fraction(math.isqrt(H**n * 10**6) + 1, 1000)


def _values(P, r, H):
    """V_1, ..., V_H for transitions P (S, S) and rewards r (S,)."""
    V = [r]
    for _ in range(H - 1):
        V.append(r + P @ V[-1])
    return V[::-1]


def _draw_chain(rng):
    """A random chain, rewards and errors of its transitions, with entries of one size or of many."""
    S, H = int(rng.integers(1, 7)), int(rng.integers(1, 11))
    error = 10 ** rng.uniform(-3, 0) * rng.uniform(-1, 1, (S, S)) ** int(rng.choice((1, 3)))
    return {"P": rng.dirichlet(np.ones(S), S), "error": error, "r": rng.uniform(0, 1, S), "H": H, "d": S**2}


def _exact_chains():
    """One state; ten states with equal errors; and ten in a row, of which the ninth has the reward."""
    one, equal = np.array([[Fraction(1)]]), np.full((10, 10), Fraction(1, 10))
    row = np.eye(10, k=1).astype(int) * Fraction(1)
    row[-1, -1] = Fraction(1)
    last = np.array([Fraction(i == 8) for i in range(10)])
    yield {"P": one, "error": one / 10, "r": one[0], "H": 2, "d": 1}
    yield {"P": equal, "error": equal, "r": 10 * equal[0], "H": 2, "d": 1}
    yield {"P": row, "error": row / 2, "r": last, "H": 9, "d": 100}


@claim(
    "C71",
    statement=r"With $N=C\,pH^2K\log(HK)$ features (in the appendix $pH^2K$) planning adds a regret of at most the "
    r"order of $\sqrt{d^3H^3K}$: they suffice without increasing the regret.",
    meaning="lower limit of the expected regret of the planner alone, minus 10 times the order, as a share of HK",
    repairs={
        r"$N=\frac{4(p+2)c^2}{\epsilon^2}\log\frac{2^8p\,c^2\operatorname{diam}^2\sqrt K}{\epsilon^2}$, $\epsilon="
        r"\frac1{|S|H\sqrt K}$, the largest $c=e^{\|\psi\|^2/2+\|M_\theta\varphi\|^2/2-Z}$": {"count": "c", "power": 2}
    },
    others={r"if all $c\le1$": {"largest": 1.0}},
    mutants={
        r"repaired, with c in place of $c^2$": {"count": "c", "power": 1},
        r"$N=c^2pH^2$, free of K": {"count": "free of K"},
        r"if all $c\le10^{12}$": {"largest": 7.0},
    },
)
def features_that_suffice(rng, trials, count="printed", power=2, largest=np.inf, C=1000.0):
    r"""The count leaves out $c^2$, which is exponential in the squares of the features (C69).

    Example, H = 2, d = p = 1: states $\psi=0$ and R, of which R has the reward 1; actions $M\varphi=0$ and v, worth
    $\frac12$ and $\sigma(Rv)$. Each feature errs by about $\frac12e^{R^2/2}$: for $N\ll e^{R^2}$ the planner tosses a
    coin, and loses $K(\sigma(Rv)-\frac12)/2$. The introduction's footnote wants a polynomial of dimensions, H, K.

    Correction: By C68 with risk $1/\sqrt K$ and C70 the planner's values err by $(e-1)D/\sqrt K$ at most, $D\ge|V|$, so
    that the regret is of order $D\sqrt K$, with $D=dH^{3/2}$ in the paper.

    Attack: The example for random R, v and K, with pairs of features, all factors and C = 1,000. The probability of the
    wrong action is bounded from below by the theorem of Berry and Esseen. First R = 9 and $K=10^7$.
    """

    def violation(case):
        R, v, K, H = min(case["R"], largest), min(case["v"], largest), case["K"], 2
        c = np.exp(R**2 / 2 + np.array([0, v**2 / 2 - np.logaddexp(0, R * v) + np.log(2)])) / 2
        N = C * H**2 * K * np.log(H * K) if count == "printed" else c.max() ** 2 * H**2
        if count == "c":
            N = enough(1, 1 / (2 * H * np.sqrt(K)), max(R, v), c.max(), power, 1 / np.sqrt(K))
        gap = expit(R * v) - 0.5
        return float((K * gap * _least_mistake(R, v, c, gap, np.ceil(N)) - 10 * np.sqrt(H**3 * K)) / (H * K))

    return search(rng, trials, _draw_two, violation, edges=[{"R": 9.0, "v": 0.2, "K": 1e7}], climb=False)


def _draw_two(rng):
    """Random R, v and K of the example."""
    return {"R": rng.uniform(0.1, 8), "v": 10 ** rng.uniform(-2, 0.5), "K": 10 ** rng.uniform(2, 9)}


def _least_mistake(R, v, c, gap, N):
    """A lower limit of P(mean of N of c_1 cos(w(R - v)) - c_0 cos(wR) < 0), whose expectation is the gap."""
    k = np.exp(-(np.array([R, R - v]) ** 2) / 2)
    both = np.exp(-(v**2) / 2) + np.exp(-((2 * R - v) ** 2) / 2)
    deviation = np.sqrt((c**2 * (1 + k**4)).sum() / 2 - c[0] * c[1] * both - gap**2)
    return max(0.0, ndtr(-gap * np.sqrt(N) / deviation) - 0.4748 * (c.sum() + gap) / (deviation * np.sqrt(N)))


@claim(
    "C72",
    statement=r"One plan with $N=pH^2K\log(HK)$ features takes $O(NH)=O(pH^3K\log(HK))$ operations.",
    meaning="multiplications of a plan, divided by their bound (100 NH for the print), minus 1",
    repairs={r"$2N(H+p)\,|S||A|$ multiplications, with $|S|$ the nodes of the integrals": {"bound": "NHSA"}},
    others={r"exact backward induction for finite S: $H|S|^2|A|$": {"bound": "exact", "method": "exact"}},
    mutants={
        r"repaired, without $|A|$": {"bound": "NHSA", "without": "A"},
        r"repaired, without $|S|$": {"bound": "NHSA", "without": "S"},
        "repaired, without p": {"bound": "NHSA", "without": "p"},
        r"$N(H+p)\,|S||A|$": {"bound": "NHSA", "factor": 1},
    },
)
def operations_of_a_plan(rng, trials, bound="NH", method="features", factor=2, without=""):
    r"""The count has the length of the products, N, and the steps, H, but not how many products there are.

    At each step all N integrals $\int f_iV_{h+1}$ take the values at all nodes $s'$, and each value is a maximum over
    all actions of a product of length N: $N(|S|+|S||A|)$ multiplications. The features $f_i(\psi)$ and
    $f_i(M_\theta\varphi)$ take p multiplications each. For continuous S and A no finite number is stated; for finite S
    exact induction, $H|S|^2|A|$, is cheaper as soon as $|S|<N$. ($Z_{s,a}$ takes further integrals: C07.)

    Correction: $(H-1)N(|S|+|S||A|)+pN(|S|+|S||A|)\le2N(H+p)|S||A|$.

    Attack: Plans with random features are carried out and the multiplications of their products counted, for random
    $|S|$, $|A|$, p, H and K; a plan counts if its values are those of the same law by sums over S. First 20 states and
    20 actions. The ratio to NH grows like $|S||A|$, which refutes any constant.
    """

    def violation(case):
        N, H = math.ceil(case["p"] * case["H"] ** 2 * case["K"] * math.log(case["H"] * case["K"])), case["H"]
        S, A, p = (int(name != "p") if name == without else case[name] for name in "SAp")
        bounds = {"NH": 100 * N * H, "NHSA": factor * N * (H + p) * S * A, "exact": H * case["S"] * S * A}
        return Fraction(_multiplications(case, N, method), bounds[bound]) - 1

    return search(rng, trials // 8, _draw_sizes, violation, edges=PLANS, climb=False)


PLANS = [{"S": 20, "A": 20, "p": 1, "H": 2, "K": 2}, {"S": 20, "A": 1, "p": 9, "H": 2, "K": 1}]


def _draw_sizes(rng):
    """Random numbers of states and actions, p, H and K."""
    S, A, p, H, K = (int(rng.integers(low, high)) for low, high in ((1, 13), (1, 13), (1, 6), (2, 6), (1, 4)))
    return {"S": S, "A": A, "p": p, "H": H, "K": K}


def _multiplications(case, N, method):
    """The multiplications of a plan with N random features, or with the same law by sums over S."""
    S, A, p, H = (case[name] for name in "SApH")
    rng, counted = np.random.default_rng(S * A), []

    def product(a, b):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return a @ b

    w, psi, v, r = (rng.standard_normal(shape) for shape in ((p, N), (S, p), (S * A, p), (S, A)))
    left, right = (np.cos(product(x, w)) / N for x in (v, psi))
    law, V, check = left @ right.T, r.max(1), r.max(1)
    if method == "exact":
        counted.clear()
    for _ in range(H - 1):
        expected = product(law, V[:, None]) if method == "exact" else product(left, product(right.T, V[:, None]))
        V, check = (r + expected.reshape(S, A)).max(1), (r + (law @ check).reshape(S, A)).max(1)
    if not np.allclose(V, check):
        raise ArithmeticError("the two plans differ")
    return sum(counted)


BOTH = {"form": "both"}


@claim(
    "C73",
    statement=r"A uniform $\epsilon$-approximation of $P_\theta$ costs at most $C\epsilon\,dH^{5/2}K$ extra regret.",
    meaning="regret of one episode, planned with the approximation, minus the bound (C = 10 for the print)",
    tolerance=1e-9,
    repairs={
        r"at most $2KD((1+\epsilon|S|)^{H-1}-1)$, if $|V_h|\le D$ for $h\ge2$": BOTH,
        r"the same with $\int|\hat P-P|\le\epsilon$ for $\epsilon|S|$": BOTH | {"size": "rows"},
    },
    mutants={
        r"the first repair without $|S|$": BOTH | {"size": "sup"},
        "the second repair without the factor 2": BOTH | {"size": "rows", "factor": 1},
    },
)
def regret_of_approximation(rng, trials, form="printed", size="times S", factor=2):
    r"""The bound needs $\int|\hat P-P|\le\epsilon$; a uniform $\epsilon$ gives $\epsilon|S|$ (C70), and d may be 1.

    Example: 100 states, half of them with reward 1, where $\psi=1$, else 0; two actions, $M\varphi=\log\frac73$ and 0;
    d = p = 1 and H = 2. The actions are worth 0.7 and 0.5. If $\hat P=P\mp\frac1{400}$ where $\psi=1$: 0.575 and 0.625.
    The loss is 0.2, and $10\epsilon dH^{5/2}$ is 0.1415. More states refute any other constant.

    Correction: $|\max_a\hat Q-\max_aQ|\le\max_a|\hat Q-Q|$, so C70 holds for the optimal values too: with
    $e=\epsilon|S|$, $|\hat V^\star-V^\star|$ and $|\hat V^{\hat\pi}-V^{\hat\pi}|$ are at most $D((1+e)^{H-1}-1)$. As
    $\hat V^{\hat\pi}=\hat V^\star$, their sum bounds $V^\star-V^{\hat\pi}$. If $eH\le1$, this is at most $3.5\,eHD$.

    Attack: Plans with random laws of the family with d = 1 and signed errors, and the exact values of the greedy
    policies; first the example, in exact arithmetic.
    """

    def violation(case):
        P, error, r, H = *(np.asarray(case[key]) for key in ("P", "error", "r")), case["H"]
        (V, _), (_, policy) = _optimal(P, r, H), _optimal(P + error, r, H)
        largest = abs(error).max()
        bound = 10 * largest * case["d"] * upper_power(H, 5)
        if form == "both":
            e = {"sup": largest, "times S": largest * len(r), "rows": abs(error).sum(-1).max()}[size]
            bound = factor * max((v.max() for v in V[1:]), default=0) * ((1 + e) ** (H - 1) - 1)
        return (V[0] - _followed(P, r, policy)).max() - bound

    return search(rng, trials, _draw_errors, violation, edges=[_hundred_states()], climb=False)


def _optimal(P, r, H):
    """V_1, ..., V_H and the greedy actions (S,) of each step, for r (S, A) and P (S or 1, A, S), not always a law."""
    V, policy = [0 * r[:, 0]], []
    for _ in range(H):
        Q = r + P @ V[0]
        V.insert(0, Q.max(1))
        policy.insert(0, Q.argmax(1))
    return V[:-1], policy


def _followed(P, r, policy):
    """The values of a policy in the first step."""
    V, S = 0 * r[:, 0], np.arange(len(r))
    for actions in reversed(policy):
        V = (r + P @ V)[S, actions]
    return V


def _draw_errors(rng):
    """A random law of the family with d = p = 1, rewards, and errors of its transitions."""
    S, A, H = (int(rng.integers(low, high)) for low, high in ((1, 9), (2, 4), (1, 7)))
    P = np.exp(rng.standard_normal(S) * rng.standard_normal((S, A, 1)) * rng.uniform(0, 3))
    error = 10 ** rng.uniform(-3, 0) * rng.uniform(-1, 1, P.shape) ** int(rng.choice((1, 3)))
    return {"P": P / P.sum(-1, keepdims=True), "error": error, "r": rng.uniform(0, 1, (S, A)), "H": H, "d": 1}


def _hundred_states():
    """The example, in fractions: P (1, 2, 100) does not depend on the state."""
    half = np.repeat([Fraction(1), Fraction(0)], 50)
    P = np.array([half * share + (1 - half) * (1 - share) for share in (Fraction(7, 10), Fraction(1, 2))]) / 50
    error = np.array([-half, half]) / 400
    return {"P": P[None], "error": error[None], "r": np.stack([half, half], 1), "H": 2, "d": 1}


@claim(
    "C74",
    statement=r"Algorithms for linear MDPs on $N=pH^2K\log(HK)$ random Fourier features incur a linear regret.",
    meaning="lower confidence limit of P(regret is less than half that of random play), minus 1/2",
    repairs={r"the bound $\sqrt{N^3H^4K}$ of LSVI-UCB is at least HK and says nothing": {"what": "bound"}},
    others={r"LSVI-UCB with its bonus $NH\sqrt{\log(2NHK)}\,\|z\|_{\Lambda^{-1}}$ does": {"radius": "dimension"}},
    mutants={
        "so do they with one-hot features": {"features": "one-hot"},
        "so do they with 8 random Fourier features": {"features": 8},
        "so do they with a radius twice as large": {"scale": 2.0},
    },
)
def linear_algorithms(rng, trials, what="regret", radius="determinant", features="N", scale=1.0):
    r"""It does not follow: a bound larger than HK is no regret, and the dimension need not enter the algorithm.

    Least squares with a ridge needs only the products $z(x)^\top z(y)$. The confidence radius $1+\frac12\sqrt{2\log
    K+\log\det\Lambda}$ (Abbasi-Yadkori et al., 2011) is valid in every dimension, and $\log\det\Lambda$ grows with the
    effective dimension of the data: for m distinct (s,a) it is at most $m\log(1+K)$, whatever N is. With it value
    iteration is optimistic and has a regret of order $\sqrt K$. LSVI-UCB has the factor N in its bonus, which then
    exceeds H in all K episodes: all values are clipped and tied, so that it plays at random.

    Correction: $\sqrt{N^3H^4K}\ge HK$ for $N\ge K^{1/3}$. So its analysis gives nothing, as the remark should say.

    Attack: H = 2, states $\psi=0$ and 1, of which 1 has the reward, two actions $M\varphi=\pm v$ for v from 1.5 to 3,
    K = 300: value iteration with that radius, and features drawn anew in each run; joint error rate 1e-6.
    """
    runs, K, H = 40 + trials, 300, 2
    N = math.ceil(H**2 * K * math.log(H * K))
    v = rng.uniform(1.5, 3, (runs, 1)) * np.array([-1.0, 1.0])
    gram = np.broadcast_to(np.eye(2), (runs, 2, 2))
    if features != "one-hot":
        w = rng.standard_normal((runs, (N if features == "N" else features) // 2))
        gram = np.cos(w[:, None, None] * (v[:, :, None, None] - v[:, None, :, None])).mean(-1)
    steps = _least_squares(rng, gram, expit(v), K, None if radius == "determinant" else N * H, scale)
    regret = steps.sum(0)
    if what == "bound":
        regret = np.full(runs, math.sqrt(N**3 * H**4 * K))
    low = int((regret < K * np.ptp(expit(v), axis=1) / 4).sum())
    details = {"mean regret of 100 episodes": steps.mean(1).reshape(3, 100).sum(1).tolist()}
    return Evidence(lower_limit(low, runs, LEVEL) - 0.5, {"K": K, "N": N, "H": H}, "test", runs, details=details)


def _least_squares(rng, gram, means, K, factor, scale):
    """The regret (K, runs) of optimistic ridge regression, for features of two actions with these products."""
    runs, rows = len(means), np.arange(len(means))
    inverse, counts, sums = np.linalg.inv(gram + 1e-9 * np.eye(2)), np.zeros((runs, 2)), np.zeros((runs, 2))
    regret = np.zeros((K, runs))
    for k in range(K):
        posterior = np.linalg.inv(inverse + counts[:, :, None] * np.eye(2))
        volume = np.linalg.slogdet(np.eye(2) + counts[:, :, None] * gram)[1]
        bonus = scale * (1 + 0.5 * np.sqrt(2 * np.log(K) + volume))
        if factor:
            bonus = np.full(runs, factor * math.sqrt(math.log(2 * factor * K)))
        width = np.sqrt(np.diagonal(posterior, axis1=1, axis2=2))
        value = np.minimum((posterior @ sums[:, :, None])[..., 0] + bonus[:, None] * width, 2.0)
        action = (value + 1e-9 * rng.random((runs, 2))).argmax(1)
        sums[rows, action] += rng.random(runs) < means[rows, action]
        counts[rows, action] += 1
        regret[k] = means.max(1) - means[rows, action]
    return regret
