"""Appendices B.1.2 and D.4.2: how often feature norms are large, the bad rounds, and what they cost."""

import itertools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox import episodes
from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import bad_rounds, draw_designs, keep_norms_large, norms_of, sizes_of_products
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst

USES = episodes.uses()
LOG2 = Fraction(693147, 1000000)  # a little less than log 2
SHAPES = ((1, 1, 1), (3, 1, 4), (2, 2, 1), (4, 2, 3), (6, 3, 2))  # d, p, q
# Edge cases (d, c, f, r): d = p, A_i = c e_i, phi = f, eta/alpha = r, so that a = c f I and bold A = c^2 I.
EDGES = (
    (1, 1, 1, 1),
    (1, Fraction(1, 2), 1, 1),
    (1, 1, Fraction(1, 10), Fraction(1, 100)),
    (40, 1, 1, 20),
    (40, Fraction(1, 2), 1, 1),
)


def _excess(count, d, y, factor=3):
    """The count minus factor d/log 2 log(1 + y/log 2): exact if y is and log(1 + x) <= x suffices to refute."""
    if isinstance(y, Fraction | int) and count > factor * d * y / LOG2**2:
        return count - factor * d * y / LOG2**2
    return count - float(factor) * d / np.log(2) * np.log1p(np.asarray(y, dtype=float) / np.log(2))


