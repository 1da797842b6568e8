"""Appendices B.1.2 and D.4.2: how often feature norms are large, the bad rounds, and what they cost."""

import functools
import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np

from befrl import instances
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, listed
from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec
from befrl.model import constants
from befrl.model.families.base import FiniteFamily
from befrl.model.features import Features
from befrl.model.instance import Instance
from befrl.model.model import Model
from befrl.model.rewards import gaussian
from befrl.model.spaces import FiniteSpace

LOG2 = Fraction(693147, 1000000)  # a little less than log 2
SHAPES = ((1, 1, 1), (3, 1, 4), (2, 2, 1), (4, 2, 3), (6, 3, 2))  # d, p, q
JUST_ABOVE = 1 + 1e-6
# Edge cases (d, c, f, r): d = p, A_i = c e_i, phi = f, eta/alpha = r, so that a = c f I and bold A = c^2 I.
EDGES = ((1, 1, 1, 1), (1, Fraction(1, 2), 1, 1), (1, 1, Fraction(1, 10), Fraction(1, 100)), (40, 1, 1, 20), (40, Fraction(1, 2), 1, 1))


def _excess(count, d, y, factor=3):
    """The count minus factor d/log 2 log(1 + y/log 2): exact if y is and log(1 + x) <= x suffices to refute."""
    if isinstance(y, Fraction | int) and count > factor * d * y / LOG2**2:
        return count - factor * d * y / LOG2**2
    return count - float(factor) * d / np.log(2) * np.log1p(np.asarray(y, dtype=float) / np.log(2))


def _see(worst, values, cases):
    """Show the largest of an array of values to `worst`, with its case: entry i of every array in `cases`.

    An exact counterexample keeps its place.
    """
    i = int(np.argmax(values))
    if isinstance(worst.value, Fraction) and worst.value > 0:
        worst.number += 1
    else:
        worst.see(float(values[i]), {key: value[i] for key, value in cases.items()})
    worst.number += len(values) - 1


def _evidence(worst, **options):
    return Evidence(worst.value, listed(worst.instance), number=worst.number, **options)


