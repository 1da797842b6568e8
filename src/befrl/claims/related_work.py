"""Sections 1, 3.2 and 7, Appendix E: members of the family, Table 1, comparisons of bounds, and estimators."""

from fractions import Fraction
from functools import partial

import numpy as np

from befrl.claims.toolbox import fits, members, table1, transport
from befrl.claims.toolbox.curvature import covariance
from befrl.claims.toolbox.registry import Evidence, claim
from befrl.claims.toolbox.search import Worst, search


@claim(
    "C65",
    statement=r"The bound $\sqrt{d^3H^3K}$ is order-optimal in H and K: for tabular MDPs, $d=S^2A$, it grows in them as"
    " the lower bound does.",
    meaning="growth of the quotient of the squared bounds, beyond what is allowed, as one of the letters doubles",
    repairs={r"in K; in H it is larger by $\sqrt H$": {"slack": {"H": 2}}},
    others={"in K": {"letters": "K"}},
    mutants={
        "in H and K, for transitions that change with the step": {"stages": True},
        r"the repair for transitions that change with the step": {"stages": True, "slack": {"H": 2}},
        "in S": {"letters": "S"},
        "in A": {"letters": "A"},
    },
)
def order_optimal(rng, trials, letters="HK", stages=False, slack=None):
    r"""The cited lower bound $\Omega(\sqrt{H^3SAK})$ is for transitions that change with the step h.

    The paper's do not: one $\theta^p$ serves all h. For such MDPs the lower bound is $\Omega(\sqrt{H^2SAK})$ (Domingues
    et al., 2021), which UCBVI attains for large K (Azar et al., 2017). If h becomes a part of the state, the family
    contains the others, but then there is one parameter for each $(h,s,a,s')$: with $d=HS^2A$ the bound is of order
    $H^3$ against $H^{3/2}$. Moreover the printed power of H rests on C42 and C62.

    Correction: $\sqrt{H^3}/\sqrt{H^2}=\sqrt H$; the powers of K agree.

    Attack: Parameters are counted one by one, and the squares of both bounds compared at random S, A, H and K and with
    each letter doubled, in exact arithmetic; for monomials one doubling decides.
    """

    def violation(case):
        quotients = [table1.quotient(case, stages)] + [
            table1.quotient(case | {x: 2 * case[x]}, stages) for x in letters
        ]
        return max(q / quotients[0] / (slack or {}).get(x, 1) - 1 for x, q in zip(letters, quotients[1:], strict=True))

    def draw(rng):
        return {letter: int(n) for letter, n in zip("SAHK", rng.integers(2, (5, 5, 8, 1000)), strict=True)}

    edges = [{"S": 2, "A": 2, "H": 2, "K": 100}]
    return search(rng, min(trials, 20), draw, violation, edges=edges, climb=False, grade="identity")


WITHIN = {"zeros": False, "reach": 5.0}  # parameters in a compact set; all of them are those up to 1000
LAWS = {"zeros": False, "reach": 0}  # Assumption 1 left out


