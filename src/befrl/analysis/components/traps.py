"""Whether an agent ever takes the best first action of a trap, and how its regret grows.

In a trap (`instances/trap_zero.py`, `trap_one.py`, `trap_two.py`) the best first action looks bad until it is tried,
and noise on the reward's parameter does not change that. The regret of an episode is at least

    gap = min V*_1(s) - Q*_1(s, a)  over first states s and actions a that are not optimal

if its first action is not optimal, and in the traps smaller otherwise. So a seed has never tried the best first action
if no episode's regret is below the gap.
"""

import numpy as np

from befrl import agents
from befrl.analysis.intervals import clopper_pearson, mean_interval, mean_with_interval
from befrl.common.defaults import LEVEL
from befrl.experiment import runs
from befrl.experiment.settings import setting_text
from befrl.experiment.spec import RunSpec
from befrl.model.theorem import theorem_x

ETAS = (0.1, 1.0, 10.0)
NOISES = (1e-2, 1.0, 1e1, 1e3, 1e6)  # x of BEF-RLSVI
RUNS = (  # algorithm, how ties are broken, settings that run in lock step
    ("bef-rlsvi", "random", [{"x": x, "eta": eta} for eta in ETAS for x in NOISES]),
    ("bef-rlsvi", "random", [{"scale": 1.0}]),
    ("bef-rlsvi", "first", [{"scale": 1.0}]),
    ("bef-rlsvi", "random", [{"scale": 1.0, "noise": "step"}]),
    ("greedy", "random", [{}]),
    ("greedy", "first", [{}]),
    ("exp-psrl", "random", [{}, {"eta": 0.1}]),  # the second has a wide prior
    ("exp-ucrl", "random", [{}]),
    ("rlsvi", "random", [{"sigma": 1.0}]),
    ("bef-seed", "random", [{}]),
)
LOCKSTEP = 300
POINTS = 40  # of a curve of mean regret
ROUNDING = 1e-9  # relative, in comparisons with the gap


def uses():
    """The agents of RUNS, with their default estimators and planners."""
    return [module for name, _, _ in RUNS for module in agents.modules(name, agents.parameters(name, {}))]


def first_gap(instance):
    """The least regret of an episode whose first action is not optimal; infinite if all first actions are."""
    Q, V = instance.optimum
    gaps = (V[0][:, None] - Q[0])[instance.start_masses > 0]
    return float(gaps[gaps > 1e-12].min(initial=np.inf))


def never_tried(regret, gap):
    """Whether no episode of a seed has a regret below the gap, (..., K) -> (...)."""
    return (regret >= (1 - ROUNDING) * gap).all(-1)


def study(name, instance, root_seed, episodes: int, seeds: int):
    """The curves of regret, and the shares of seeds that never tried the best first action, of all RUNS."""
    default, gap, points, shares = agents.parameters("bef-rlsvi", {}), first_gap(instance), [], []
    sizes = instance.model.d, instance.horizon, episodes
    theory = theorem_x(instance.constants, *sizes, default.eta, default.delta, known_reward=False)
    for algorithm, ties, several in RUNS:
        spec = RunSpec.of(instance, name, algorithm, several, episodes, range(seeds), root_seed=root_seed, ties=ties)
        regrets = runs.run_rows(spec, LOCKSTEP)[0]["regret"]
        for values, regret in zip(several, regrets, strict=True):
            setting = setting_text(algorithm, values)
            labels = {"instance": name, "agent": algorithm, "setting": setting, "ties": ties, "seeds": seeds}
            points += [labels | point for point in _curve(regret)]
            noise = {"x": None, "eta": None}
            if algorithm == "bef-rlsvi":
                noise = {"x": float(values.get("x", theory)), "eta": float(values.get("eta", default.eta))}
            shares.append(labels | noise | _summary(regret, gap))
    return {"points": points, "never": shares}


def _curve(regret):
    """Mean cumulative regret with its interval at some episodes; regret (seeds, K)."""
    K = regret.shape[1]
    marks = np.unique(np.linspace(1, K, min(K, POINTS)).round().astype(int))
    total = regret.cumsum(1)[:, marks - 1]
    columns = {"episode": marks} | mean_with_interval(total, LEVEL, ("regret", "low", "high"), least=0.0)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _summary(regret, gap):
    n, K = regret.shape
    count = int(never_tried(regret, gap).sum())
    low, high = clopper_pearson(count, n, LEVEL)
    mean = regret.mean(0).cumsum()
    eighth, quarter, half, whole = (float(mean[max(1, K // part) - 1]) for part in (8, 4, 2, 1))
    regret_low, regret_high = mean_interval(regret.sum(1), LEVEL, least=0.0)
    return {
        "episodes": K,
        "gap": gap,
        "never": count / n,
        "low": float(low),
        "high": float(high),
        "regret_eighth": eighth,
        "regret_quarter": quarter,
        "regret_half": half,
        "regret": whole,
        "regret_low": float(regret_low),
        "regret_high": float(regret_high),
        "growth": float(np.log2(whole / half)) if half > 0 else None,
        "late": float(regret[:, -(-3 * K // 4) :].mean() / gap),
    }