@claim(
    "C45",
    statement=r"If $V_0=\lambda I$, $V_t=V_{t-1}+a_ta_t^\top$ with $a_t\in\mathbb R^{d\times p}$ and $\|a_t\|_2\le L$, then "
    r"$\|a_t\|_{V_{t-1}^{-1}}\ge1$ for at most $\frac{3d}{\log2}\log(1+\frac{L^2}{\lambda\log2})$ of the $t$.",
    meaning="number of large norms minus its bound; for a step of the proof, left side minus right side",
    tolerance=1e-7,
    repairs={
        r"with $\|a_t\|_F\le L$": {"length": "frobenius"},
        r"with $\min(d,p)L^2$ for $L^2$": {"spread": True},
        "with spectral norms throughout": {"norm": "spectral"},
    },
    steps={
        r"$\operatorname{tr}G_n\le d\lambda+|T|L^2$": {"step": "trace"},
        r"$\det G_n=\det V_0\prod_t(1+\|a_t\|^2_{G_{t-1}^{-1}})$": {"step": "determinant"},
        r"the same with $\ge$": {"step": "determinant, one side"},
        r"$\log(1+3xy\log(1+xy))\le\log(1+3x^2y^2)\le3\log(1+xy)$": {"step": "logarithms"},
        r"$z-x\log(1+yz)$ decreases for $z\ge3x\log(1+xy)$": {"step": "decreasing"},
        "it increases there": {"step": "increasing"},
    },
    mutants={
        r"3/4 for 3, with $\|a_t\|_F\le L$": {"length": "frobenius", "factor": Fraction(3, 4)},
        r"no factor d, with $\|a_t\|_F\le L$": {"length": "frobenius", "dimension": False},
        r"norms $\ge1/2$, with $\|a_t\|_F\le L$": {"length": "frobenius", "threshold": 0.5},
        r"V updated after every fifth round only, with $\|a_t\|_F\le L$": {"length": "frobenius", "delay": 5},
    },
)
def large_norms(
    rng, trials, norm="frobenius", length="spectral", spread=False, factor=3, dimension=True, threshold=1.0, delay=1, step=""
):
    r"""The bound is right for vectors; for matrices it needs one norm throughout.

    The proof of L653 has $\|a\|^2_{V^{-1}}=\operatorname{tr}(a^\top V^{-1}a)$, while $\|a_t\|_2$ is the spectral norm, as in
    L636. Then $\operatorname{tr}(a_ta_t^\top)\le L^2$ fails for $p\ge2$. With $a_t=LI$, $d=p$, norms are large as long as
    $dL^2\ge\lambda+(t-1)L^2$: about $d/2$ times for $\lambda=dL^2/2$, where the bound is about 12, for all d. Two slips do
    no harm: the determinant has $\ge$, since $\det(I+M)\ge1+\operatorname{tr}M$, and $z-x\log(1+yz)$ increases where the
    proof needs it: its slope is $1-xy/(1+yz)$. An index beyond n ($t\in\mathbb N^*$) has no $a_t$.

    Correction: With $\|a_t\|_F\le L$ every line of the proof is true: $2^{|T|}\lambda^d\le\det G_n\le(\lambda+|T|L^2/d)^d$, so
    $z=|T|$ has $f(z)=z-x\log(1+yz)\le0$, and f is convex with $f(0)=0$ and $f(3x\log(1+xy))\ge0$. Spectral norms throughout
    reduce to vectors: some unit v has $\|a_tv\|_{V_{t-1}^{-1}}\ge1$, and $a_ta_t^\top\succeq a_tv(a_tv)^\top$.

    Attack: Games of many shapes and $L^2/\lambda$ from 0.01 to 300, in which an adversary keeps norms just large. Half of
    them use as few of the weakest eigenvectors of V as $L$ allows, which grows the determinant least; half use random
    matrices. First $a_t=I$, $d=p=40$, $\lambda=20$ in exact arithmetic.
    """
    worst = Worst()
    for d, c, f, r in EDGES if not step and delay == 1 and threshold == 1.0 else ():
        cap = Fraction(c * f) ** 2 * (d if length == "frobenius" or spread else 1)
        count = _repeated(d if norm == "frobenius" else 1, f, r)
        case = {"d = p": d, "every a_t / I": c * f, "lambda": r * Fraction(c) ** 2, "count": count}
        worst.see(_excess(count, d if dimension else 1, cap / (r * Fraction(c) ** 2), factor), case)
    for d, p, _ in SHAPES:
        y = 10.0 ** rng.uniform(-2, 2.5, 6 + trials // 3)
        y[:6] = np.repeat([1.0, 4.0, 300.0], 2) * JUST_ABOVE
        game = _game(rng, y, d, p, norm, length, threshold, delay)
        x_y = y / np.log(2)
        slope = 1 - x_y / (1 + 3 * x_y * np.log1p(x_y))
        sides = {
            "": _excess(game["count"], d if dimension else 1, y * min(d, p) if spread else y, factor),
            "trace": (game["trace"] - d - game["count"] * y) / game["trace"],
            "determinant": abs(game["log det"] - game["potential"]),
            "determinant, one side": game["potential"] - game["log det"],
            "logarithms": np.diff([3 * np.log1p(x_y), np.log1p(3 * x_y**2), np.log1p(3 * x_y * np.log1p(x_y))], axis=0).max(0),
            "decreasing": slope,
            "increasing": -slope,
        }
        size = np.full(len(y), d)
        _see(worst, sides[step], {"d": size, "p": np.full(len(y), p), "L^2/lambda": y, "count": game["count"]})
    return _evidence(worst)


def _repeated(weight, f, r):
    """How many t = 0, 1, ... have weight f^2/(r + t f^2) >= 1: the same a = c f I in every round, one per episode."""
    return max(0, (weight * f * f - r) // (f * f) + 1)


def _game(rng, y, d, p, norm, length, threshold, delay, rounds=70):
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


@claim(
    "C45b",
    statement=r"$|T|\le C_d=\frac{3d}{\log2}\log(1+\frac{\alpha\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2}{\eta\log2})$ for the bad "
    r"rounds T, whatever the scale of the $A_i$ and of $\varphi$.",
    meaning="number of bad rounds minus its bound; for the step, 1 - right/left",
    tolerance=1e-7,
    repairs={
        r"with $\min(d,p)B_{\varphi,\mathbb A}$ for $\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2$": {"argument": "trace"},
        r"with $\|\mathbb A\|_2\min(d,p)B_{\varphi,\mathbb A}/\lambda_{\min}(\mathbb A)$ for it": {"argument": "condition"},
    },
    steps={r"$\|G_{s,a}\|_2\le\|\mathbb A\|_2B_{\varphi,\mathbb A}$": {"argument": "norm of G"}},
    others={r"for $p=1$, with $B_{\varphi,\mathbb A}$ for it": {"argument": "B", "vectors": True}},
    mutants={
        r"with $B_{\varphi,\mathbb A}$ for it, for all p": {"argument": "B"},
        r"with $\|\mathbb A\|_2B_{\varphi,\mathbb A}$ for it": {"argument": "A B"},
        r"with $\min(d,p)B_{\varphi,\mathbb A}^2$ for it": {"argument": "B^2"},
        r"3/4 for 3, with $\min(d,p)B_{\varphi,\mathbb A}$": {"argument": "trace", "factor": Fraction(3, 4)},
    },
)
def printed_constant(rng, trials, argument="printed", factor=3, vectors=False):
    r"""$C_d$ depends on the scale of the $A_i$, and bad rounds do not.

    $A_i\to cA_i$, $\theta\to\theta/c$ changes no law, no variance and no norm $\|a\|_{\bar G^{-1}}$, but multiplies
    $\|\mathbb A\|_2^2$ by $c^4$. So $C_d\to0$ as $c\to0$, while the first round stays bad: $d=p=1$, $A_1=1/2$, $\varphi=1$,
    $\eta=\alpha$. Three faults: the lemma needs $V_0=\lambda I$ but $\bar G_0=\frac\eta\alpha\mathbb A$; its $L^2$ bounds
    $\|a\|^2$, not $\|aa^\top\|_2^2$, so that B must not be squared (scale $\varphi$ to see it); and traces need $\min(d,p)$.
    Here $H=1$, where real and imagined trajectories agree; C45c has $H>1$.

    Correction: Apply C45 to $\mathbb A^{-1/2}a$: then $V_0=\frac\eta\alpha I$, norms are the same, and
    $\|\mathbb A^{-1/2}a\|_F^2=\operatorname{tr}(\mathbb A^{-1}G)\le\min(d,p)\|\mathbb A^{-1}G\|$.

    Attack: Random features of many shapes and scales. In each round the adversary plays the bad (s,a) of the smallest norm,
    until none is bad. First rescaled $A_i$, rescaled $\varphi$, and $a=I$ with $d=p=40$, in exact arithmetic.
    """

    def violation(count, d, p, norm_A, B, least, norm_G, r):
        rank = min(d, p)
        y = {
            "printed": norm_A**2 * B**2,
            "A B": norm_A * B,
            "trace": rank * B,
            "B": B,
            "B^2": rank * B**2,
            "condition": rank * B * norm_A / least,
        }
        return 1 - norm_A * B / norm_G if argument == "norm of G" else _excess(count, d, y[argument] / r, factor)

    worst = Worst()
    for d, c, f, r in EDGES:
        if d == 1 or not vectors:
            count, square = _repeated(d, f, r), Fraction(c) ** 2
            case = {"d = p": d, "A_i": f"{c} e_i", "phi": f, "eta/alpha": r, "bad rounds": count}
            worst.see(violation(count, d, d, square, Fraction(f) ** 2, square, square * f**2, r), case)
    for shape in SHAPES[:2] if vectors else SHAPES:
        designs = _designs(rng, 4 + trials // 3, *shape)
        r, A, G = designs["ratio"], designs["A"], designs["G"]
        count = _bad_rounds(r[:, None, None] * A, designs["a"], G)
        values = np.linalg.eigvalsh(A)
        largest = np.linalg.norm(G, 2, axis=(2, 3)).max(1)
        over = violation(count, *shape[:2], values[:, -1], designs["B"], values[:, 0], largest, r)
        _see(worst, over, {"a": designs["a"], "A": A, "eta/alpha": r, "bad rounds": count})
    return _evidence(worst)


def _designs(rng, n, d, p, q, arms=8):
    """n random designs: the matrices a (n, arms, d, p), G = aa', bold A, B and eta/alpha, past visits and Gbar."""
    A_i = rng.standard_normal((n, d, p, q)) * 10.0 ** rng.uniform(-1, 1, (n, d, 1, 1)) * 10.0 ** rng.uniform(-2, 2, (n, 1, 1, 1))
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


def _bad_rounds(Gbar, a, G, rounds=150):
    """How many rounds can be bad if an adversary plays the arm of the smallest norm >= 1 as long as there is one."""
    rows, count = np.arange(len(a)), np.zeros(len(a), int)
    for _ in range(rounds):
        norms = _norms(a, Gbar)
        bad = norms >= 1.0
        playing = bad.any(1)
        if not playing.any():
            break
        chosen = np.where(bad, norms, np.inf).argmin(1)
        Gbar = Gbar + playing[:, None, None] * G[rows, chosen]
        count += playing
    return count


def _norms(a, Gbar):
    """tr(a' Gbar^-1 a) for all arms, (n, arms)."""
    return (a * np.linalg.solve(Gbar[:, None], a)).sum((2, 3))


@claim(
    "C45c",
    statement=r"The bad rounds $\{k:\exists h,\ \|a(s_h,a_h)\|_{\bar G_k^{-1}}\ge1\}$ number $O(d)$, whatever H and K: of the played "
    r"$s_h^k$ (L382) and of imagined $\tilde s_h\sim\hat\theta^p_k$ (L633, with $\bar G^r$). Constant: that of C45b, corrected.",
    meaning="number of bad rounds, expected where they are imagined, minus its bound",
    tolerance=1e-7,
    repairs={
        "of the played trajectories": {"imagined": False},
        r"imagined ones are at most $2\,\mathbb E|T|+2\sum_k\min\{1,\mathbb E\sum_h\operatorname{KL}_{s_h,a_h}(\theta^p,\hat\theta^p_k)\}$, "
        "T those of the played": {"played": False, "allowance": 2},
    },
    steps={"L1282: the bad steps h of one played episode are as few": {"imagined": False, "steps": True}},
    mutants={
        "of imagined trajectories alone": {"played": False},
        r"imagined ones are at most $2\,\mathbb E|T|$": {"played": False, "allowance": 0},
        "all bad steps of the played trajectories are as few": {"imagined": False, "steps": True, "in_all": True},
        "of the played trajectories, 1/10 for 3": {"imagined": False, "factor": 0.1},
    },
)
def bad_episodes(rng, trials, played=True, imagined=True, steps=False, in_all=False, factor=3, allowance=None):
    r"""Played bad rounds are $O(d)$; bad steps grow with H, and imagined bad rounds with both H and K.

    $\bar G_k$ changes once per episode, so all H steps of the first episode can be bad. And imagined features never enter
    $\bar G$: a state that is not reached stays bad, as long as $\hat\theta^p$ gives it some probability. Example: states 0
    and 1, one action, $\psi(s)=s$, one-hot $\varphi$, $d=2$, $P(1\mid0)=\sigma(-20)$, unit Gaussian rewards, so
    $\alpha^r=1=\eta$. After $n=(k-1)H$ stays in 0 the penalised estimate solves $n\sigma(\theta)=-\eta\theta$, so
    $\hat P(1\mid0)\approx\frac{\eta\log n}n$, and round k is bad with probability about $\frac{\eta\log(kH)}k$: together about
    $\eta(\frac12\log^2K+\log H\log K)$, against 7.7 for all K. With $\bar G^p$ for $\bar G^r$ this example has no bad round,
    since $\alpha^p$ is tiny; the proof uses $\bar G^r$.

    Correction: Of a played bad episode keep one bad step: C45 applies to these, since $\bar G_k$ contains them all and more.
    For imagined ones let P and Q be the laws of an episode under $\theta^p$ and $\hat\theta^p_k$. On any event E,
    $\sqrt{Q(E)}\le\sqrt{P(E)}+\|\sqrt Q-\sqrt P\|_2$, so $Q(E)\le2P(E)+2\min\{1,\operatorname{KL}(P,Q)\}$: the dependence on H and K
    is that of the summed KL, logarithmic.

    Attack: Runs of BEF-RLSVI on instances of the package and on the example with H = 5, 20, 80, with weak and strong
    penalties and noise. Played rounds are counted; the probability that an imagined trajectory is bad is computed exactly.
    """
    worst, table = Worst(), {}
    for run in _runs(int(rng.integers(2**32)), trials):
        bound = _excess(0, run["d"], run["y"], factor)  # minus the bound, (rows,)
        over = []
        if played and imagined:
            table |= {f"{run['name']}, K = {k}": float(run["imagined"][:, :k].sum(1).mean()) for k in (30, 150) if run["edge"]}
        if played or steps:
            number = run["steps"] if steps else run["steps"].astype(bool)
            over.append((number.sum(1) if in_all or not steps else number.max(1)) + bound)
        if imagined:
            limit = bound if allowance is None else -(2 * run["played"] + allowance * run["KL"]).sum(1)
            over.append(run["imagined"].sum(1) + limit)
        size = len(bound)
        case = {"instance": [run["name"]] * size, "d": [run["d"]] * size, "eta/alpha_r times 1/(p B)": 1 / run["y"]}
        _see(worst, np.max(over, 0), case)
    return _evidence(worst, details={"imagined bad rounds of the example": table} if table else {})


CASES = (
    ("jao", {"arms": 3, "horizon": 5}),
    ("riverswim", {"states": 4, "horizon": 8}),
    ("chain", {"bins": 4, "horizon": 10}),
    ("factored", {"machines": 2, "horizon": 3}),
    ("literal", {"bins": 3, "horizon": 1}),
)


@functools.lru_cache(1)
def _runs(seed, trials):
    """Runs of BEF-RLSVI, four settings of penalty and noise each: the example, and the instances of CASES."""
    found = []
    for horizon in (5, 20, 80):
        found.append(_run(_two_states(horizon), f"example with H = {horizon}", [1.0], ["theory"], 1, 150, seed) | {"edge": True})
    for name, values in CASES:
        instance = _instance(name, tuple(values.items()))
        p, alpha = instance.model.features.p, instance.constants["alpha_r"]
        etas = [alpha * p * instance.constants["B_phi_A"] * share for share in (0.999, 0.03)]
        found.append(_run(instance, name, etas, ["theory", 1e-3], 2 + trials // 2, 30, seed) | {"edge": False})
    return found


@functools.cache
def _instance(name, values):
    return instances.build(name, dict(values))


@functools.cache
def _two_states(horizon):
    """Two states and one action; the second state has probability 2e-9 and is not reached."""
    family = FiniteFamily(FiniteSpace(2), np.array([[0.0], [1.0]]), np.zeros(2))
    model = Model(Features.one_hot(2, 1, p=1), family, gaussian.Law(1.0), B=np.ones(1))
    theta_p, theta_r = np.array([-20.0, 0.0]), np.full(2, 0.5)
    instance = Instance(model, horizon, theta_p, theta_r, lambda u: np.zeros(len(u), int), np.array([1.0, 0.0]))
    return replace(instance, constants=constants.compute(model, theta_p, theta_r, np.random.default_rng(0)))


def _run(instance, name, etas, scales, seeds, episodes, seed):
    """Play, and return (rows, K): bad steps played, probabilities of a bad round, played and imagined, and min(1, KL)."""
    settings = [{"eta": eta, "scale": scale} for eta in etas for scale in scales]
    spec = RunSpec.of(instance, name, "bef-rlsvi", settings, episodes, range(seeds), root_seed=seed)
    environment, agent = Environment(instance, seed, name, spec.row_seeds), make_agent(spec)
    features, learner, rows = instance.model.features, agent.learner, np.arange(spec.rows)[:, None]
    ratio, truth = learner.eta / instance.constants["alpha_r"], np.broadcast_to(instance.P, (spec.rows, *instance.P.shape))
    log = {key: np.empty((spec.rows, episodes)) for key in ("steps", "played", "imagined", "KL")}
    for k in range(episodes):
        policy = agent.plan(k).policy
        bad = features.norms(features.plus_trace(features.design(learner.data.counts), ratio)) >= 1.0
        model = instance.model.kernel(learner.theta_p)
        divergence = np.where(truth > 0, truth * np.log(np.maximum(truth, 1e-300) / np.maximum(model, 1e-300)), 0.0).sum(-1)
        reached = [_expected(kernel, policy, bad, bad) for kernel in (truth, model)]
        divergence = _expected(truth, policy, divergence, np.zeros_like(bad))
        trajectory = environment.rollout(agent, policy)
        first = trajectory.cells[:, :1]
        log["steps"][:, k] = bad[rows, trajectory.cells, trajectory.actions].sum(1)
        for key, value in zip(("played", "imagined", "KL"), (*reached, np.minimum(divergence, 1.0)), strict=True):
            log[key][:, k] = value[rows, first][:, 0]
        agent.update(trajectory)
    y = min(instance.model.d, features.p) * instance.constants["B_phi_A"] / ratio
    return {"name": name, "d": instance.model.d, "y": y, **log}


def _expected(kernel, policy, gain, stop):
    """Expected sum of gain (n, S, A) over an episode that ends where stop (n, S, A) holds, from each first state, (n, S)."""
    value = np.zeros(gain.shape[:2])
    for h in reversed(range(policy.shape[1])):
        action = policy[:, h, :, None].astype(int)
        now, end = (np.take_along_axis(table, action, 2)[..., 0] for table in (gain, stop))
        rows = np.take_along_axis(kernel, action[..., None], 2)[:, :, 0]
        value = now + ~end * (rows @ value[..., None])[..., 0]
    return value


@claim(
    "C45d",
    statement=r"$\|\bar G_k^{-1}G_{s,a}\|\le\frac\alpha\eta\|\mathbb A^{-1}G_{s,a}\|\le\frac\alpha\eta B_{\varphi,\mathbb A}$, since "
    r"$\bar G_k\succeq\frac\eta\alpha\mathbb A$; judged: the outer two sides, in the operator norm.",
    meaning="square of (left side / right side), minus 1",
    tolerance=1e-6,
    repairs={
        r"$\|\bar G_k^{-1/2}G_{s,a}\bar G_k^{-1/2}\|\le\frac\alpha\eta B_{\varphi,\mathbb A}$": {"measure": "symmetric"}
    },
    steps={
        r"$\|\bar G_k^{-1}G_{s,a}\|\le\frac\alpha\eta\|\mathbb A^{-1}G_{s,a}\|$": {"own": True},
        r"$\|I+\bar G_k^{-1}\sum_hG_h\|\le1+\frac{\alpha BH}\eta$": {"summed": True},
    },
    others={
        r"$\operatorname{tr}(\bar G_k^{-1}G_{s,a})\le\frac\alpha\eta\operatorname{tr}(\mathbb A^{-1}G_{s,a})$": {
            "measure": "trace",
            "own": True,
        },
        r"the symmetric form with $\frac\alpha\eta\|\mathbb A^{-1/2}G_{s,a}\mathbb A^{-1/2}\|$": {"measure": "symmetric", "own": True},
        r"$\|I+\bar G_k^{-1/2}\sum_hG_h\bar G_k^{-1/2}\|\le1+\frac{\alpha BH}\eta$": {"measure": "symmetric", "summed": True},
    },
    mutants={
        "in the Frobenius norm": {"measure": "frobenius"},
        r"$\operatorname{tr}(\bar G_k^{-1}G_{s,a})\le\frac\alpha\eta B_{\varphi,\mathbb A}$": {"measure": "trace"},
        "the symmetric form with half the right side": {"measure": "symmetric", "factor": Fraction(1, 2)},
    },
)
def norm_of_products(rng, trials, measure="operator", own=False, summed=False, factor=1, H=8):
    r"""The inverse is monotone, but the norm of a product of two symmetric matrices is not.

    $X\succeq Y\succ0$ gives $X^{-1}\preceq Y^{-1}$, but not $X^{-2}\preceq Y^{-2}$, which $\|X^{-1}G\|\le\|Y^{-1}G\|$ needs: for
    $G=gg^\top$ it is $\|X^{-1}g\|\,\|g\|$. Example: $p=1$, $A_1=(\frac1{16},0)$, $A_2=(1,1)$, $\eta=\alpha$, three visits of
    $\varphi'=(0,1)$, then $\varphi=(1,1)$. The next line of the proof, with the sum over h, inherits it.

    Correction: $\|X^{-1/2}GX^{-1/2}\|=\|G^{1/2}X^{-1}G^{1/2}\|$ is monotone, since $X\succeq\frac\eta\alpha\mathbb A$, and
    $\|\mathbb A^{-1/2}G\mathbb A^{-1/2}\|=\lambda_{\max}(\mathbb A^{-1}G)\le\|\mathbb A^{-1}G\|$. The proof can use this form: it needs
    $\bar G_{k+H}\preceq(1+\frac{\alpha BH}\eta)\bar G_k$ only.

    Attack: Random features of many shapes and scales with random visits; first the example in exact arithmetic. The sum
    over h is that of an episode that stays at one (s,a).
    """
    worst = Worst()
    if not summed:
        case = {"A_1": "(1/16, 0)", "A_2": "(1, 1)", "phi": "(1, 1)", "visits of phi' = (0, 1)": 3, "eta/alpha": 1}
        worst.see(_example_of_products(measure, own, factor), case)
    for designs in (_example_designs(), *(_designs(rng, 10 + trials // 2, *shape) for shape in SHAPES)):
        G, B, r = designs["G"], designs["B"][:, None], designs["ratio"][:, None]
        left = _measured(designs["Gbar"], H * G if summed else G, measure, summed)
        right = _measured(designs["A"], G, measure) if own else B
        bound = 1 + H * B / r if summed else float(factor) * right / r
        over = ((left / bound) ** 2).max(1) - 1
        _see(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")})
    return _evidence(worst)


def _example_designs():
    """The example in the form of `_designs`."""
    A, past, *vectors = (each.astype(float) for each in _example())
    a = np.array(vectors)[None, :, :, None]
    G = a @ np.swapaxes(a, 2, 3)
    B = np.linalg.norm(np.linalg.solve(A, G), 2, axis=(2, 3)).max(1)
    return {"a": a, "A": A[None], "G": G, "B": B, "ratio": np.ones(1), "Gbar": (A + past)[None]}


def _measured(X, G, measure, plus_one=False):
    """Norms of X^-1 G, or of X^-1/2 G X^-1/2, or traces of both, (n, d, d) and (n, m, d, d) -> (n, m)."""
    L = np.linalg.cholesky(X)[:, None]
    inner = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, G), 2, 3))
    if measure == "trace":
        return np.trace(inner, axis1=2, axis2=3)
    product = inner if measure == "symmetric" else np.linalg.solve(X[:, None], G)
    product = product + plus_one * np.eye(X.shape[-1])
    return np.linalg.norm(product, "fro" if measure == "frobenius" else 2, axis=(2, 3))


def _example_of_products(measure, own, factor):
    """The square of left/right minus 1 at the example; G has rank one, so norms are products of lengths."""
    A, G, g, other = _example()
    quadratic = measure in ("trace", "symmetric")

    def squared(X, g, quadratic):
        solved = np.array([[X[1, 1], -X[0, 1]], [-X[1, 0], X[0, 0]]]) @ g / (X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0])
        return (g @ solved) ** 2 if quadratic else (g @ g) * (solved @ solved)

    right = squared(A, g, quadratic) if own else max(squared(A, each, False) for each in (g, other))
    return squared(A + G, g, quadratic) / (Fraction(factor) ** 2 * right) - 1


def _example():
    """Bold A, the sum of G over three visits of phi' = (0, 1), and the vectors a of phi = (1, 1) and of phi'."""
    rows = np.array([[Fraction(1, 16), Fraction(0)], [Fraction(1), Fraction(1)]])  # A_1, A_2
    g, other = rows @ np.array([1, 1]), rows @ np.array([0, 1])
    return rows @ rows.T, 3 * np.outer(other, other), g, other


@claim(
    "C45e",
    statement=r"$\operatorname{tr}(a^\top\bar G_k^{-1}a)=(1+\frac{\alpha BH}\eta)\operatorname{tr}(\bar G_{k+H}^{-1}G_{s,a})$ with "
    r"$a=(A_i\varphi(s,a))_i$, for all (s,a).",
    meaning="|left/right - 1|, or left/right - 1 for inequalities; for L657 and L659, left side minus right side",
    tolerance=1e-6,
    repairs={r"$\le$ in place of the equality": {"relation": "<="}},
    steps={
        r"L657: $\|a\|_{\bar G_{k+H}^{-1}}\le1$ for imagined $\tilde s_h$": {"step": "one"},
        r"L657 for the played $s_h$": {"step": "one", "played": True},
        r"L657 for the played $s_h$ and $p=1$": {"step": "one", "played": True, "vectors": True},
        r"L659: $\sum_h\|a_h\|_{\bar G_{k+H}^{-1}}\le\sqrt{Hd\log(1+\alpha BH/\eta)}$ for imagined $\tilde s_h$": {"step": "sum"},
        "L659 for the played $s_h$": {"step": "sum", "played": True},
    },
    mutants={
        r"$\ge$ in place of the equality": {"relation": ">="},
        r"$\le$ with $1+\frac{\alpha BH}{2\eta}$": {"relation": "<=", "factor": Fraction(1, 2)},
        r"$\le$ with $1+\frac{\alpha B}\eta$": {"relation": "<=", "all_steps": False},
    },
)
def change_of_design(rng, trials, relation="=", factor=1, all_steps=True, step="", played=False, vectors=False):
    r"""The equality is an inequality; the next line of the proof, printed as $\le$, is the equality.

    Example: $d=1$, $\alpha=\eta$, $B=1$, one visit before and $H=1$: $\frac12$ against $2\cdot\frac13$. What follows is
    false for imagined states, whose features are not in $\bar G_{k+H}$: L657 and L659. For the states played in episode k,
    $aa^\top\preceq\bar G_{k+H}$ gives a spectral norm of at most 1, so L657 is true for $p=1$ (for $p\ge2$ the trace may
    reach $\min(d,p)$); and $\sum_h\|a_h\|^2=\operatorname{tr}(I-\bar G_{k+H}^{-1}\bar G_k)\le\log\frac{\det\bar G_{k+H}}{\det\bar G_k}
    \le d\log(1+\frac{\alpha BH}\eta)$, so L659 is true by Cauchy-Schwarz.

    Correction: $G_{s,a}\preceq\frac{\alpha B}\eta\bar G_k$ by C45d, so $\bar G_{k+H}\preceq(1+\frac{\alpha BH}\eta)\bar G_k$ and
    $\bar G_k^{-1}\preceq(1+\frac{\alpha BH}\eta)\bar G_{k+H}^{-1}$.

    Attack: Random features, visits and episodes, all (s,a); imagined episodes stay at the (s,a) of the largest norm. First
    the example, and $d=1$ without earlier visits, in exact arithmetic.
    """
    worst = Worst()

    def violation(before, after, growth):
        share = before / ((1 + growth) * after)
        return {"=": abs(share - 1), "<=": share - 1, ">=": 1 - share}[relation]

    for visits, H in ((1, 1), (0, 4)) if not step else ():
        growth = Fraction(factor) * (H if all_steps else 1)
        worst.see(violation(Fraction(1, 1 + visits), Fraction(1, 1 + visits + H), growth), {"visits": visits, "H": H})
    for shape, H in itertools.product(SHAPES[:2] if vectors else SHAPES, (1, 8)):
        designs = _designs(rng, 10 + trials // 4, *shape)
        n, d = len(designs["a"]), shape[0]
        arms = rng.integers(8, size=(n, H))
        after = designs["Gbar"] + designs["G"][np.arange(n)[:, None], arms].sum(1)
        growth = designs["B"] / designs["ratio"] * H
        new = _norms(designs["a"], after)
        steps = np.take_along_axis(new, arms, 1) if played else np.repeat(new.max(1, keepdims=True), H, 1)
        if step:
            over = steps.max(1) - 1 if step == "one" else np.sqrt(steps).sum(1) - np.sqrt(H * d * np.log1p(growth))
        else:
            grown = float(factor) * (growth if all_steps else growth / H)[:, None]
            over = violation(_norms(designs["a"], designs["Gbar"]), new, grown).max(1)
        _see(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")} | {"arms": arms})
    return _evidence(worst)
