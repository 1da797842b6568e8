"""What the proof of Theorem 1 bounds, measured in every episode of BEF-RLSVI.

    bad_rounds   episodes with a feature norm of at least 1, played and imagined, against C_d and its correction
    regions      distance of the estimates from the truth against the radii of the confidence regions
    optimism     how often the perturbed value of the first state is at least V*, against Phi(-1)

Optimism is measured with the default penalty eta, at multiples of Theorem 1's x_k. With a large eta no round is bad,
so bad rounds are counted with a small one; the printed radius is too small for large ones, so regions are tried with
a large one too.
"""

import math

import numpy as np

from befrl import agents
from befrl.analysis.intervals import clopper_pearson, mean_interval
from befrl.analysis.regions import PARAMETERS, RADII, outside, ratios
from befrl.experiment import bad_rounds
from befrl.experiment.episodes import play
from befrl.experiment.loop import Lookup
from befrl.experiment.spec import RunSpec

ALGORITHM = "bef-rlsvi"
LEVEL, DELTA = 0.95, 0.05
OPTIMISTIC = 0.5 * math.erfc(1 / math.sqrt(2))  # Phi(-1)
# Multiples of Theorem 1's x_k: for optimism, and for bad rounds.
MULTIPLES, BAD_MULTIPLES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8), (1.0, 1e-6)
# eta: small, as a share of the one above which no round is bad; the default; and large.
SMALL, DEFAULT, LARGE = 0.1, 1.0, 10.0
MARKS = 14  # episodes of the tables, evenly spaced on a logarithmic axis
LOCKSTEP = 400

RUN = {
    "instance": "name of the instance in the study",
    "eta": "weight of the penalty",
    "multiple": "multiple of Theorem 1's x_k that scales the noise",
    "episodes": "number of episodes K",
    "seeds": "number of seeds",
}
TABLES = {
    "bad_rounds": {
        **RUN,
        "rounds": "played: bad rounds of the played episodes; imagined: expected number of bad rounds of episodes from "
        "the same first states under the estimated transitions",
        "k": "last episode counted, from 1",
        "mean": "mean over seeds of the number of bad rounds in episodes 1 to k",
        "low": f"lower end of the interval of the mean at level {LEVEL}",
        "high": f"upper end of the interval of the mean at level {LEVEL}",
        "most": "largest number of a seed",
        "printed": "the paper's bound C_d",
        "corrected": "bound of the ledger: for played rounds C45b, corrected; for imagined ones C45c, corrected, from "
        "the exact probabilities of a bad round and the divergences of the same runs, averaged over seeds",
    },
    "regions": {
        **RUN,
        "parameter": "transitions: theta_p; rewards: theta_r",
        "radius": "printed: radius of the paper's corollary; corrected: smallest radius that the ledger confirms",
        "k": "episode, from 1; its estimates use the episodes before it",
        "covered": "share of the seeds whose regions contain the truth in all episodes 1 to k",
        "low": f"lower end of the exact interval of the share at level {LEVEL}",
        "high": f"upper end of the exact interval of the share at level {LEVEL}",
        "promised": "1 - delta, the share that the region promises for all episodes together",
        "median": "median over seeds of the distance over the radius in episode k",
        "upper": "its 0.95 quantile over seeds",
        "largest": "its largest value over seeds and over the episodes 1 to k",
        "left": "share of the seeds whose estimate left the compact set of the constants in some episode of 1 to k",
        "missed_inside": "share of the seeds whose region missed the truth in some episode of 1 to k in which the "
        "estimate was inside that set",
    },
    "optimism": {
        **RUN,
        "x": "the noise scale x_k itself",
        "first": "first episode of a block, from 1",
        "k": "last episode of the block",
        "share": "share of the block's episodes in which the perturbed value of the first state is at least V*, mean "
        "over seeds",
        "low": f"lower end of the interval of the share at level {LEVEL}",
        "high": f"upper end of the interval of the share at level {LEVEL}",
        "promised": "Phi(-1), the least probability of optimism that the proof needs",
    },
}


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
    runs = {
        setting: dict(zip(RUN, (name, *setting, episodes, seeds), strict=True)) | {"log": _of_setting(log, i)}
        for i, setting in enumerate(settings)
    }
    marks = np.unique(np.geomspace(1, episodes, MARKS).round().astype(int))
    small_runs = [runs[small, multiple] for multiple in BAD_MULTIPLES]
    theory_runs = [runs[eta, 1.0] for eta in (small, DEFAULT, LARGE)]
    return {
        "bad_rounds": [row for run in small_runs for row in _bad_rounds(instance, run, marks)],
        "regions": [row for run in theory_runs for row in _regions(run, marks)],
        "optimism": [row for multiple in MULTIPLES for row in _optimism(runs[DEFAULT, multiple], marks)],
    }


