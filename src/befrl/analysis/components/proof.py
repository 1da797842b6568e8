"""What the proof of Theorem 1 bounds, measured in every episode of BEF-RLSVI.

    bad_rounds   episodes with a feature norm of at least 1, played and imagined, against C_d and its correction
    example      the same in the example of claim C45c, which has no seeds
    regions      distance of the estimates from the truth against the radii of the confidence regions
    optimism     how often the perturbed value of the first state is at least V*, against Phi(-1)

Only a small eta has bad rounds; the printed radius is too small for a large eta, which is tried for the regions.
"""

import math

import numpy as np

from befrl import agents
from befrl.analysis import imagined_rounds
from befrl.analysis.intervals import clopper_pearson, mean_with_interval, share_with_interval
from befrl.common.defaults import LEVEL
from befrl.experiment import bad_rounds
from befrl.experiment.episodes import play
from befrl.experiment.loop import Lookup
from befrl.experiment.spec import RunSpec
from befrl.learning.confidence import log_determinant
from befrl.model.theorem import PHI
from befrl.numerics import linalg

ALGORITHM = "bef-rlsvi"
DELTA = 0.05
MULTIPLES, BAD_MULTIPLES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8), (1.0, 1e-6)  # of x_k, for optimism and for bad rounds
SMALL, DEFAULT, LARGE = 0.1, 1.0, 10.0  # eta; SMALL is a share of the eta above which no round is bad
MARKS = 14  # episodes of the tables, evenly spaced on a logarithmic axis
LOCKSTEP = 400

PARAMETERS, RADII = ("transitions", "rewards"), ("printed", "corrected")
RUN = ("instance", "eta", "multiple", "episodes", "seeds")


def uses():
    """BEF-RLSVI with its default estimator and planner."""
    return agents.modules(ALGORITHM, agents.parameters(ALGORITHM, {}))


def study(name, instance, root_seed, episodes: int, seeds: int):
    """The three tables of one instance."""
    small = SMALL * bad_rounds.harmless_eta(instance)
    settings = [(DEFAULT, multiple) for multiple in MULTIPLES]
    settings += [(small, multiple) for multiple in BAD_MULTIPLES] + [(LARGE, 1.0)]
    values = [{"eta": eta, "scale": multiple, "delta": DELTA} for eta, multiple in settings]
    spec = RunSpec.of(instance, name, ALGORITHM, values, episodes, range(seeds), root_seed=root_seed)
    groups = [_measure(group, len(settings)) for group in spec.groups(LOCKSTEP)]
    log = {key: np.concatenate([group[key] for group in groups], axis=1) for key in groups[0]}
    marks = np.unique(np.geomspace(1, episodes, MARKS).round().astype(int)).tolist()

    def rows(function, chosen, *given):
        found = []
        for setting in chosen:
            labels = dict(zip(RUN, (name, *setting, episodes, seeds), strict=True))
            own = {key: value[settings.index(setting)] for key, value in log.items()}
            found += [labels | row for row in function(own, marks, *given)]
        return found

    return {
        "bad_rounds": rows(_bad_rounds, [(small, multiple) for multiple in BAD_MULTIPLES], *limits(instance, small)),
        "example": [{"instance": name, **row} for row in imagined_rounds.rows()],
        "regions": rows(_regions, [(eta, 1.0) for eta in (small, DEFAULT, LARGE)]),
        "optimism": rows(_optimism, [(DEFAULT, multiple) for multiple in MULTIPLES]),
    }


def _measure(spec, count):
    """Play some seeds in all settings; every quantity has shape (settings, seeds, K)."""
    instance = spec.instance
    regions = [(parameter, kind) for parameter in PARAMETERS for kind in RADII]
    keys = (*regions, *PARAMETERS, "played", "chance", "imagined", "KL", "gap")
    log = {key: np.empty((spec.rows, spec.episodes)) for key in keys}
    at, best = Lookup(instance.model.space), instance.optimum[1][0]
    for k, (agent, plan, trajectory) in enumerate(play(spec)):
        squares = bad_rounds.squared_norms(instance, agent.learner)
        found = bad_rounds.chances(instance, agent.learner, plan.policy, squares >= 1.0)
        for key, value in zip(("chance", "imagined", "KL"), found, strict=True):
            log[key][:, k] = at.first(value, trajectory)
        log["played"][:, k] = (at.visits(squares, trajectory) >= 1.0).any(1)
        log["gap"][:, k] = at.first(plan.values - best, trajectory)
        for key, value in (ratios(instance, agent.learner, DELTA) | outside(instance, agent.learner)).items():
            log[key][:, k] = value
    log["x"] = np.broadcast_to(agent.x[:, None], (spec.rows, spec.episodes))
    return {key: value.reshape(count, -1, spec.episodes) for key, value in log.items()}