@claim(
    "C75",
    statement=r"Every tabular MDP is in the class with $d=S^2A$, one parameter for each $(s,a,s')$, and satisfies "
    r"Assumption 1 for unit $x\in\mathbb R^p$.",
    meaning="1 if a covariance has an eigenvalue below 1e-9, else the share of zeros, if any, or the error of log-odds",
    tolerance=1e-7,
    repairs={
        r"with $d=S(S-1)A$, the next states but one, if $P>0$, for $\theta$ in a compact set": WITHIN | {"dropped": 1}
    },
    steps={r"$S^2A$ parameters give all laws $P>0$": LAWS, r"$S(S-1)A$ do": LAWS | {"dropped": 1}},
    others={r"if $P>0$, for $\theta$ in a compact set and x with $\sum_ix_i=0$": WITHIN | {"sum_zero": True}},
    mutants={
        r"if $P>0$, for $\theta$ in a compact set": WITHIN,
        r"the repair for all $\theta\in\mathbb R^d$": {"zeros": False, "dropped": 1},
        r"$S(S-1)A$ parameters give all laws": {"reach": 0, "dropped": 1},
        r"$S(S-2)A$ parameters give all laws $P>0$": LAWS | {"dropped": 2},
    },
)
def tabular_members(rng, trials, zeros=True, dropped=0, reach=1e3, sum_zero=False):
    r"""With all S indicators as $\psi$ there is $\sum_i\psi_i=1$, so that $\mathbb C[\psi]$ maps $(1,...,1)$ to 0.

    Then $\alpha^p=0$ in every tabular MDP, and Theorem 1, which divides by it, is void. MDPs with a probability 0 are
    not in the family at all (C03). Nor does it "need" $S^2A$ parameters: only differences within a row of $M$ matter.

    Correction: With $S-1$ indicators $\log(P(i)/P(0))$ are the natural parameters, and $\mathbb
    C=\operatorname{diag}(p)-pp^\top$ has determinant $\prod_{i=0}^{S-1}p_i>0$; its infimum is positive on compact sets
    only (C17). With S indicators the same is true modulo constants, for x of sum 0.

    Attack: First the uniform law for $S\le3$, exactly. Then random MDPs of two to five states: the log-probabilities
    are projected on $\psi^\top M\varphi$ with a free $M$, and eigenvalues taken at points and corners of a cube.
    """

    def violation(case):
        P, v = case["P"], case.get("v")
        if reach and members.of_indicators(P.shape[1], dropped, v if v is None else reach * v, sum_zero) < members.FLAT:
            return 1 if v is None else 1.0
        return members.outside(members.log(P), np.eye(len(P)), np.eye(P.shape[1])[:, dropped:])

    edges = [{"P": np.full((S, S), 1 / S)} for S in (2, 3) if dropped < S]
    return search(rng, trials, lambda rng: _draw_tabular(rng, zeros), violation, edges=edges, climb=False)


def _draw_tabular(rng, zeros):
    """The laws of a random MDP, (SA, S), and parameters (40, S) in the unit cube."""
    S, A = (int(n) for n in rng.integers(2, 6, 2))
    P = rng.dirichlet(np.ones(S), S * A) + 0.01
    P[0, -1] *= not zeros
    v = np.concatenate([rng.uniform(-1, 1, (20, S)), rng.choice([-1.0, 1.0], (20, S))])
    return {"P": P / P.sum(1, keepdims=True), "v": v}


@claim(
    "C76",
    statement=r"Factored MDPs, $P(s'|s,a)=\prod_jP_j(s'_j|c_j(s,a))$ with $c_j$ the parents of factor j, are in the "
    "family.",
    meaning="as for C75",
    tolerance=1e-7,
    repairs={
        r"if $P_j>0$: with indicators of the values of each factor but one as $\psi$, of $c_j$ as $\varphi$": LAWS
    },
    others={r"the repair with Assumption 1 for unit $x\in\mathbb R^p$ and a compact set": WITHIN},
    mutants={
        r"the repair with Assumption 1 for all $\theta\in\mathbb R^d$": WITHIN | {"reach": 1e3},
        r"if $P_j>0$, where $s'_2$ depends on $s'_1$ too": LAWS | {"within": True},
        r"if $P_j>0$, with the values of the factors as $\psi$": LAWS | {"numbers": True},
        r"if $P_j>0$, with indicators of single parents as $\varphi$": LAWS | {"single": True},
    },
)
def factored_members(rng, trials, zeros=True, reach=0, **form):
    r"""Factored MDPs with a deterministic factor have zeros, and the family without a base measure has none (C03).

    These are common: a component of the state that stays where it is, moves, or is set by the action.

    Correction: $\log P$ is $\sum_j\sum_{v\ne0}1\{s'_j=v\}\log(P_j(v|c_j)/P_j(0|c_j))$ plus a term without $s'$, which
    is $\psi^\top M\varphi$ with one parameter for each j, $v\ne0$ and value of $c_j$. The covariance of $\psi$ has one
    block for each factor, as in C75. Factors that depend on one another within $s'$ need products in $\psi$.

    Attack: First a deterministic bit, exactly, and the package's ring of machines. Then two random factors of two or
    three values, both of them parents of each: log-probabilities are projected on $\psi^\top M\varphi$.
    """

    def violation(case):
        if reach and np.linalg.eigvalsh(covariance(case["psi"], reach * case["v"])).min() < members.FLAT:
            return 1.0
        return members.outside(members.log(case["P"]), case["phi"], case["psi"])

    bit = {"P": np.array([[0.0, 1.0]]), "phi": np.ones((1, 1)), "psi": np.array([[0.0], [1.0]])}
    edges = [bit] if zeros else [] if reach else [members.machines()]
    return search(rng, trials, partial(members.draw_factored, zeros=zeros, **form), violation, edges=edges, climb=False)


