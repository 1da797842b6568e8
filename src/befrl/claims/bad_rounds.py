"""Appendices B.1.2 and D.4.2: how often feature norms are large, the bad rounds, and what they cost."""

import itertools
from fractions import Fraction

import numpy as np

from befrl.claims.toolbox import episodes, products
from befrl.claims.toolbox.batches import evidence_of, see_largest
from befrl.claims.toolbox.designs import bad_rounds, draw_designs, keep_norms_large, norms_of
from befrl.claims.toolbox.registry import claim
from befrl.claims.toolbox.search import Worst

USES = episodes.uses()
HALF = Fraction(1, 2)
LOG2 = Fraction(693147, 1000000)  # a little less than log 2
SHAPES = ((1, 1, 1), (3, 1, 4), (2, 2, 1), (4, 2, 3), (6, 3, 2))  # d, p, q
# Edge cases (d, c, f, r): d = p, A_i = c e_i, phi = f, eta/alpha = r, so that a = c f I and bold A = c^2 I.
EDGES = ((1, 1, 1, 1), (1, HALF, 1, 1), (1, 1, Fraction(1, 10), Fraction(1, 100)), (40, 1, 1, 20), (40, HALF, 1, 1))
SYMMETRIC = {"measure": "symmetric"}  # a reading of C45d that others build on


def _excess(count, d, y, factor=3):
    """The count minus factor d/log 2 log(1 + y/log 2): exact if y is and log(1 + x) <= x suffices to refute."""
    if isinstance(y, Fraction | int) and count > factor * d * y / LOG2**2:
        return count - factor * d * y / LOG2**2
    return count - float(factor) * d / np.log(2) * np.log1p(np.asarray(y, dtype=float) / np.log(2))


