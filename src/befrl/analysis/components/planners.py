"""Error and cost of every planner against its number of features, for one plan in the true model.

    value error  max_s |V_1(s) - V*_1(s)|          V of the plan, V* of the exact planner
    regret       V*_1(s_1) - V^pi_1(s_1)           pi the plan's greedy policy on cells; averaged over s_1

Repetitions differ in the planner's random numbers alone. Where features vary within cells, the exact planner has a
regret too, because its policy is constant on cells.
"""

import time

import numpy as np

from befrl.analysis import statistics
from befrl.common.errors import Refused
from befrl.common.streams import PLANNER, Stream
from befrl.numerics import bellman
from befrl.planning import planners

TOGETHER = 10  # repetitions that plan together; more would take more memory and save no time
TIMED = 3  # least number of plans that are timed
KEYS = ("instance", "planner", "features")


def uses():
    """All planners."""
    return [planners.registry.module_name(name) for name in planners.registry.names()]


def allowed(instance) -> list[str]:
    """The planners that apply to an instance."""
    found = []
    for name in planners.registry.names():
        try:
            _planner(name, instance, 2, 1, [0])
        except Refused:
            continue
        found.append(name)
    return found


def study(name, instance, root_seed, features: list, repetitions: int):
    """Errors by planner (`exact` first), number of features and repetition, their medians, and seconds of a plan."""
    others = [planner for planner in allowed(instance) if planner != "exact"]
    points, timings = [], []
    for planner, count in [("exact", None), *((planner, count) for planner in others for count in features)]:
        key = {"instance": name, "planner": planner, "features": count}
        errors, seconds = _measure(instance, planner, count, repetitions, root_seed)
        points += [{**key, **row} for row in errors]
        timings.append({**key, "seconds": seconds})
    medians = statistics.spread(points, KEYS, "repetitions", ("value_error", "regret"))
    return {"points": points, "medians": medians, "timings": timings}


def _measure(instance, name, count, repetitions, root):
    """The errors of every repetition, and the median seconds of a plan."""
    best = bellman.backward_induction(instance.R[None], instance.P[None], instance.horizon)[1][0, 0]
    groups = [range(first, min(first + TOGETHER, repetitions)) for first in range(0, repetitions, TOGETHER)]
    rows, seconds = [], []
    for seeds in groups:
        planner = _planner(name, instance, count, root, seeds)
        R, theta = (np.repeat(part[None], len(seeds), axis=0) for part in (instance.R, instance.theta_p))
        for _ in range(-(-TIMED // len(groups))):  # rounded up, so that all groups plan equally often
            start = time.process_time()
            Q, V = planner.plan(R, theta, instance.horizon)
            seconds.append((time.process_time() - start) / len(seeds))
        policies = bellman.cell_policy(Q, instance.model.space)[:, None]
        reached = bellman.evaluate(policies, instance.R, instance.P)[:, 0]
        errors, losses = np.abs(V[:, 0] - best).max(-1), ((best - reached) * instance.start_masses).sum(-1)
        for seed, error, loss in zip(seeds, errors.tolist(), losses.tolist(), strict=True):
            rows.append({"repetition": seed, "value_error": error, "regret": loss})
    return rows, float(np.median(seconds))


def _planner(name, instance, count, root, seeds):
    stream = Stream(root, instance.family_name, seeds, PLANNER)
    return planners.registry.module(name).Planner(instance.model, len(seeds), count, stream)