EVERYTHING = {"law", "curvature", "reward"}
SMOOTH = {"singular": False}  # every coordinate has noise
LAW = SMOOTH | {"parts": {"law"}}
CURVED = SMOOTH | {"parts": {"law", "curvature"}}


@claim(
    "C77",
    statement=r"Linear-quadratic regulators, $s'\sim N(f,\Sigma)$ with $f=As+Bu$, quadratic costs, are in the class: "
    r"law, Assumption 1 at the true $\theta$, and $\mathbb E[r]\in[0,1]$.",
    meaning="1 if there is no density, an eigenvalue is below 1e-9 or a mean reward not in [0,1]; else an error",
    tolerance=1e-7,
    repairs={r"if $\Sigma>0$, for bounded s and u, monomials as $\varphi$, squares as $\psi$": SMOOTH | {"reach": 3.0}},
    others={
        r"if $\Sigma>0$, the law alone": LAW,
        r"if $\Sigma>0$, without costs, with $\psi=s'$ and base measure $N(0,\Sigma)$": CURVED | {"base": True},
    },
    mutants={
        r"if $\Sigma>0$, without costs": CURVED,
        r"if $\Sigma>0$, without Assumption 1": SMOOTH | {"parts": {"law", "reward"}},
        r"if $\Sigma>0$, the law alone, with $\psi=s'$": LAW | {"squares": False},
        r"if $\Sigma>0$, the law alone, with $\varphi=(s,u)$": LAW | {"linear": True},
    },
)
def regulators(rng, trials, singular=True, reach=1e6, parts=EVERYTHING, **form):
    r"""Without noise in all coordinates there is no density; and states and costs of a regulator are unbounded.

    For $m=1$, $\psi=(s',s'^2)$, the combination $(s'-f)^2$ has variance $2\sigma^4$ at squared length $1+4f^2$, so the
    smallest eigenvalue vanishes as $|f|\to\infty$. Costs leave [0,1], and $B_{\varphi,\mathbb A}=\infty$.

    Correction: $\log P=s'^\top\Sigma^{-1}f-\frac12s'^\top\Sigma^{-1}s'$ plus a term without $s'$, where $\Sigma^{-1}$
    has parameters of its own (C03, C06). As $2s'_i=(s_i'+1)^2-s_i'^2-1$ and $2s'_is'_j=(s'_i+s'_j)^2-s_i'^2-s_j'^2$,
    nonnegative $\psi$ suffice. On bounded sets all constants are finite, and costs can be scaled. With a base measure
    $\mathbb C[\psi]=\Sigma$ everywhere, but the paper drops it; Gaussian rewards need one as well (C02).

    Attack: First $\Sigma=0$, exactly. Then random systems with $m\le2$, up to $|(s,u)_i|=3$ or $10^6$: log-densities
    and costs are projected on the features.
    """

    def violation(case):
        return members.regulator_error(case, reach, parts, **form)

    edges = [{"root": np.zeros((1, 1))}] if singular else []
    return search(rng, trials, partial(members.draw_regulator, singular=singular), violation, edges=edges, climb=False)


TURNED = {(row, "exploration") for row in ("ren-ts", "ucrl-vtr", "uc-matrixrl")}
TURNED |= {(row, "planning") for row in ("exp-ucrl", "smrl", "uc-matrixrl")}
RATES = {"columns": ("rate",)}