def _repeated(weight, f, r):
    """How many t = 0, 1, ... have weight f^2/(r + t f^2) >= 1: the same a = c f I in every round, one per episode."""
    return max(0, (weight * f * f - r) // (f * f) + 1)


@claim(
    "C45",
    statement=r"If $V_0=\lambda I$, $V_t=V_{t-1}+a_ta_t^\top$ with $a_t\in\mathbb R^{d\times p}$ and $\|a_t\|_2\le L$, "
    r"then $\|a_t\|_{V_{t-1}^{-1}}\ge1$ for at most $\frac{3d}{\log2}\log(1+\frac{L^2}{\lambda\log2})$ of the $t$.",
    meaning="number of large norms minus its bound; for a step of the proof, left side minus right side",
    tolerance=1e-7,
    repairs={
        r"with $\|a_t\|_F\le L$": {"norms": "frobenius"},
        r"with $\min(d,p)L^2$ for $L^2$": {"spread": True},
        "with spectral norms throughout": {"norms": "spectral"},
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
        r"3/4 for 3, with $\|a_t\|_F\le L$": {"norms": "frobenius", "factor": Fraction(3, 4)},
        r"V updated after every fifth round only, with $\|a_t\|_F\le L$": {"norms": "frobenius", "delay": 5},
    },
)
def large_norms(rng, trials, norms="mixed", spread=False, factor=3, delay=1, step=""):
    r"""The bound is right for vectors; for matrices it needs one norm throughout.

    In L653 $\|a\|^2_{V^{-1}}=\operatorname{tr}(a^\top V^{-1}a)$, but $\|a_t\|_2$ is the spectral norm. So
    $\operatorname{tr}(a_ta_t^\top)\le L^2$ fails for $p\ge2$. With $a_t=LI$, $d=p$, $\lambda=dL^2/2$ about $d/2$ norms
    are large, and the bound is about 12 for all d. Two slips do no harm: the determinant has $\ge$, since
    $\det(I+M)\ge1+\operatorname{tr}M$; $z-x\log(1+yz)$, of slope $1-xy/(1+yz)$, increases where the proof needs it.

    Correction: With $\|a_t\|_F\le L$, $2^{|T|}\lambda^d\le\det G_n\le(\lambda+|T|L^2/d)^d$. So $z=|T|$ has
    $f(z)=z-x\log(1+yz)\le0$, and f is convex with $f(0)=0\le f(3x\log(1+xy))$. Spectral norms reduce to vectors: some
    unit v has $\|a_tv\|_{V_{t-1}^{-1}}\ge1$, and $a_ta_t^\top\succeq a_tv(a_tv)^\top$.

    Attack: Games of many shapes, $L^2/\lambda$ from 0.01 to 300, in which an adversary keeps norms just large, with the
    weakest eigenvectors of V or random matrices. First $a_t=I$, $d=p=40$, $\lambda=20$ in exact arithmetic.
    """
    worst, edges = Worst(), () if step or delay > 1 else _same_in_every_round(norms)
    for game in itertools.chain(edges, _games(rng, trials, norms, delay)):
        y = game["y"] * (min(game["d"], game["p"]) if spread else 1)
        over = _steps_of_counting(game)[step] if step else _excess(game["count"], game["d"], y, factor)
        see_largest(worst, over, game["case"])
    return evidence_of(worst)


def _same_in_every_round(norms):
    """The edge cases as games with V_0 = r I and a_t = f I; y = L^2/r."""
    for d, _, f, r in EDGES:
        count, y = _repeated(1 if norms == "spectral" else d, f, r), Fraction(f * f) / r
        case = {"d = p": d, "every a_t / I": f, "lambda": r, "count": count}
        yield {"d": d, "p": d, "y": d * y if norms == "frobenius" else y, "count": count, "case": case}


def _games(rng, trials, norms, delay):
    """Games of all shapes; with mixed norms the Frobenius norm counts, while L bounds the spectral norm."""
    norm, length = ("frobenius", "spectral") if norms == "mixed" else (norms, norms)
    for d, p, _ in SHAPES:
        game = keep_norms_large(rng, 6 + trials // 3, d, p, norm, length, delay)
        yield game | {"d": d, "p": p, "case": {"d": d, "p": p, "L^2/lambda": game["y"], "count": game["count"]}}


def _steps_of_counting(game):
    """Left minus right side of the steps in the proof of C45, for V_0 = I; x = d/log 2, and y of the proof is y/d."""
    xy = game["y"] / np.log(2)
    logarithms = np.log1p(3 * xy * np.log1p(xy)), np.log1p(3 * xy**2), 3 * np.log1p(xy)
    slope = 1 - xy / (1 + 3 * xy * np.log1p(xy))
    return {
        "trace": (game["trace"] - game["d"] - game["count"] * game["y"]) / game["trace"],
        "determinant": abs(game["log det"] - game["potential"]),
        "determinant, one side": game["potential"] - game["log det"],
        "logarithms": np.maximum(logarithms[0] - logarithms[1], logarithms[1] - logarithms[2]),
        "decreasing": slope,
        "increasing": -slope,
    }


@claim(
    "C45b",
    statement=r"$|T|\le C_d=\frac{3d}{\log2}\log(1+\frac{\alpha\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2}{\eta\log2})$ "
    r"for the bad rounds T, whatever the scale of the $A_i$ and of $\varphi$.",
    meaning="number of bad rounds minus its bound; for the step, 1 - right/left",
    tolerance=1e-7,
    repairs={
        r"with $\min(d,p)B_{\varphi,\mathbb A}$ for $\|\mathbb A\|_2^2B_{\varphi,\mathbb A}^2$": {"by": "m B"},
        r"with $\|\mathbb A\|_2\min(d,p)B_{\varphi,\mathbb A}/\lambda_{\min}(\mathbb A)$ for it": {"by": "condition"},
    },
    steps={r"$\|G_{s,a}\|_2\le\|\mathbb A\|_2B_{\varphi,\mathbb A}$": {"by": "A B", "step": True}},
    others={r"for $p=1$, with $B_{\varphi,\mathbb A}$ for it": {"by": "B", "vectors": True}},
    mutants={
        r"with $B_{\varphi,\mathbb A}$ for it, for all p": {"by": "B"},
        r"with $\|\mathbb A\|_2B_{\varphi,\mathbb A}$ for it": {"by": "A B"},
        r"with $\min(d,p)B_{\varphi,\mathbb A}^2$ for it": {"by": "m B^2"},
    },
)
def printed_constant(rng, trials, by="printed", step=False, vectors=False):
    r"""$C_d$ depends on the scale of the $A_i$, and bad rounds do not.

    $A_i\to cA_i$, $\theta\to\theta/c$ changes no law and no norm $\|a\|_{\bar G^{-1}}$, but multiplies
    $\|\mathbb A\|_2^2$ by $c^4$. So $C_d\to0$ as $c\to0$, while the first round stays bad: $d=p=1$, $A_1=1/2$,
    $\varphi=1$, $\eta=\alpha$. Three faults: C45 needs $V_0=\lambda I$, but $\bar G_0=\frac\eta\alpha\mathbb A$; its
    $L^2$ bounds $\|a\|^2$, so B must not be squared; and traces need $\min(d,p)$. Here $H=1$; C45c has $H>1$.

    Correction: Apply C45 to $\mathbb A^{-1/2}a$: then $V_0=\frac\eta\alpha I$, norms are the same, and
    $\|\mathbb A^{-1/2}a\|_F^2=\operatorname{tr}(\mathbb A^{-1}G)\le\min(d,p)\|\mathbb A^{-1}G\|$.

    Attack: Random features of many shapes and scales. The adversary plays the bad (s,a) of the smallest norm, until
    none is bad. First rescaled $A_i$, rescaled $\varphi$, and $a=I$ with $d=p=40$, in exact arithmetic.
    """
    worst = Worst()
    for game in _rounds_against_an_adversary(rng, trials, vectors):
        y = _arguments(game)[by]
        over = 1 - y / game["norm of G"] if step else _excess(game["count"], game["d"], y / game["r"])
        see_largest(worst, over, game["case"])
    return evidence_of(worst)


def _arguments(game):
    """What stands beside alpha/eta in the logarithm, in the readings of C45b; m = min(d, p)."""
    A, B, m = game["norm of A"], game["B"], min(game["d"], game["p"])
    condition = m * B * A / game["least"]
    return {"printed": A**2 * B**2, "A B": A * B, "B": B, "m B": m * B, "m B^2": m * B**2, "condition": condition}


def _rounds_against_an_adversary(rng, trials, vectors):
    """How many rounds can be bad: the edge cases, then random designs; `least` is the least eigenvalue of bold A."""
    for d, c, f, r in (edge for edge in EDGES if edge[0] == 1 or not vectors):
        count, A, B = _repeated(d, f, r), Fraction(c) ** 2, Fraction(f) ** 2
        case = {"d = p": d, "A_i": f"{c} e_i", "phi": f, "eta/alpha": r, "bad rounds": count}
        sizes = {"norm of A": A, "least": A, "norm of G": A * B, "B": B}
        yield {"d": d, "p": d, "r": r, **sizes, "count": count, "case": case}
    for d, p, q in SHAPES[:2] if vectors else SHAPES:
        designs = draw_designs(rng, 4 + trials // 3, d, p, q)
        r, a, A, G = (designs[key] for key in ("ratio", "a", "A", "G"))
        count, values = bad_rounds(r[:, None, None] * A, a, G), np.linalg.eigvalsh(A)
        norm_G = np.linalg.norm(G, 2, axis=(2, 3)).max(1)
        sizes = {"norm of A": values[:, -1], "least": values[:, 0], "norm of G": norm_G, "B": designs["B"]}
        case = {"a": a, "A": A, "eta/alpha": r, "bad rounds": count}
        yield {"d": d, "p": p, "r": r, **sizes, "count": count, "case": case}


@claim(
    "C45c",
    statement=r"Rounds with $\|a(s_h,a_h)\|_{\bar G_k^{-1}}\ge1$ for some h number $O(d)$ for all H, K: of the played "
    r"$s_h^k$ (L382) and of imagined $\tilde s_h\sim\hat\theta^p_k$ (L633, $\bar G^r$). Constant: C45b, corrected.",
    meaning="number of bad rounds, expected where they are imagined, minus its bound",
    tolerance=1e-7,
    repairs={
        "of the played trajectories": {"counted": "played"},
        r"imagined ones are at most $2\,\mathbb E|T|+2\sum_k\min\{1,\mathbb E\sum_h\operatorname{KL}_{s_h,a_h}"
        r"(\theta^p,\hat\theta^p_k)\}$, T those of the played": {"counted": "imagined", "allowance": 2},
    },
    steps={"L1282: the bad steps h of one played episode are as few": {"counted": "steps"}},
    mutants={
        "of imagined trajectories alone": {"counted": "imagined"},
        r"imagined ones are at most $2\,\mathbb E|T|$": {"counted": "imagined", "allowance": 0},
        "of the played trajectories, 1/10 for 3": {"counted": "played", "factor": 0.1},
    },
)
def bad_episodes(rng, trials, counted="both", factor=3, allowance=None):
    r"""Played bad rounds are $O(d)$; bad steps grow with H, and imagined bad rounds with both H and K.

    $\bar G_k$ changes once per episode, so all steps of the first one can be bad. Imagined features never enter
    $\bar G$: a state that is not reached stays bad. Example: states 0 and 1, one action, $\psi(s)=s$, one-hot
    $\varphi$, $d=2$, $P(1\mid0)=\sigma(-20)$, $\alpha^r=\eta=1$. After $n=(k-1)H$ stays in 0 the estimate solves
    $n\sigma(\theta)=-\eta\theta$, so $\hat P(1\mid0)\approx\frac{\eta\log n}n$. Imagined bad rounds add up to about
    $\eta(\frac12\log^2K+\log H\log K)$, against 7.7. ($\bar G^p$ has no bad round here; the proof uses $\bar G^r$.)

    Correction: C45 applies to one bad step of each played bad episode, as $\bar G_k$ contains them all. Let P and Q be
    the laws of an episode under $\theta^p$ and $\hat\theta^p_k$. As $\sqrt{Q(E)}\le\sqrt{P(E)}+\|\sqrt Q-\sqrt P\|_2$,
    $Q(E)\le2P(E)+2\min\{1,\operatorname{KL}(P,Q)\}$ for all E. The KL sum to a logarithm if eq:sum_kl_bound is right.

    Attack: BEF-RLSVI runs on instances of the package and on the example, with weak and strong penalties and noise.
    Played bad rounds are counted; chances of imagined ones are computed exactly.
    """
    worst, table = Worst(), {}
    for run in episodes.bad_round_runs(int(rng.integers(2**32)), trials):
        over = _numbers_of_bad_rounds(run)[counted] - _limit(run, factor, allowance)
        see_largest(worst, over, {"instance": run["name"], "K": run["KL"].shape[1], "alpha_r p B/eta": run["y"]})
        table |= {f"{run['name']}, K = {k}": run["imagined"][0, :k].sum() for k in (10, 30, 100) if run["example"]}
    return evidence_of(worst, details={"imagined bad rounds of the example": table})


def _limit(run, factor, allowance):
    """The bound of every row: that of C45b, or, with an allowance, twice the played ones plus so many times the KL."""
    if allowance is None:
        return -_excess(0, run["d"], run["y"], factor)
    return (2 * run["played"] + allowance * run["KL"]).sum(1)


def _numbers_of_bad_rounds(run):
    """Played and imagined bad rounds of every row, the larger of both, and bad steps of the worst played episode."""
    played, imagined = run["steps"].astype(bool).sum(1), run["imagined"].sum(1)
    both = np.maximum(played, imagined)
    return {"played": played, "imagined": imagined, "both": both, "steps": run["steps"].max(1)}


@claim(
    "C45d",
    statement=r"$\|\bar G_k^{-1}G_{s,a}\|\le\frac\alpha\eta\|\mathbb A^{-1}G_{s,a}\|\le\frac\alpha\eta B_{\varphi,"
    r"\mathbb A}$, since $\bar G_k\succeq\frac\eta\alpha\mathbb A$; judged: the outer sides, in the operator norm.",
    meaning="square of (left side / right side), minus 1",
    tolerance=1e-6,
    repairs={r"$\|\bar G_k^{-1/2}G_{s,a}\bar G_k^{-1/2}\|\le\frac\alpha\eta B_{\varphi,\mathbb A}$": SYMMETRIC},
    steps={
        r"$\|\bar G_k^{-1}G_{s,a}\|\le\frac\alpha\eta\|\mathbb A^{-1}G_{s,a}\|$": {"bound": "own"},
        r"$\|I+\bar G_k^{-1}\sum_hG_h\|\le1+\frac{\alpha BH}\eta$": {"bound": "sum"},
    },
    others={
        "the first step with traces on both sides": {"measure": "trace", "bound": "own"},
        r"the repair with $\frac\alpha\eta\|\mathbb A^{-1/2}G_{s,a}\mathbb A^{-1/2}\|$": SYMMETRIC | {"bound": "own"},
        r"$\|I+\bar G_k^{-1/2}\sum_hG_h\bar G_k^{-1/2}\|\le1+\frac{\alpha BH}\eta$": SYMMETRIC | {"bound": "sum"},
    },
    mutants={
        r"$\operatorname{tr}(\bar G_k^{-1}G_{s,a})\le\frac\alpha\eta B_{\varphi,\mathbb A}$": {"measure": "trace"},
        "the repair with half the right side": SYMMETRIC | {"factor": HALF},
    },
)
def norm_of_products(rng, trials, measure="operator", bound="B", factor=1):
    r"""The inverse is monotone, but the norm of a product of two symmetric matrices is not.

    $X\succeq Y\succ0$ gives $X^{-1}\preceq Y^{-1}$, but not $X^{-2}\preceq Y^{-2}$, which $\|X^{-1}G\|\le\|Y^{-1}G\|$
    needs: for $G=gg^\top$ it is $\|X^{-1}g\|\,\|g\|$. Example: $p=1$, $A_1=(\frac1{16},0)$, $A_2=(1,1)$,
    $\eta=\alpha$, $\varphi'=(0,1)$ three times, then $\varphi=(1,1)$. The next line, with a sum over h, inherits it.

    Correction: $\|X^{-1/2}GX^{-1/2}\|=\|G^{1/2}X^{-1}G^{1/2}\|$ is monotone; at $X=\mathbb A$ it is
    $\lambda_{\max}(\mathbb A^{-1}G)\le\|\mathbb A^{-1}G\|$. The proof needs no more than this form (C45e).

    Attack: The example, exactly; then random features of many scales and random visits. Sums over h stay at one (s,a).
    """
    worst = Worst()
    if bound != "sum":
        worst.see(*products.exact_example(measure, bound, factor))
    for designs in (products.example(), *(draw_designs(rng, 10 + trials // 2, *shape) for shape in SHAPES)):
        over = products.ratios(designs, measure, bound, float(factor)).max(1) ** 2 - 1
        see_largest(worst, over, {key: designs[key] for key in ("a", "A", "ratio", "Gbar")})
    return evidence_of(worst)


@claim(
    "C45e",
    statement=r"$\operatorname{tr}(a^\top\bar G_k^{-1}a)=(1+\frac{\alpha BH}\eta)"
    r"\operatorname{tr}(\bar G_{k+H}^{-1}G_{s,a})$ with $a=(A_i\varphi(s,a))_i$, for all (s,a).",
    meaning="|left/right - 1|, or left/right - 1 for inequalities; for L657 and L659, left side minus right side",
    tolerance=1e-6,
    repairs={r"$\le$ in place of the equality": {"relation": "<="}},
    steps={
        r"L657: $\|a\|_{\bar G_{k+H}^{-1}}\le1$ for imagined $\tilde s_h$": {"step": "one"},
        "L657 for the played $s_h$": {"step": "one", "played": True},
        "L657 for the played $s_h$ and $p=1$": {"step": "one", "played": True, "vectors": True},
        r"L659: $\sum_h\|a_h\|_{\bar G_{k+H}^{-1}}\le\sqrt{Hd\log(1+\alpha BH/\eta)}$, imagined $s$": {"step": "sum"},
        "L659 for the played $s_h$": {"step": "sum", "played": True},
    },
    mutants={
        r"$\ge$ in place of the equality": {"relation": ">="},
        r"$\le$ with $1+\frac{\alpha BH}{2\eta}$": {"relation": "<=", "part": 2},
    },
)
def change_of_design(rng, trials, relation="=", part=1, step="", played=False, vectors=False):
    r"""The equality is an inequality; the next line of the proof, printed as $\le$, is the equality.

    Example: $d=1$, $\alpha=\eta$, $B=1$, one visit before and $H=1$: $\frac12$ against $2\cdot\frac13$. L657 and L659
    are false for imagined states, whose features are not in $\bar G_{k+H}$. For played ones
    $aa^\top\preceq\bar G_{k+H}$ gives a spectral norm of at most 1, so L657 is true for $p=1$; in general the trace may
    reach $\min(d,p)$. And $\sum_h\|a_h\|^2=\operatorname{tr}(I-\bar G_{k+H}^{-1}\bar G_k)$ is at most
    $\log\det\bar G_{k+H}-\log\det\bar G_k\le d\log(1+\frac{\alpha BH}\eta)$, so L659 is true by Cauchy-Schwarz.

    Correction: By C45d $G_{s,a}\preceq\frac{\alpha B}\eta\bar G_k$. Sum over h, and invert
    $\bar G_{k+H}\preceq(1+\frac{\alpha BH}\eta)\bar G_k$.

    Attack: Random features, visits and episodes, all (s,a); imagined episodes stay at the (s,a) of the largest norm.
    First the example, and $d=1$ without earlier visits, in exact arithmetic.
    """
    worst, edges = Worst(), () if step else _changes_of_one_number()
    for change in itertools.chain(edges, _changes(rng, trials, vectors)):
        ratio = change["before"] / ((1 + change["growth"] / part) * change["after"])
        over = _steps_after_a_change(change, played)[step] if step else _miss(ratio, relation)
        see_largest(worst, over, change["case"])
    return evidence_of(worst)


def _miss(ratio, relation):
    """By how much a ratio, or the worst of every row of ratios, misses =, <= or >= 1."""
    found = {"=": abs(ratio - 1), "<=": ratio - 1, ">=": 1 - ratio}[relation]
    return found.max(1) if np.ndim(found) else found


def _changes_of_one_number():
    """Exact cases with d = 1, alpha B/eta = 1: squared norms before and after an episode, and alpha B H/eta."""
    for visits, H in ((1, 1), (0, 4)):
        before, after = Fraction(1, 1 + visits), Fraction(1, 1 + visits + H)
        yield {"before": before, "after": after, "growth": Fraction(H), "case": {"visits": visits, "H": H}}


def _changes(rng, trials, vectors):
    """The same for random designs and episodes of 1 and 8 steps, for all (s,a); `arms` are the (s,a) played."""
    for shape, H in itertools.product(SHAPES[:2] if vectors else SHAPES, (1, 8)):
        designs = draw_designs(rng, 10 + trials // 4, *shape)
        a, G, Gbar, n = designs["a"], designs["G"], designs["Gbar"], len(designs["a"])
        arms = rng.integers(8, size=(n, H))
        after = norms_of(a, Gbar + G[np.arange(n)[:, None], arms].sum(1))
        growth = (designs["B"] / designs["ratio"] * H)[:, None]
        case = {key: designs[key] for key in ("a", "A", "ratio", "Gbar")} | {"arms": arms}
        yield {"d": shape[0], "before": norms_of(a, Gbar), "after": after, "growth": growth, "arms": arms, "case": case}


def _steps_after_a_change(change, played):
    """Left minus right side of L657 and L659; an imagined episode stays at the (s,a) of the largest norm."""
    after, arms, H = change["after"], change["arms"], change["arms"].shape[1]
    norms = np.take_along_axis(after, arms, 1) if played else np.repeat(after.max(1, keepdims=True), H, 1)
    limit = np.sqrt(H * change["d"] * np.log1p(change["growth"][:, 0]))
    return {"one": norms.max(1) - 1, "sum": np.sqrt(norms).sum(1) - limit}
