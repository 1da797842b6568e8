"""Theorem 1 itself: MDPs on which BEF-RLSVI has linear regret, against the printed bound.

zero      p = 1, rewards in [0, 1]: the noise of the untried best action cancels between two imagined steps; docs/
          claims/C62.md has the proof, `befrl.instances.trap_zero` the same MDP with smaller sizes
gaussian  the same with Gaussian states and rewards, whose constants are 1 for every theta
two       p = 2: `befrl.instances.trap_two`, shut for ever under every rule for ties
one step  H = 1, a linear bandit: no trap
"""

import functools
import math

import numpy as np
from scipy.special import ndtr

from befrl import agents, instances
from befrl.claims.toolbox.chances import LEVEL, lower_limit, upper_limit
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import Worst, listed
from befrl.experiment.environment import Environment
from befrl.experiment.loop import make_agent
from befrl.experiment.spec import RunSpec
from befrl.instances.trap_two import NEW, Parameters
from befrl.model import rewards
from befrl.model.theorem import first_below, terms, theorem_x

TWO = {"name": "trap-two", "hi": Parameters().hi}
USES = [*agents.modules("bef-rlsvi", {}), *instances.modules(TWO["name"], {})]
EPISODES = 20  # of each simulated run
SHORT, FEW = 8, 300  # episodes and runs of the package's agent, which is slower
BEST = {"zero": 5.0, "gaussian": 0.5}  # natural parameter of the reward of the best action
NOISES = (1e-6, 1.0, 1e6, 1e12)  # x of the runs whose shares are reported
MEANS = rewards.make("truncated-exponential", 1.0)


def regret_bound(rng, trials, mdps=("zero", "gaussian", "two"), w=12.0, eta=None, **reading):
    """C62: the regret bound of Theorem 1."""
    worst, seed, runs = Worst(), int(rng.integers(2**32)), 400 + 20 * trials
    cases, details = list(_cases(rng, trials, mdps, w, eta)), {}
    for number, case in enumerate(cases):
        value, found = _excess(case, runs, (seed, number), LEVEL / len(cases), **reading)
        worst.see(value, found)
        details.setdefault(case["mdp"], found)
        if case["mdp"] == "zero" and "shares" not in details:
            details["shares"] = [_share(tuple(case.items()), x, runs, (seed, i)) for i, x in enumerate(NOISES)]
    number = sum(FEW if case["mdp"] == "two" else runs for case in cases)
    return Evidence(worst.value, listed(worst.instance), "test", number, details=listed(details))