@claim(
    "C78",
    statement=r"In Table 1 each rate is its source's with $T=KH$, and all marks of tractability are right.",
    meaning="number of the 24 entries that are contradicted",
    repairs={
        "with tractable exploration in the rows of Thompson sampling, UCRL-VTR and UC-MatrixRL, and tractable planning "
        "in those of EXP-UCRL, SMRL and UC-MatrixRL": {"turned": TURNED}
    },
    steps={"the rates": RATES, "the marks": {"columns": ("exploration", "planning")}},
    mutants={
        r"the rates with $T=K$": RATES | {"steps": "K"},
        "the repair with the marks of UCRL-VTR as printed": {"turned": TURNED - {("ucrl-vtr", "exploration")}},
        "the repair without tractable planning for BEF-RLSVI": {"turned": TURNED | {("bef-rlsvi", "planning")}},
    },
)
def table_1(rng, trials, columns=("rate", "exploration", "planning"), turned=frozenset(), steps="KH"):
    r"""The rates are right, but six of the sixteen marks do not follow from any one criterion.

    In UCRL-VTR and UC-MatrixRL $\mathbb E_\theta V$ is linear in $\theta$: at each step its maximum over an ellipsoid
    is explicit, $X^\top\hat\theta+\rho\|X\|_{\Sigma^{-1}}$. Thompson sampling with a linear mean, to which its rate
    belongs, draws from a normal law, as BEF-RLSVI does. Planning is tractable, says Section 2, where $s'$ is decoupled
    from $(s,a)$: so it is in $\varphi^\top M\psi$ of UC-MatrixRL and, if at all, in the family that EXP-UCRL and SMRL
    share with BEF-RLSVI. Besides, d counts parameters, base models or features, and UCRL-VTR and UC-MatrixRL clip at H.

    Correction: A step counts as tractable if values are linear in the parameter, or log-densities of draws quadratic;
    a plan if the rank of P stays bounded as states are added. This is about cost: accuracy is another matter (C69), and
    no test shows that the other steps are intractable.

    Attack: Powers in exact arithmetic; differences of order 2 or 3 on random lines; the numerical rank, up to
    $10^{-6}$, of random transition matrices of 40 and 80 states, for the model of each row.
    """
    marks, wrong = table1.measured_marks(int(rng.integers(2**31)), trials), []
    for row, (rate, *stated) in table1.PRINTED.items():
        if "rate" in columns and table1.powers(rate) != table1.powers(table1.SOURCES[row], steps):
            wrong.append([row, "rate"])
        for column, mark in zip(("exploration", "planning"), stated, strict=True):
            if column in columns and (mark != ((row, column) in turned)) != marks[column][row]:
                wrong.append([row, column])
    return Evidence(float(len(wrong)), {"entries": sorted(wrong)}, number=trials)


TERMS = {"part": "terms"}