def _measure(spec, count):
    """Play some seeds in all settings; every quantity has shape (settings, seeds, K)."""
    instance, rows = spec.instance, np.arange(spec.rows)
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
    log["x"] = np.broadcast_to(agent.x[rows, None], (spec.rows, spec.episodes))
    return {key: value.reshape(count, -1, spec.episodes) for key, value in log.items()}


def _of_setting(log, i):
    return {key: value[i] for key, value in log.items()}


def _row(run, **values):
    return {key: run[key] for key in RUN} | values


def printed_limit(instance, eta):
    """C_d = 3d/log 2 log(1 + alpha_r |A|^2 B_phi_A^2/(eta log 2))."""
    size = np.linalg.norm(instance.model.features.trace, 2, axis=(-2, -1)).max()
    return _limit(instance, (size * instance.constants["B_phi_A"]) ** 2, eta)


def corrected_limit(instance, eta):
    """C45b, corrected: C_d with min(d, p) B_phi_A for |A|^2 B_phi_A^2."""
    model = instance.model
    return _limit(instance, min(model.d, model.features.p) * instance.constants["B_phi_A"], eta)


def _limit(instance, size, eta):
    log2 = math.log(2)
    return 3 * instance.model.d / log2 * math.log1p(instance.constants["alpha_r"] * size / (eta * log2))


def _bad_rounds(instance, run, marks):
    """Rows of the table of bad rounds."""
    log, eta = run["log"], run["eta"]
    imagined_limit = (2 * log["chance"] + 2 * np.minimum(log["KL"], 1.0)).cumsum(1).mean(0)
    found = []
    for rounds in ("played", "imagined"):
        counts = log[rounds].cumsum(1)
        for k in marks:
            now = counts[:, k - 1]
            low, high = mean_interval(now, LEVEL, least=0.0)
            limit = corrected_limit(instance, eta) if rounds == "played" else float(imagined_limit[k - 1])
            numbers = {"mean": float(now.mean()), "low": float(low), "high": float(high), "most": float(now.max())}
            limits = {"printed": printed_limit(instance, eta), "corrected": limit}
            found.append(_row(run, rounds=rounds, k=int(k), **numbers, **limits))
    return found


def _regions(run, marks):
    """Rows of the table of confidence regions."""
    found = []
    for parameter in PARAMETERS:
        left = run["log"][parameter] > 0.0
        ever_left = np.logical_or.accumulate(left, axis=1)
        for radius in RADII:
            ratio = run["log"][parameter, radius]
            missed_inside = np.logical_or.accumulate((ratio > 1.0) & ~left, axis=1)
            largest = np.maximum.accumulate(ratio, axis=1)
            for k in marks:
                inside = int((largest[:, k - 1] <= 1.0).sum())
                low, high = clopper_pearson(inside, len(ratio), LEVEL)
                median, upper = (float(np.quantile(ratio[:, k - 1], q)) for q in (0.5, 0.95))
                share = {"covered": inside / len(ratio), "low": float(low), "high": float(high)}
                distance = {"median": median, "upper": upper, "largest": float(largest[:, k - 1].max())}
                names = {"parameter": parameter, "radius": radius, "k": int(k)}
                why = {
                    "left": float(ever_left[:, k - 1].mean()),
                    "missed_inside": float(missed_inside[:, k - 1].mean()),
                }
                found.append(_row(run, **names, **share, promised=1 - DELTA, **distance, **why))
    return found


def _optimism(run, marks):
    """Rows of the table of optimism: the episodes from one mark, excluded, to the next make a block."""
    log, found, first = run["log"], [], 1
    for k in marks:
        shares = (log["gap"][:, first - 1 : k] >= 0.0).mean(1)
        low, high = mean_interval(shares, LEVEL, least=0.0, most=1.0)
        numbers = {
            "share": float(shares.mean()),
            "low": float(low),
            "high": min(1.0, float(high)),
            "promised": OPTIMISTIC,
        }
        found.append(_row(run, x=float(log["x"][0, 0]), first=first, k=int(k), **numbers))
        first = int(k) + 1
    return found
