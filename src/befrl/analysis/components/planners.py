"""What planners cost and what they lose: value error, regret and seconds of each against the number of features.

Every planner plans once in the true model, with theta* and the true mean rewards, so that all of its error is its own:

    value error  max_s |V_1(s) - V*_1(s)|          V of the plan, V* of the exact planner
    regret       V*_1(s_1) - V^pi_1(s_1)           pi the cells' greedy policy of the plan, evaluated in the true model

averaged over s_1. Repetitions differ in the planner's random numbers only. Where features vary within cells the exact
planner has a regret too, that of being constant on cells: it is the line to compare with. Everything but the seconds is
deterministic, and does not depend on the other planners, counts and repetitions of a study.
"""

import time

import numpy as np

from befrl.common.errors import Refused
from befrl.common.streams import PLANNER, Stream
from befrl.numerics import bellman
from befrl.planning import planners

# Repetitions that plan together; more would save no time and take more memory.
BLOCK = 10
# Plans that are timed at least.
TIMINGS = 3

COLUMNS = {
    "instance": "name of the instance in the study",
    "planner": "name of the planner",
    "features": "number of features; empty for exact",
    "repetition": "number of the draw of the features",
    "value_error": "max over states of |V_1 - V*_1|, in units of reward per episode",
    "regret": "V*_1 - V^pi_1 of the plan's policy, averaged over the first state, in units of reward per episode",
    "seconds": "seconds of one plan, the median over blocks of repetitions",
}


def allowed(instance) -> list[str]:
    """The planners that apply to an instance."""
    return [name for name in planners.catalogue.names() if _applies(name, instance)]


def _applies(name, instance):
    try:
        _planner(name, instance, 2, 1, [0])
    except Refused:
        return False
    return True


def study(name, instance, root_seed, features: list, repetitions: int) -> list[dict]:
    """A row for each planner that applies, number of features and repetition; `exact` comes first, without a number."""
    rows = _rows(instance, "exact", None, repetitions, root_seed)
    for planner in allowed(instance):
        if planner != "exact":
            for count in features:
                rows += _rows(instance, planner, count, repetitions, root_seed)
    return [{"instance": name, **row} for row in rows]


def _rows(instance, name, count, repetitions, root):
    horizon = instance.horizon
    best = bellman.backward_induction(instance.R[None], instance.P[None], horizon)[1][0, 0]
    blocks = [range(first, min(first + BLOCK, repetitions)) for first in range(0, repetitions, BLOCK)]
    rows, seconds = [], []
    for seeds in blocks:
        planner = _planner(name, instance, count, root, seeds)
        # Ceiling of the quotient: every block plans as often as the others.
        for _ in range(-(-TIMINGS // len(blocks))):
            (Q, V), elapsed = _timed(planner, instance, horizon)
            seconds.append(elapsed / len(seeds))
        policies = bellman.cell_policy(Q, instance.model.space)[:, None]
        reached = bellman.evaluate(policies, instance.R, instance.P)[:, 0]
        errors, losses = np.abs(V[:, 0] - best).max(-1), ((best - reached) * instance.start_masses).sum(-1)
        for seed, error, loss in zip(seeds, errors.tolist(), losses.tolist(), strict=True):
            key = {"planner": name, "features": count, "repetition": seed}
            rows.append({**key, "value_error": error, "regret": loss})
    return [{**row, "seconds": float(np.median(seconds))} for row in rows]


def _planner(name, instance, count, root, seeds):
    stream = Stream(root, instance.family_name, seeds, PLANNER)
    return planners.catalogue.module(name).Planner(instance.model, len(seeds), count, stream)


def _timed(planner, instance, horizon):
    """A plan in the true model, and its seconds."""
    R, theta = (np.repeat(part[None], planner.n, axis=0) for part in (instance.R, instance.theta_p))
    start = time.process_time()
    plan = planner.plan(R, theta, horizon)
    return plan, time.process_time() - start