@claim(
    "C45",
    statement=r"If $V_0=\lambda I$, $V_t=V_{t-1}+a_ta_t^\top$ with $a_t\in\mathbb R^{d\times p}$ and $\|a_t\|_2\le L$, "
    r"then $\|a_t\|_{V_{t-1}^{-1}}\ge1$ for at most $\frac{3d}{\log2}\log(1+\frac{L^2}{\lambda\log2})$ of the $t$.",
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
    rng,
    trials,
    norm="frobenius",
    length="spectral",
    spread=False,
    factor=3,
    dimension=True,
    threshold=1.0,
    delay=1,
    step="",
):
    r"""The bound is right for vectors; for matrices it needs one norm throughout.

    The proof of L653 has $\|a\|^2_{V^{-1}}=\operatorname{tr}(a^\top V^{-1}a)$, while $\|a_t\|_2$ is the spectral norm,
    as in L636. Then $\operatorname{tr}(a_ta_t^\top)\le L^2$ fails for $p\ge2$. With $a_t=LI$, $d=p$, norms are large
    as long as $dL^2\ge\lambda+(t-1)L^2$: about $d/2$ times for $\lambda=dL^2/2$, where the bound is about 12, for all
    d. Two slips do no harm: the determinant has $\ge$, since $\det(I+M)\ge1+\operatorname{tr}M$, and $z-x\log(1+yz)$
    increases where the proof needs it: its slope is $1-xy/(1+yz)$. An index beyond n ($t\in\mathbb N^*$) has no $a_t$.

    Correction: With $\|a_t\|_F\le L$ every line of the proof is true:
    $2^{|T|}\lambda^d\le\det G_n\le(\lambda+|T|L^2/d)^d$, so $z=|T|$ has $f(z)=z-x\log(1+yz)\le0$, and f is convex with
    $f(0)=0$ and $f(3x\log(1+xy))\ge0$. Spectral norms throughout reduce to vectors: some unit v has
    $\|a_tv\|_{V_{t-1}^{-1}}\ge1$, and $a_ta_t^\top\succeq a_tv(a_tv)^\top$.

    Attack: Games of many shapes and $L^2/\lambda$ from 0.01 to 300, in which an adversary keeps norms just large. Half
    of them use as few of the weakest eigenvectors of V as $L$ allows, which grows the determinant least; half use
    random matrices. First $a_t=I$, $d=p=40$, $\lambda=20$ in exact arithmetic.
    """
    worst = Worst()
    for d, c, f, r in EDGES if not step and delay == 1 and threshold == 1.0 else ():
        cap = Fraction(c * f) ** 2 * (d if length == "frobenius" or spread else 1)
        count = _repeated(d if norm == "frobenius" else 1, f, r)
        case = {"d = p": d, "every a_t / I": c * f, "lambda": r * Fraction(c) ** 2, "count": count}
        worst.see(_excess(count, d if dimension else 1, cap / (r * Fraction(c) ** 2), factor), case)
    for d, p, _ in SHAPES:
        y = 10.0 ** rng.uniform(-2, 2.5, 6 + trials // 3)
        y[:6] = np.repeat([1.0, 4.0, 300.0], 2) * (1 + 1e-6)
        game = keep_norms_large(rng, y, d, p, norm, length, threshold, delay)
        x_y = y / np.log(2)
        slope = 1 - x_y / (1 + 3 * x_y * np.log1p(x_y))
        sides = {
            "": _excess(game["count"], d if dimension else 1, y * min(d, p) if spread else y, factor),
            "trace": (game["trace"] - d - game["count"] * y) / game["trace"],
            "determinant": abs(game["log det"] - game["potential"]),
            "determinant, one side": game["potential"] - game["log det"],
            "logarithms": np.log1p(3 * np.stack([x_y * np.log1p(x_y), x_y**2]))
            - np.stack([np.log1p(3 * x_y**2), 3 * np.log1p(x_y)]),
            "decreasing": slope,
            "increasing": -slope,
        }
        see_largest(
            worst,
            np.atleast_2d(sides[step]).max(0),
            {"d": [d] * len(y), "p": [p] * len(y), "L^2/lambda": y, "count": game["count"]},
        )
    return evidence_of(worst)


def _repeated(weight, f, r):
    """How many t = 0, 1, ... have weight f^2/(r + t f^2) >= 1: the same a = c f I in every round, one per episode."""
    return max(0, (weight * f * f - r) // (f * f) + 1)


@claim(
    "C45b",
    statement=r"$|T|\le C_d=\frac{3d}{\log2}\log(1+\frac{\alpha\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2}{\eta\log2})$ "
    r"for the bad rounds T, whatever the scale of the $A_i$ and of $\varphi$.",
    meaning="number of bad rounds minus its bound; for the step, 1 - right/left",
    tolerance=1e-7,
    repairs={
        r"with $\min(d,p)B_{\varphi,\mathbb A}$ for $\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2$": {"argument": "trace"},
        r"with $\|\mathbb A\|_2\min(d,p)B_{\varphi,\mathbb A}/\lambda_{\min}(\mathbb A)$ for it": {
            "argument": "condition"
        },
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
    $\|\mathbb A\|_2^2$ by $c^4$. So $C_d\to0$ as $c\to0$, while the first round stays bad: $d=p=1$, $A_1=1/2$,
    $\varphi=1$, $\eta=\alpha$. Three faults: the lemma needs $V_0=\lambda I$ but $\bar G_0=\frac\eta\alpha\mathbb A$;
    its $L^2$ bounds $\|a\|^2$, not $\|aa^\top\|_2^2$, so that B must not be squared (scale $\varphi$ to see it); and
    traces need $\min(d,p)$. Here $H=1$, where real and imagined trajectories agree; C45c has $H>1$.

    Correction: Apply C45 to $\mathbb A^{-1/2}a$: then $V_0=\frac\eta\alpha I$, norms are the same, and
    $\|\mathbb A^{-1/2}a\|_F^2=\operatorname{tr}(\mathbb A^{-1}G)\le\min(d,p)\|\mathbb A^{-1}G\|$.

    Attack: Random features of many shapes and scales. In each round the adversary plays the bad (s,a) of the smallest
    norm, until none is bad. First rescaled $A_i$, rescaled $\varphi$, and $a=I$ with $d=p=40$, in exact arithmetic.
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
        designs = draw_designs(rng, 4 + trials // 3, *shape)
        r, A, G = designs["ratio"], designs["A"], designs["G"]
        count = bad_rounds(r[:, None, None] * A, designs["a"], G)
        values = np.linalg.eigvalsh(A)
        largest = np.linalg.norm(G, 2, axis=(2, 3)).max(1)
        over = violation(count, *shape[:2], values[:, -1], designs["B"], values[:, 0], largest, r)
        see_largest(worst, over, {"a": designs["a"], "A": A, "eta/alpha": r, "bad rounds": count})
    return evidence_of(worst)


@claim(
    "C45c",
    statement=r"The bad rounds $\{k:\exists h,\ \|a(s_h,a_h)\|_{\bar G_k^{-1}}\ge1\}$ number $O(d)$, whatever H and K: "
    r"of the played $s_h^k$ (L382) and of imagined $\tilde s_h\sim\hat\theta^p_k$ (L633, with $\bar G^r$). "
    "Constant: that of C45b, corrected.",
    meaning="number of bad rounds, expected where they are imagined, minus its bound",
    tolerance=1e-7,
    repairs={
        "of the played trajectories": {"imagined": False},
        r"imagined ones are at most $2\,\mathbb E|T|+2\sum_k\min\{1,\mathbb E\sum_h\operatorname{KL}_{s_h,a_h}"
        r"(\theta^p,\hat\theta^p_k)\}$, "
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

    $\bar G_k$ changes once per episode, so all H steps of the first episode can be bad. And imagined features never
    enter $\bar G$: a state that is not reached stays bad, as long as $\hat\theta^p$ gives it some probability.
    Example: states 0 and 1, one action, $\psi(s)=s$, one-hot $\varphi$, $d=2$, $P(1\mid0)=\sigma(-20)$, unit Gaussian
    rewards, so $\alpha^r=1=\eta$. After $n=(k-1)H$ stays in 0 the penalised estimate solves
    $n\sigma(\theta)=-\eta\theta$, so $\hat P(1\mid0)\approx\frac{\eta\log n}n$, and round k is bad with probability
    about $\frac{\eta\log(kH)}k$: together about $\eta(\frac12\log^2K+\log H\log K)$, against 7.7 for all K. With
    $\bar G^p$ for $\bar G^r$ this example has no bad round, since $\alpha^p$ is tiny; the proof uses $\bar G^r$.

    Correction: Of a played bad episode keep one bad step: C45 applies to these, since $\bar G_k$ contains them all and
    more. For imagined ones let P and Q be the laws of an episode under $\theta^p$ and $\hat\theta^p_k$. On any event
    E, $\sqrt{Q(E)}\le\sqrt{P(E)}+\|\sqrt Q-\sqrt P\|_2$, so $Q(E)\le2P(E)+2\min\{1,\operatorname{KL}(P,Q)\}$: the
    dependence on H and K is that of the summed KL, which is logarithmic if eq:sum_kl_bound is right.

    Attack: Runs of BEF-RLSVI on instances of the package and on the example with H = 4 and 40, with weak and strong
    penalties and noise. Played rounds are counted; the probability that an imagined trajectory is bad is computed
    exactly.
    """
    worst, table = Worst(), {}
    for run in episodes.bad_round_runs(int(rng.integers(2**32)), trials):
        bound, over = _excess(0, run["d"], run["y"], factor), []  # minus the bound, (rows,)
        if played and imagined:
            table |= {f"{run['name']}, K = {k}": run["imagined"][0, :k].sum() for k in (10, 30, 100) if run["example"]}
        if played or steps:
            number = run["steps"] if steps else run["steps"].astype(bool)
            over.append((number.sum(1) if in_all or not steps else number.max(1)) + bound)
        if imagined:
            limit = bound if allowance is None else -(2 * run["played"] + allowance * run["KL"]).sum(1)
            over.append(run["imagined"].sum(1) + limit)
        rows = len(bound)
        case = {"instance": [run["name"]] * rows, "K": [run["KL"].shape[1]] * rows, "alpha_r p B/eta": run["y"]}
        see_largest(worst, np.max(over, 0), case)
    return evidence_of(worst, details={"imagined bad rounds of the example": table} if table else {})


@claim(
    "C45d",
    statement=r"$\|\bar G_k^{-1}G_{s,a}\|\le\frac\alpha\eta\|\mathbb A^{-1}G_{s,a}\|"
    r"\le\frac\alpha\eta B_{\varphi,\mathbb A}$, since $\bar G_k\succeq\frac\eta\alpha\mathbb A$; judged: the "
    "outer sides, in the operator norm.",
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
        r"the symmetric form with $\frac\alpha\eta\|\mathbb A^{-1/2}G_{s,a}\mathbb A^{-1/2}\|$": {
            "measure": "symmetric",
            "own": True,
        },
        r"$\|I+\bar G_k^{-1/2}\sum_hG_h\bar G_k^{-1/2}\|\le1+\frac{\alpha BH}\eta$": {
            "measure": "symmetric",
            "summed": True,
        },
    },
    mutants={
        "in the Frobenius norm": {"measure": "frobenius"},
        r"$\operatorname{tr}(\bar G_k^{-1}G_{s,a})\le\frac\alpha\eta B_{\varphi,\mathbb A}$": {"measure": "trace"},
        "the symmetric form with half the right side": {"measure": "symmetric", "factor": Fraction(1, 2)},
    },
)
def norm_of_products(rng, trials, measure="operator", own=False, summed=False, factor=1, H=8):
    r"""The inverse is monotone, but the norm of a product of two symmetric matrices is not.

    $X\succeq Y\succ0$ gives $X^{-1}\preceq Y^{-1}$, but not $X^{-2}\preceq Y^{-2}$, which $\|X^{-1}G\|\le\|Y^{-1}G\|$
    needs: for $G=gg^\top$ it is $\|X^{-1}g\|\,\|g\|$. Example: $p=1$, $A_1=(\frac1{16},0)$, $A_2=(1,1)$,
    $\eta=\alpha$, $\varphi'=(0,1)$ three times, then $\varphi=(1,1)$. The next line, with a sum over h, inherits it.

    Correction: $\|X^{-1/2}GX^{-1/2}\|=\|G^{1/2}X^{-1}G^{1/2}\|$ is monotone, since $X\succeq\frac\eta\alpha\mathbb A$,
    and $\|\mathbb A^{-1/2}G\mathbb A^{-1/2}\|=\lambda_{\max}(\mathbb A^{-1}G)\le\|\mathbb A^{-1}G\|$. The proof can
    use this form: it needs $\bar G_{k+H}\preceq(1+\frac{\alpha BH}\eta)\bar G_k$ only.

    Attack: Random features of many shapes and scales with random visits; first the example in exact arithmetic. The
    sum over h is that of an episode that stays at one (s,a).
    """
    worst = Worst()
    if not summed:
        case = {"A_1": "(1/16, 0)", "A_2": "(1, 1)", "phi": "(1, 1)", "visits of phi' = (0, 1)": 3, "eta/alpha": 1}
        worst.see(_example_of_products(measure, own, factor), case)
    for designs in (_example_designs(), *(draw_designs(rng, 10 + trials // 2, *shape) for shape in SHAPES)):
        G, B, r = designs["G"], designs["B"][:, None], designs["ratio"][:, None]
        left = sizes_of_products(designs["Gbar"], H * G if summed else G, measure, summed)
        right = sizes_of_products(designs["A"], G, measure) if own else B
        bound = 1 + H * B / r if summed else float(factor) * right / r
        over = ((left / bound) ** 2).max(1) - 1
        see_largest(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")})
    return evidence_of(worst)


def _example_designs():
    """The example in the form of `draw_designs`."""
    A, past, *vectors = (each.astype(float) for each in _example())
    a = np.array(vectors)[None, :, :, None]
    G = a @ np.swapaxes(a, 2, 3)
    B = np.linalg.norm(np.linalg.solve(A, G), 2, axis=(2, 3)).max(1)
    return {"a": a, "A": A[None], "G": G, "B": B, "ratio": np.ones(1), "Gbar": (A + past)[None]}


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
    statement=r"$\operatorname{tr}(a^\top\bar G_k^{-1}a)=(1+\frac{\alpha BH}\eta)"
    r"\operatorname{tr}(\bar G_{k+H}^{-1}G_{s,a})$ with $a=(A_i\varphi(s,a))_i$, for all (s,a).",
    meaning="|left/right - 1|, or left/right - 1 for inequalities; for L657 and L659, left side minus right side",
    tolerance=1e-6,
    repairs={r"$\le$ in place of the equality": {"relation": "<="}},
    steps={
        r"L657: $\|a\|_{\bar G_{k+H}^{-1}}\le1$ for imagined $\tilde s_h$": {"step": "one"},
        r"L657 for the played $s_h$": {"step": "one", "played": True},
        r"L657 for the played $s_h$ and $p=1$": {"step": "one", "played": True, "vectors": True},
        r"L659: $\sum_h\|a_h\|_{\bar G_{k+H}^{-1}}\le\sqrt{Hd\log(1+\alpha BH/\eta)}$ for imagined $\tilde s_h$": {
            "step": "sum"
        },
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

    Example: $d=1$, $\alpha=\eta$, $B=1$, one visit before and $H=1$: $\frac12$ against $2\cdot\frac13$. What follows
    is false for imagined states, whose features are not in $\bar G_{k+H}$: L657 and L659. For the states played in
    episode k, $aa^\top\preceq\bar G_{k+H}$ gives a spectral norm of at most 1, so L657 is true for $p=1$ (for $p\ge2$
    the trace may reach $\min(d,p)$); and
    $\sum_h\|a_h\|^2=\operatorname{tr}(I-\bar G_{k+H}^{-1}\bar G_k)\le\log\det\bar G_{k+H}-\log\det\bar G_k$ is at
    most $d\log(1+\frac{\alpha BH}\eta)$, so L659 is true by Cauchy-Schwarz.

    Correction: $G_{s,a}\preceq\frac{\alpha B}\eta\bar G_k$ by C45d, so
    $\bar G_{k+H}\preceq(1+\frac{\alpha BH}\eta)\bar G_k$ and
    $\bar G_k^{-1}\preceq(1+\frac{\alpha BH}\eta)\bar G_{k+H}^{-1}$.

    Attack: Random features, visits and episodes, all (s,a); imagined episodes stay at the (s,a) of the largest norm.
    First the example, and $d=1$ without earlier visits, in exact arithmetic.
    """
    worst = Worst()

    def violation(before, after, growth):
        share = before / ((1 + growth) * after)
        return {"=": abs(share - 1), "<=": share - 1, ">=": 1 - share}[relation]

    for visits, H in ((1, 1), (0, 4)) if not step else ():
        growth = Fraction(factor) * (H if all_steps else 1)
        worst.see(violation(Fraction(1, 1 + visits), Fraction(1, 1 + visits + H), growth), {"visits": visits, "H": H})
    for shape, H in itertools.product(SHAPES[:2] if vectors else SHAPES, (1, 8)):
        designs = draw_designs(rng, 10 + trials // 4, *shape)
        n, d = len(designs["a"]), shape[0]
        arms = rng.integers(8, size=(n, H))
        after = designs["Gbar"] + designs["G"][np.arange(n)[:, None], arms].sum(1)
        growth = designs["B"] / designs["ratio"] * H
        new = norms_of(designs["a"], after)
        steps = np.take_along_axis(new, arms, 1) if played else np.repeat(new.max(1, keepdims=True), H, 1)
        if step:
            over = steps.max(1) - 1 if step == "one" else np.sqrt(steps).sum(1) - np.sqrt(H * d * np.log1p(growth))
        else:
            grown = float(factor) * (growth if all_steps else growth / H)[:, None]
            over = violation(norms_of(designs["a"], designs["Gbar"]), new, grown).max(1)
        see_largest(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")} | {"arms": arms})
    return evidence_of(worst)
