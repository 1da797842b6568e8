"""Appendix F: random Fourier features of the kernel, and how many of them a transition law takes."""

from fractions import Fraction

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr, ndtri

from befrl.claims.toolbox.batches import evidence_of
from befrl.claims.toolbox.chances import LEVEL, lower_limit
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst, search

NODES, WEIGHTS = hermegauss(32)
ZERO = {"psi": np.zeros((2, 1)), "v": np.zeros(1)}  # two states with the same features: P = 1/2


def draw_law(rng, largest=2.0):
    """Random features psi (S, p) and natural parameters v (p,), of many sizes."""
    S, p = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    psi, v = rng.standard_normal((S, p)), rng.standard_normal(p)
    sizes = largest * 10.0 ** rng.uniform(-2, 0, 2)
    psi, v = sizes[0] * psi / np.linalg.norm(psi, axis=1).max(), sizes[1] * v / np.linalg.norm(v)
    return {"psi": np.abs(psi) if rng.random() < 0.5 else psi, "v": v}


def log_factors(psi, v):
    """|psi|^2/2 (S,), |v|^2/2 and -Z, the logarithms of the factors that lead from k(psi, v) to exp(psi'v - Z)."""
    return (psi**2).sum(-1) / 2, v @ v / 2, -np.logaddexp.reduce(psi @ v)


ALL = ("psi", "v", "Z")


@claim(
    "C66",
    statement=r"$P_\theta(s'|s,a)=\mathbb E[f(\psi(s'),w,b)\,f(M_\theta\varphi,w,b)]$, $f=\sqrt2\cos(w^\top x+b)$, "
    r"$w\sim\mathcal N(0,\sigma^{-2}I)$ and b is uniform on $[0,2\pi]$.",
    meaning="largest |right/left - 1| over the next states",
    tolerance=1e-9,
    repairs={
        r"$P_\theta=e^{\|\psi\|^2/2+\|M_\theta\varphi\|^2/2-Z}\,\mathbb E[f(\psi)f(M_\theta\varphi)]$ with "
        r"$\sigma=1$": {"factors": ALL}
    },
    others={
        r"$\mathbb E[f(x)f(y)]=\exp(-\|x-y\|^2/(2\sigma^2))$, here $\sigma=2$": {"target": "kernel", "sigma": 2.0},
        r"$P_\theta=\mathbb E[f f]/\int\mathbb E[f f]$ if all $\|\psi(s')\|$ are equal": {"target": "equal norms"},
    },
    mutants={
        r"repaired, without $e^{\|\psi\|^2/2}$": {"factors": ("v", "Z")},
        r"repaired, with $\sigma=2$": {"factors": ALL, "sigma": 2.0},
        "repaired, without the random phase b": {"factors": ALL, "phases": (0.0,)},
        r"$P_\theta=\mathbb E[f f]/\int\mathbb E[f f]$": {"target": "normalised"},
    },
)
def fourier_law(rng, trials, factors=(), sigma=1.0, phases=(0.0, 0.5, 1.0, 1.5), target="law"):
    r"""The mean is the RBF kernel $\exp(-\|\psi-M_\theta\varphi\|^2/(2\sigma^2))$, not the law.

    $2\cos(u+b)\cos(t+b)=\cos(u-t)+\cos(u+t+2b)$. The second term has mean 0 over b, and $\mathbb E\cos(w^\top
    z)=\exp(-\|z\|^2/(2\sigma^2))$. With $\psi=0$ and two states the mean is 1 for $M_\theta\varphi=0$, but P is 1/2.

    Correction: By C04 $\exp(\psi^\top v)=e^{\|\psi\|^2/2+\|v\|^2/2}\exp(-\|\psi-v\|^2/2)$, so $\sigma=1$, and $e^{-Z}$
    normalises. Where all $\|\psi(s')\|$ are equal, all factors are free of $s'$, and normalising supplies them.

    Attack: The mean is integrated over w by Gauss's rule in the plane of the two points, and over b by the trapezoidal
    rule, exact here. Finite laws are random, with p from 1 to 3; first $\psi=M_\theta\varphi=0$, exactly.
    """

    def violation(case):
        if case is ZERO and target == "law":  # the mean of 2 cos(b)^2 is 1
            return abs(1 / (Fraction(1) if "Z" in factors else Fraction(1, 2)) - 1)
        return _largest_ratio(case["psi"], case["v"], factors, sigma, np.pi * np.array(phases), target)

    return search(rng, trials, draw_law, violation, edges=[ZERO], climb=False)