@claim(
    "C79",
    statement=r"The bound improves that of EXP-UCRL by $\sqrt H$: $\sqrt{d^2H^4K}\ge\sqrt H\cdot\sqrt{d^3H^3K}$.",
    meaning="share of the right side, squared, that the left side does not reach",
    tolerance=1e-9,
    repairs={r"by the factor $\sqrt{H/d}$, an improvement where $H>d$": {"gain": "H/d"}},
    steps={
        r"the transition term is better by $\sqrt H$, for every $\eta$": TERMS,
        r"it is so for $\eta\le\beta^pB_{\varphi,\mathbb A}$": TERMS | {"largest": 1.0},
    },
    others={r"for $d=1$": {"d": 1}},
    mutants={
        r"for $d\le H$": {"small": True},
        "it is not larger": {"gain": "1"},
        r"the transition term is better by $\sqrt H$ at the best $\eta$ of each bound": {"part": "best"},
    },
)
def better_than_exp_ucrl(rng, trials, gain="H", part="rates", largest=np.inf, d=None, small=False):
    r"""The quotient of the two rates is $\sqrt{H/d}$: for $d\ge H$ the new bound is the larger one.

    Abstract and introduction claim $\sqrt H$; Section 3.2 adds that $\sqrt d$ is lost. The gain is one of analysis.
    EXP-UCRL's bound has $1+\beta^pB_{\varphi,\mathbb A}H/\eta$ under the root where the transition term of Theorem 1
    has 1: the quotient tends to 1 as the penalty $\eta$ grows, and at its best $\eta$ the product of H and
    $\gamma\approx d$ becomes about their sum. The lemma that removes the factor is false as it is used (C42, C80).

    Correction: $\sqrt{d^2H^4K}/\sqrt{d^3H^3K}=\sqrt{H/d}$ for all d, H and K.

    Attack: The printed rates at random d, H and K, in exact arithmetic; the transition terms of the two bounds, the
    other constants being 1 and $\delta=0.05$, at random $\eta$ and at the best of 400.
    """

    def violation(case):
        if part == "rates":
            target = {"H": case["H"], "H/d": Fraction(case["H"], case["d"]), "1": 1}[gain]
            return 1 - table1.squared("exp-ucrl", case) / (target * table1.squared("bef-rlsvi", case))
        ours, theirs = table1.transition_terms(case, None if part == "best" else min(case["eta"], largest))
        return float(1 - theirs / (case["H"] * ours))

    edges = [{"d": d or 2, "H": H, "K": 10**4, "eta": 1e6} for H in (2 if small else 1, 30)]
    return search(rng, trials, partial(_draw_sizes, d=d, small=small), violation, edges=edges, climb=False)


def _draw_sizes(rng, d, small):
    """Random K, H, eta and d, which may be given, or at most H."""
    H, K, free = (int(2 ** rng.uniform(0, top)) for top in (7, 20, 7))
    return {"d": d or (min(free, H) if small else free), "H": H, "K": K, "eta": 10 ** rng.uniform(-3, 6)}


SAME, FIRST, SECOND = {"extra": False}, {"remark": "minimum"}, {"remark": "simulation"}


@claim(
    "C80",
    statement=r"With $\min\{1,\cdot\}$ at each step $\sum_{k,h}\|\bar G_k^{-1/2}G_h\bar G_k^{-1/2}\|$ is at most "
    r"$2dL$, $L=\log(1+\frac\alpha\eta BHK)$, and without it a factor H is lost; the simulation lemma costs $\sqrt H$.",
    meaning="share of the larger side by which an inequality fails, squared for the simulation lemma",
    tolerance=1e-9,
    repairs={"with the minimum over a whole episode; the simulation lemma costs nothing": SAME | {"over": "episode"}},
    steps={"the first remark": FIRST, "the second remark": SECOND},
    others={
        r"at most $dL/\log2$ episodes more than double $\det\bar G$, and the sum over all others, with no minimum, is "
        r"at most $dL/\log2$": FIRST | {"over": "calm"}
    },
    mutants={
        "the first bound without a minimum": FIRST | {"over": "nothing"},
        "the first repair with 1 in place of 2": FIRST | {"over": "episode", "constant": 1},
        "the simulation lemma gains a tenth": SECOND | SAME | {"factor": Fraction(9, 10)},
    },
)
def remarks_on_transitions(rng, trials, over="step", extra=True, remark="", constant=2, factor=1):
    r"""The minimum at each step does not save a factor H, and the paper's decomposition is the simulation lemma.

    $\bar G_k$ does not change within an episode, so all its H norms can be 1 (C42). And $\hat V_1-V_1=\sum_h\mathbb
    E_P[(\hat P-P)\hat V_{h+1}]$ is that lemma: with $|(\hat P-P)\hat V|\le H\|\hat P-P\|_1$ and Pinsker's inequality it
    gives the printed $H\sum_h\sqrt{2\operatorname{KL}}$. In Table 1 the bound of Ren et al. has no larger power of H.

    Correction: $\sum_k\min\{1,\sum_hx_{kh}\}\le dL/\log2$ (C41). If $\det\bar G$ at most doubles in episode k, the
    eigenvalues $\mu_i$ of $\bar G_k^{-1/2}\sum_hG_h\bar G_k^{-1/2}$ have $1+\sum_i\mu_i\le\prod_i(1+\mu_i)\le2$: the
    sum over h is at most 1. The other episodes cost at most H each, $dHL/\log2$ in all: so the factor H can be saved.

    Attack: Random designs of up to three dimensions, and pairs of Markov chains; first an episode of ten norms 1, and
    the chains $(\frac12,\frac12)$ and $(\frac14,\frac34)$, exactly.
    """

    def violation(case):
        if "P" in case:
            return transport.simulation_gap(case, extra, factor)
        return transport.excess_of_potentials(case, over, constant)

    edges = [case for case in transport.EDGES if remark in ("", "minimum" if "a" in case else "simulation")]
    return search(rng, trials, partial(transport.draw, remark=remark), violation, edges=edges, climb=False)