def ratios(instance, learner, delta):
    """Distance over radius of the confidence regions, {(parameter, radius): (n,)}; up to 1 the truth is inside.

    With Gbar = eta/alpha A + sum G and D = det(I + beta/eta A^-1 sum G), which bounds C_{A,k} (Appendix C),

        printed     |theta^ - theta*|^2_Gbar <= 2/alpha (B_A^2 + log(2 D/delta))
        corrected   |theta^ - theta*|^2_Gbar <= 2/alpha (eta/2 B_A^2 + log(1/delta) + log(D)/2)

    The corrected radius is the smallest one that the ledger confirms (C23, C24, C26, C27). For rewards the correction
    also replaces G by x x' with x_i = B' A_i phi, and alpha_r by inf Var: rewards depend on nothing else of theta_r.
    """
    model, constants, found = instance.model, instance.constants, {}
    counts, eta, bound = learner.data.counts, learner.eta, constants["B_A"] ** 2
    for place, (parameter, i) in enumerate(zip(PARAMETERS, "pr", strict=True)):
        alpha, beta = constants[f"alpha_{i}"], constants[f"beta_{i}"]
        design = model.features.plus_trace(model.features.design(counts), eta / alpha)
        square = np.square(learner.errors(instance.theta_p, instance.theta_r, design)[place])
        log_D = log_determinant(model.features, counts, beta / eta)
        found[parameter, "printed"] = np.sqrt(square / (2 / alpha * (bound + np.log(2 / delta) + log_D)))
        if parameter == "rewards":
            alpha, change = alpha / (model.B @ model.B), learner.theta_r - instance.theta_r
            seen = (counts * np.square(model.reward_natural(change))).sum((1, 2))
            square = seen + eta / alpha * linalg.quadratic(model.features.trace[None], change)
        size = eta / 2 * bound + np.log(1 / delta) + log_D / 2
        found[parameter, "corrected"] = np.sqrt(square / (2 / alpha * size))
    return found


def outside(instance, learner):
    """Whether an estimate is outside the compact set on which alpha and beta are taken, {parameter: (n,)}."""
    model, constants = instance.model, instance.constants
    size_p = np.linalg.norm(model.features.natural(learner.theta_p), axis=-1).max((1, 2))
    size_r = np.abs(model.reward_natural(learner.theta_r)).max((1, 2))
    return {"transitions": size_p > constants["radius_p"], "rewards": size_r > constants["radius_r"]}


def limits(instance, eta):
    """C_d = 3d/log 2 log(1 + alpha_r z/(eta log 2)): z = |A|^2 B_phi_A^2, corrected (C45b) min(d, p) B_phi_A."""
    model, bound, log2 = instance.model, instance.constants["B_phi_A"], math.log(2)
    size = np.linalg.norm(model.features.trace, 2, axis=(-2, -1)).max()
    factors = (size * bound) ** 2, min(model.d, model.features.p) * bound
    return [3 * model.d / log2 * math.log1p(instance.constants["alpha_r"] * each / (eta * log2)) for each in factors]


def _bad_rounds(log, marks, printed, corrected):
    imagined_limit = (2 * log["chance"] + 2 * np.minimum(log["KL"], 1.0)).cumsum(1).mean(0)
    for rounds, limit in (("played", np.full_like(imagined_limit, corrected)), ("imagined", imagined_limit)):
        counts = log[rounds].cumsum(1)
        for k in marks:
            now = counts[:, k - 1]
            numbers = mean_with_interval(now, LEVEL, least=0.0) | {"most": now.max()}
            yield {"rounds": rounds, "k": k, **numbers, "printed": printed, "corrected": limit[k - 1]}


def _regions(log, marks):
    for parameter in PARAMETERS:
        left = log[parameter] > 0.0
        ever_left = np.logical_or.accumulate(left, axis=1)
        for radius in RADII:
            ratio = log[parameter, radius]
            missed_inside = np.logical_or.accumulate((ratio > 1.0) & ~left, axis=1)
            largest = np.maximum.accumulate(ratio, axis=1)
            for k in marks:
                inside = int((largest[:, k - 1] <= 1.0).sum())
                low, high = clopper_pearson(inside, len(ratio), LEVEL)
                yield {
                    "parameter": parameter,
                    "radius": radius,
                    "k": k,
                    "covered": inside / len(ratio),
                    "low": low,
                    "high": high,
                    "promised": 1 - DELTA,
                    "median": np.quantile(ratio[:, k - 1], 0.5),
                    "upper": np.quantile(ratio[:, k - 1], 0.95),
                    "largest": largest[:, k - 1].max(),
                    "left": ever_left[:, k - 1].mean(),
                    "missed_inside": missed_inside[:, k - 1].mean(),
                }


def _optimism(log, marks):
    """Rows of the table of optimism; a block has the episodes after one mark up to the next."""
    first = 1
    for k in marks:
        shares = (log["gap"][:, first - 1 : k] >= 0.0).mean(1)
        numbers = share_with_interval(shares, LEVEL, ("share", "low", "high"))
        yield {"x": log["x"][0, 0], "first": first, "k": k, **numbers, "promised": PHI}
        first = k + 1