def _largest_ratio(psi, v, factors, sigma, phases, target):
    """The largest |mean of f(psi) f(v), with these factors, / target - 1| over the states."""
    if target == "equal norms":
        psi = psi / np.maximum(np.linalg.norm(psi, axis=1, keepdims=True), 1e-300)
    mean, logs = _mean_product(psi, v, sigma, phases), dict(zip(ALL, log_factors(psi, v), strict=True))
    mean = mean * np.exp(sum(logs[name] for name in factors))
    if target == "kernel":
        return float(np.abs(mean / np.exp(-((psi - v) ** 2).sum(-1) / (2 * sigma**2)) - 1).max())
    mass = 1.0 if target == "law" else mean.sum()
    return float(np.abs(mean / mass / np.exp(psi @ v + logs["Z"]) - 1).max())


def _mean_product(psi, v, sigma, phases):
    """E[f(psi) f(v)] for every state, (S,): integrals over the two coordinates of w in the plane of psi and v."""
    length = np.linalg.norm(v)
    along = psi @ v / max(length, 1e-300)
    across = np.sqrt(np.maximum((psi**2).sum(-1) - along**2, 0))
    weights = np.outer(WEIGHTS, WEIGHTS) / (2 * np.pi)
    of_v = length / sigma * NODES[:, None, None] + phases
    of_psi = (along[:, None, None] * NODES[:, None] + across[:, None, None] * NODES) / sigma
    products = 2 * np.cos(of_psi[..., None] + phases) * np.cos(of_v)
    return (products.mean(-1) * weights).sum((1, 2))


STEP = 128  # the grid of the products has steps of 1/128
KERNEL, COIN, SCALED = {"target": "kernel"}, {"target": "coin"}, {"target": "factors"}
TEN = {"psi": np.zeros((10, 1)), "v": np.zeros(1)}  # P = 1/10, and the kernel is 1
ERRORS = np.linspace(0.02, 2.0, 60)