USES = fits.uses()
CONTINUOUS, BOUNDED = ("sharp", "broad", "gaussian"), ("finite", "sharp", "broad")
LISTED = dict.fromkeys(("ais", "mcmc-mle", "contrastive-divergence", "dual-embedding", "score-matching"), fits.CASES)
LISTED |= {"gaussian": ("gaussian",), "shah": BOUNDED}
FITTING = LISTED | {"score-matching": CONTINUOUS, "shah": ("finite", "broad")}


@claim(
    "C81",
    statement=r"Penalised maximum likelihood is explicit for Gaussian laws, and each listed technique approximates it: "
    "the loss of Shah et al. for bounded supports, annealing, MCMC, contrastive divergence, score matching and dual "
    "embedding for all laws.",
    meaning="log10 of the largest mean KL error over 70 times that of maximum likelihood; 3 where none is possible",
    repairs={
        "with score matching for continuous states only, weighted at their bounds, and the loss of Shah et al. for "
        "laws near the base measure only": {"scope": FITTING}
    },
    others={"one Newton step on each episode, for all laws": {"scope": {"online-newton": fits.CASES}}},
    mutants={
        "score matching for finite state spaces": {"scope": {"score-matching": ("finite",)}},
        "score matching without weights on a bounded interval": {"scope": {fits.UNWEIGHTED: ("broad",)}},
        "the loss of Shah et al. for sharp laws": {"scope": {"shah": ("sharp",)}},
        "the closed form for all continuous laws": {"scope": {"gaussian": CONTINUOUS}},
    },
)
def tractable_likelihood(rng, trials, scope=None):
    r"""Two of the techniques do not fit the whole family.

    Score matching differentiates in $s'$, which tabular and factored MDPs do not allow; on a bounded domain the
    integration by parts leaves a term at the boundary, and without weights another law is the limit. The loss
    $\sum_t\exp(-\theta^\top U_t^\top(\psi(s'_t)-\mathbb E_0\psi))$ is consistent, but is no approximation of the
    likelihood: its terms vary by $\exp|\theta^\top U^\top\psi|$, and a sharp law needs about
    $\exp\operatorname{KL}(p_0,p_\theta)$ data. (Neal's method is annealed importance sampling.)

    Correction: Contrastive divergence has no bias within the model: chains of $p_{\theta^\star}$ that start in the data
    leave it in place. It and annealing lag behind by factors up to 50 on sharp laws, MCMC and dual embedding by less
    than 10. Closed form and score matching take one solve, $O(d^3)$ per episode, the others several.

    Attack: The package's estimators on the same random play, 2,000 transitions and $\eta=0.01$: a tabular MDP, sharp
    and broad laws on [0,1], and a linear-Gaussian system.
    """
    ratios, worst = fits.errors(int(rng.integers(2**31)), 6 + trials // 20), Worst()
    for technique, case in [(name, case) for name, cases in (scope or LISTED).items() for case in cases]:
        ratio = ratios[technique, case]
        worst.see(3.0 if ratio is None else np.log10(ratio / 70), {"technique": technique, "laws": case})
    table = {f"{technique}, {case}": ratio for (technique, case), ratio in ratios.items()}
    return Evidence(float(worst.value), worst.instance, number=worst.number, details={"error / that of ML": table})