def _cases(rng, trials, mdps, w, eta):
    """Each MDP with fixed and with random sizes and constants; the walk of m is long enough for the penalty."""
    for mdp in mdps:
        yield {"mdp": mdp, "w": w, "eta": eta or 0.5, "delta": 0.05, "c": 1.0}
        for _ in range(1 + trials // 100 if mdp in BEST else 0):
            drawn, delta, c = 10.0 ** rng.uniform((-1, -3, 0), (0, -1, 1))
            yield {"mdp": mdp, "w": w + rng.uniform(0, 4), "eta": eta or drawn, "delta": delta, "c": c}


def _excess(case, runs, seed, level, K=None, c=None, scale=1.0, factor=1.0, far=10.0, allowed=None):
    """log(regret/bound) at a regret that is exceeded with more than the allowed probability, and the instance."""
    z = constants(case) | {"eta": case["eta"], "delta": case["delta"], "c": c or case["c"]}
    allowed = allowed or 7 * case["delta"]

    def x(K):
        return scale * theorem_x(z, z["d"], z["H"], K, z["eta"], z["delta"], known_reward=False)

    def bound(K):
        return factor * sum(terms(z | {"K": K, "x": x(K)})["theorem"].values())

    equal = first_below(bound, gap(case))
    K = K or far * equal
    chance, firsts = _chance(tuple(case.items()), x(K), K, runs, seed, level)
    if chance > allowed:
        regret = gap(case) * K
    else:
        K, regret = EPISODES, gap(case) * np.quantile(firsts - 1, 1 - allowed)
    found = {"m": walk(case), "x": x(K), "chance": chance, "allowed": allowed, "K": K, "regret": regret}
    found |= {"bound": bound(K), "equal at K": equal, "gap": gap(case)}
    return math.log(max(regret, 1e-9) / found["bound"]), case | found


def walk(case):
    """The natural parameter m of the transitions in the traps for p = 1: the first estimate leaves the middle."""
    return case["w"] * (3 + 4 * case["eta"])


@functools.cache
def _two():
    return instances.build(TWO["name"], {})


def constants(case):
    """The constants of Theorem 1, as `befrl.model.theorem` names them."""
    if case["mdp"] == "two":
        made = _two()
        A = float(np.linalg.norm(made.model.features.trace, 2, axis=(-2, -1)).max())
        return made.constants | {"A": A, "d": float(made.model.d), "H": float(made.horizon)}
    unit = dict.fromkeys(("alpha_p", "beta_p", "alpha_r", "beta_r"), 1.0)
    if case["mdp"] == "one step":
        return unit | {"B_A": 1.0, "B_phi_A": 1.0, "A": 1.0, "d": 2.0, "H": 1.0}
    if case["mdp"] == "zero":
        unit |= {"alpha_r": float(MEANS.variance(np.array(BEST["zero"]))), "beta_r": 1 / 12}
    return unit | {"B_A": 2 * walk(case), "B_phi_A": 0.5, "A": 2.0, "d": 2.0, "H": 2.0}


def gap(case):
    """The regret of an episode without the action new, at least: V* minus the largest value of the others."""
    if case["mdp"] == "two":
        Q, V = _two().optimum
        start = _two().start_masses > 0
        return float((V[0] - np.delete(Q[0], NEW, 1).max(1))[start].min())
    return 1.0 if case["mdp"] == "one step" else float(_excess_mean(case["mdp"], np.array(BEST[case["mdp"]])))


def _excess_mean(mdp, c):
    """The mean reward at the natural parameter c, less 1/2."""
    return MEANS.mean(c) - 0.5 if mdp == "zero" else c


@functools.lru_cache(64)
def _chance(case, x, K, runs, seed, level):
    """A lower bound of the chance that new is never played in K episodes, and the first episodes with new, by run."""
    case = dict(case)
    if case["mdp"] == "two":  # proved for every K: (1 - e^(-2 hi))^2, if the runs do not contradict it
        first = first_trials_two(x, case["eta"], seed[0])
        seen = upper_limit(int((first > SHORT).sum()), FEW, level)
        return min(float(-np.expm1(-2 * TWO["hi"])) ** 2, seen), first
    first = first_trials(case, x, runs, EPISODES, np.random.default_rng(seed))
    return lower_limit(int((first > EPISODES).sum()), runs, level) - later(case, K), first


@functools.lru_cache(64)
def _share(case, x, runs, seed):
    """The share of runs that have not played new in the simulated episodes."""
    return float((first_trials(dict(case), x, runs, EPISODES, np.random.default_rng(seed)) > EPISODES).mean())


def later(case, K):
    """A bound on the chance that new is first played in one of the episodes 2, ..., K: Theorem A of docs/claims/C62.md.

    q (K + 3/pi sum_n sqrt(1 + n/(2 eta))), the sum over n < K, with q = Phi(-w)/(1 - 2 Phi(-w)); free of x.
    """
    if case["mdp"] == "one step":
        return 1.0
    tail = ndtr(-case["w"])
    return float(tail / (1 - 2 * tail) * (K + 3 / math.pi * (K + 2 / 3 * K**1.5 / math.sqrt(2 * case["eta"]))))


def middle(v, w):
    """The chance of |z| <= w for z ~ N(v, 1); the cut of the trap zero at R >= m + 3w is below rounding."""
    return ndtr(w - np.abs(v)) - ndtr(-w - np.abs(v))


def first_trials(case, x, runs, episodes, rng):
    """Run BEF-RLSVI; the episodes, from 1, in which each run first plays new, or episodes + 1.

    Up and down have the features 1 and -1 of the first parameter; with the sign of down turned, both move z to N(m, 1)
    and pay a reward of natural parameter 0. While new is untried its estimates are 0. A run ends when it plays new.
    """
    mdp, eta = case["mdp"], case["eta"]
    trace = 1.0 if mdp == "one step" else 2.0  # the diagonal of bold A
    first, moved, paid, theta_p, theta_r = np.full(runs, episodes + 1), *np.zeros((4, runs))
    for n in range(episodes):
        noise = rng.standard_normal((2, runs))
        known, new = theta_r + np.sqrt(x / (trace * eta + n)) * noise[0], np.sqrt(x / (trace * eta)) * noise[1]
        if mdp == "one step":
            tried, sign = new > np.abs(known), np.sign(known)
        else:
            imagined = 1 - middle(0.0, case["w"]) + middle(theta_p, case["w"])
            tried = imagined * _excess_mean(mdp, new) >= _excess_mean(mdp, np.abs(known))
            sign = np.sign(known)
        first = np.where(tried & (first > episodes), n + 1, first)
        moved += walk(case) + rng.standard_normal(runs)
        paid += sign * (rng.random(runs) - 0.5 if mdp == "zero" else rng.standard_normal(runs))
        theta_p = moved / (n + 1 + 2 * eta)
        theta_r = _estimate(mdp, paid, n + 1, trace * eta, theta_r)
    return first


def _estimate(mdp, paid, n, pull, start):
    """The root t of paid - n (mean reward at t, less 1/2) = pull t, by Newton's method."""
    if mdp != "zero":
        return paid / (n + pull)
    t = start
    for _ in range(30):
        step = (paid - n * _excess_mean(mdp, t) - pull * t) / (n * MEANS.variance(t) + pull)
        t = t + step
        if np.abs(step).max() < 1e-10:
            break
    return t


@functools.lru_cache(8)
def first_trials_two(x, eta, seed, ties="random"):
    """The same for the package's BEF-RLSVI on trap-two."""
    settings = [{"x": min(x, 1e12), "eta": eta}]
    spec = RunSpec.of(_two(), TWO["name"], "bef-rlsvi", settings, SHORT, range(FEW), root_seed=seed, ties=ties)
    environment, agent = Environment(_two(), seed, TWO["name"], spec.row_seeds), make_agent(spec)
    first = np.full(FEW, SHORT + 1)
    for k in range(1, SHORT + 1):
        trajectory = environment.rollout(agent, agent.plan(k - 1).policy)
        first = np.where((trajectory.actions == NEW).any(1) & (first > k), k, first)
        agent.update(trajectory)
    return first