@claim(
    "C67",
    statement=r"Since $|f|\le\sqrt2$, by Hoeffding's inequality the mean of N products $f(\psi)f(M_\theta\varphi)$ "
    r"differs from $P_\theta(s'|s,a)$ by less than $\epsilon$ with probability at least $1-2\exp(-N\epsilon^2/4)$.",
    meaning="largest probability of an error of at least epsilon, minus its bound",
    tolerance=1e-6,
    repairs={
        r"for c times the mean, $c=e^{\|\psi\|^2/2+\|M\varphi\|^2/2-Z}$, and $2\exp(-N\epsilon^2/(4c^2))$": SCALED,
        "for the kernel in place of P": KERNEL,
    },
    steps={r"Hoeffding: so for all independent variables in $[-2,2]$": COIN},
    others={
        r"for the kernel, $1-2\exp(-N\epsilon^2/3)$": KERNEL | {"divisor": 3},
        r"Hoeffding with $1-2\exp(-N\epsilon^2/8)$": COIN | {"divisor": 8},
    },
    mutants={
        r"the first repair with $1-2\exp(-N\epsilon^2/4)$": SCALED | {"scaled": False},
        r"for the kernel, $1-2\exp(-N\epsilon^2)$": KERNEL | {"divisor": 1},
        r"Hoeffding with $1-2\exp(-N\epsilon^2/5)$": COIN | {"divisor": 5},
    },
)
def pointwise_rate(rng, trials, target="law", divisor=4, scaled=True):
    r"""The mean tends to the kernel, not to P (C66), and Hoeffding's rate for the range 4 is $N\epsilon^2/8$.

    A fair coin with values $\pm2$, N = 1 and $\epsilon=2$ refutes the printed rate for all variables in $[-2,2]$.

    Correction: The product is $\cos\Delta+\cos U$, $\Delta=w^\top(x-y)$, with U uniform and independent of w. $\mathbb
    Ee^{\lambda\cos U}\le e^{\lambda^2/4}$, and $\mathbb Ee^{\lambda(\cos\Delta-k)}\le e^{\lambda^2/2}$ (range 2):
    together the variance proxy 3/2, and $2\exp(-N\epsilon^2/3)$ for the kernel. The error of P is c times larger.

    Attack: The law of the mean for N up to 32 by N-fold convolution on a grid, for random finite laws and 60 values of
    $\epsilon$; the edge cases are $\psi=M_\theta\varphi=0$ for ten states, and distant points.
    """

    def violation(case):
        centre, c, mass = _product_law(case["psi"], case["v"], target)
        squares = (ERRORS * (1.0 if scaled else c)) ** 2
        return float(max((_tails(mass, centre, N) - 2 * np.exp(-N * squares / divisor)).max() for N in (1, 4, 32)))

    return search(rng, 2 + trials // 16, draw_law, violation, edges=[TEN, _distant(3.0), _distant(6.0)], climb=False)


def _product_law(psi, v, target):
    """The target, the factor c, and the law of the product on the grid, for the state with the largest |psi|."""
    if target == "coin":
        return 0.0, 1.0, _coin()
    half_psi, half_v, minus_Z = log_factors(psi, v)
    i = int(half_psi.argmax())
    distance = np.linalg.norm(psi[i] - v)
    centre = np.exp(psi[i] @ v + minus_Z if target == "law" else -(distance**2) / 2)
    return centre, np.exp(half_psi[i] + half_v + minus_Z), _product(distance)


def _coin():
    """The law of a fair coin with values -2 and 2 on the grid."""
    mass = np.zeros(4 * STEP + 1)
    mass[[0, -1]] = 0.5
    return mass


def _product(distance):
    """The law of f(x) f(y) = cos(w'(x - y)) + cos(U) on the grid of [-2, 2], for points at this distance."""
    share = (np.arange(4096) + 0.5) / 4096
    angles = distance * ndtri(share), 2 * np.pi * share
    places = [np.rint((np.cos(angle) + 1) * STEP).astype(int) for angle in angles]
    return np.convolve(*[np.bincount(place, minlength=2 * STEP + 1) / 4096 for place in places])


def _tails(mass, centre, N):
    """P(|mean of N - centre| >= error) for all ERRORS, up to the steps of the grid."""
    length = (len(mass) - 1) * N + 1
    law = np.fft.irfft(np.fft.rfft(mass, 2 * length) ** N, 2 * length)[:length]
    distance = np.abs(np.arange(length) / (STEP * N) - 2 - centre)
    order = np.argsort(distance)
    inside = np.append(0.0, np.cumsum(law[order]))
    return 1 - inside[np.searchsorted(distance[order], ERRORS - 1e-9)]


@claim(
    "C68",
    statement=r"$\Pr[\sup_{x,y\in\mathcal M}|z(x)^\top z(y)-k(x,y)|\ge\epsilon]\le2^8(\sigma_p\operatorname{diam}"
    r"(\mathcal M)/\epsilon)^2\exp(-\frac{N\epsilon^2}{4(p+2)})$ for the RBF kernel k; z has "
    r"$\cos(w_i^\top x)/\sqrt N$ and $\sin(w_i^\top x)/\sqrt N$, $i\le N$.",
    meaning="lower confidence limit of the counted probability minus its bound",
    steps={
        r"for the paper's own features, $z_i(x)=\sqrt{2/N}\cos(w_i^\top x+b_i)$": {"phase": True},
        r"L1358: for $P_\theta$ in place of k, estimated with its factors (C66)": {"law": True},
    },
    mutants={r"with $2^{-8}$ in place of $2^8$": {"constant": 2.0**-8}, r"with $\exp(-8N\epsilon^2)$": {"rate": 8.0}},
)
def uniform_convergence(rng, trials, phase=False, law=False, constant=2.0**8, rate=None):
    r"""For cosines and sines it is true; with the random phase of the paper's f it is false, and for P too.

    $z(x)^\top z(y)$ is a function of $x-y$. Balls of radius r around $(4\operatorname{diam}/r)^p$ points cover all
    $x-y$. Hoeffding's inequality at the points, and $(2r\sigma_p/\epsilon)^2$ for a slope above $\frac\epsilon{2r}$,
    give $2(4\operatorname{diam}/r)^pe^{-N\epsilon^2/8}+(2r\sigma_p/\epsilon)^2$. The best r makes this at most $2\cdot
    2^{2/3}(8\sigma_p\operatorname{diam}/\epsilon)^2e^{-N\epsilon^2/(4(p+2))}$ if $8\sigma_p\operatorname{diam}\ge
    \epsilon$. Otherwise $1-z^\top z\le\operatorname{diam}^2\frac1{2N}\sum_i\|w_i\|^2$ and the tail of $\chi^2$ do.

    The cited Algorithm 1 has cosines and sines in one version and the phase in another. With the phase $z(x)^\top
    z(x)=1+\frac1N\sum_i\cos(2w_i^\top x+2b_i)$: for one point, diameter 0, the bound is 0 and the probability is not.
    The error of P is that of k times $e^{\|\psi\|^2/2+\|M\varphi\|^2/2-Z}$.

    Attack: Features are drawn, and the largest error over points of a ball is counted, for p up to 3, one point, and
    diameters up to 10; binomial tests with joint error rate 1e-6. For P the states are two ends of a diameter.
    """
    worst, runs = Worst(), 200 + 2 * trials
    cases = [*BALLS, *(_draw_ball(rng) for _ in range(12))]
    for p, diameter, N, epsilon in cases:
        hits = int((_largest_errors(rng, runs, p, diameter, N, phase, law) >= epsilon).sum())
        exponent = N * epsilon**2 * (rate or 1 / (4 * (p + 2)))
        bound = constant * p * (diameter / epsilon) ** 2 * np.exp(-exponent)
        case = {"p": p, "diameter": diameter, "N": N, "epsilon": epsilon, "counted": hits / runs}
        worst.see(lower_limit(hits, runs, LEVEL / len(cases)) - bound, case)
    worst.number *= runs
    return evidence_of(worst, grade="test")


# p, diameter, N and epsilon: one point, the ends of the constants, and a large ball
BALLS = [(1, 0.0, 4, 0.25), (1, 2.0, 1, 1.0), (1, 4.0, 10, 0.5), (2, 1.0, 4, 1.0), (1, 6.0, 600, 0.5)]


def _draw_ball(rng):
    """A random dimension, diameter, number of features and epsilon."""
    return int(rng.integers(1, 4)), 10 ** rng.uniform(-1, 1), int(rng.choice((1, 3, 10, 30))), rng.uniform(0.1, 1.5)


def _largest_errors(rng, runs, p, diameter, N, phase, law, points=12):
    """The largest error of each run over pairs of points in a ball: x and -x, or, for laws, a state and x."""
    w, b = rng.standard_normal((runs, N, p)), rng.uniform(0, 2 * np.pi, (runs, N, 1))
    x = rng.standard_normal((points, p))
    x *= diameter / 2 * np.linspace(0, 1, points)[:, None] / np.linalg.norm(x, axis=1, keepdims=True)
    state = diameter / 2 * np.eye(p)[0]
    y = np.broadcast_to(state, x.shape) if law else -x
    estimate = np.cos(w @ (x - y).T)
    if phase:
        estimate += np.cos(w @ (x + y).T + 2 * b)
    c = np.exp((x**2 + y**2).sum(1) / 2) / (2 * np.cosh(x @ state)) if law else 1.0
    return np.abs(c * (estimate.mean(1) - np.exp(-((x - y) ** 2).sum(1) / 2))).max(1)


CORRECTED = {"power": 2}


@claim(
    "C69",
    statement=r"$N=C\frac p{\epsilon^2}\log\frac{\operatorname{diam}}\epsilon$ features give $\sup|\hat P-P_\theta|\le"
    r"\epsilon$ with probability 1/2: the diameter of $\psi$ and $M_\theta\varphi$ enters only logarithmically.",
    meaning="lower limit of the probability of a larger error for some (s', s, a), by Berry and Esseen, minus 1/2",
    repairs={
        r"$N=\frac{4(p+2)c^2}{\epsilon^2}\log\frac{2^9p\,c^2\operatorname{diam}^2}{\epsilon^2}$ with the largest "
        r"$c=e^{\|\psi\|^2/2+\|M_\theta\varphi\|^2/2-Z}$": CORRECTED
    },
    others={"for the kernel in place of P": {"kernel": True}, r"for P, if all $c\le1$": {"tame": True}},
    mutants={
        r"repaired, with c in place of $c^2$": {"power": 1},
        r"repaired, with $c=e^{\|M_\theta\varphi\|^2/2-Z}$": CORRECTED | {"of_states": False},
    },
)
def diameter_in_the_count(rng, trials, power=None, kernel=False, tame=False, of_states=True, C=1000.0):
    r"""For the kernel it is true (C68). For P the diameter enters by $c^2$, which is like $e^{\operatorname{diam}^2}$.

    By C66 $\hat P=c\hat k$, and N pairs of features have the variance $c^2\frac{(1-k^2)^2}{2N}$. States $\psi=0$ and
    R with $M\varphi=0$ have $c=\frac12e^{R^2/2}$: at R = 4 the count is $10^6$ times larger than $1/\epsilon^2$.

    Correction: C68 with $\epsilon/c$ for $\epsilon$ gives 1/2 for this N, if Z is known (C07). On the event in the text
    $\|M_{\hat\theta}\varphi\|^2$ is of order $\gamma_K/\eta$, or $d\log K$: $c^2$ is a power of K that grows with d.

    Attack: Pairs of features with all factors, the most accurate reading, and C = 1,000; larger R refutes any C. The
    probability of an error at one state is bounded from below for random laws and for R = 4 and 6.
    """

    def violation(case):
        psi, v, epsilon, p = case["psi"], case["v"], case["epsilon"], len(case["v"])
        c, spread = np.exp(sum(log_factors(psi, v))), np.linalg.norm(psi - v, axis=1)
        diameter = max(2 * spread.max(), epsilon * np.e)  # an upper bound, not below the range of the logarithm
        N = C * p / epsilon**2 * np.log(diameter / epsilon)
        if power:
            N = enough(p, epsilon, diameter, c.max() if of_states else np.exp(sum(log_factors(psi, v)[1:])), power)
        failure = _least_failure(1.0 if kernel else c, spread, epsilon, np.ceil(N)).max()
        return float(failure - 0.5) if not tame or c.max() <= 1 else -0.5

    return search(rng, trials, _draw_accuracy, violation, edges=[_distant(4.0), _distant(6.0)], climb=False)


def _draw_accuracy(rng):
    """A random law, and the accuracy epsilon that is wanted."""
    return draw_law(rng, 5.0) | {"epsilon": 10 ** rng.uniform(-2, -0.3)}


def _distant(R):
    """The two states psi = 0 and R, for v = 0 and epsilon = 1/4."""
    return {"psi": np.array([[0.0], [R]]), "v": np.zeros(1), "epsilon": 0.25}


def enough(p, epsilon, diameter, c, power=2, risk=0.5):
    """The number of pairs of features for which C68, with epsilon / c, gives an error with this probability."""
    logarithm = np.log(np.maximum(2**8 * p * (c * diameter / epsilon) ** 2 / risk, 2))
    return 4 * (p + 2) * c**power / epsilon**2 * logarithm


def _least_failure(c, spread, epsilon, N):
    """A lower limit of P(c |mean of N cos(w'(psi - v)) - k| >= epsilon), for every state."""
    deviation = np.maximum((1 - np.exp(-(spread**2))) / np.sqrt(2), 1e-12)
    return 2 * ndtr(-epsilon * np.sqrt(N) / (c * deviation)) - 4 * 0.4748 / (deviation * np.sqrt(N))
