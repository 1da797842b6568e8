"""Error and cost of every estimator against the number of transitions, on the same data for all.

Data come from the uniformly random policy, whose visits depend on no estimate. Repetitions are seeds in lock step.
Estimators that do not apply to the instance are left out.
"""

import time
from dataclasses import replace

import numpy as np

from befrl import agents
from befrl.analysis import statistics
from befrl.common.errors import Refused
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment.episodes import random_play
from befrl.learning import estimators
from befrl.learning.data import Data

# Steps of an episode, instead of the instance's own: estimators are updated once per episode.
HORIZON = 100
# Weight of the penalty. It is small, so that estimators are compared and not their response to the penalty: at the
# agents' default of 1 the penalty causes most of the error where parameters are large.
ETA = 0.01
# Number of updates up to a checkpoint whose median is its time.
TIMED = 9

KEYS = {
    "instance": "name of the instance in the study",
    "estimator": "name of the estimator",
    "transitions": f"number of transitions of each repetition, whole episodes of {HORIZON} steps",
}
ERRORS = {
    "kl": "KL(p_theta*, p_theta^) averaged over (anchor, action) with the visiting frequencies of all the data",
    "error": "|theta^ - theta*|",
}
TABLES = {
    "points": KEYS | {"repetition": "number of the sample"} | ERRORS,
    "medians": KEYS | statistics.spread_columns("repetitions", ERRORS),
}
TIMINGS = KEYS | {
    "seconds": f"seconds of one update per repetition, the median over the last {TIMED} updates",
}


def uses():
    """Random play and all estimators."""
    names = estimators.registry.names()
    return [agents.registry.module_name("random"), *map(estimators.registry.module_name, names)]


def study(name, instance, root_seed, sizes: list, repetitions: int):
    """Errors of each estimator, number of transitions and repetition, their medians, and seconds of an update."""
    instance = replace(instance, horizon=HORIZON)
    model, seeds = instance.model, range(repetitions)
    checkpoints = sorted({-(-size // HORIZON) for size in sizes})
    fitted = {}
    for key in estimators.registry.names():
        try:
            cls = estimators.registry.module(key).Estimator
            fitted[key] = cls(model, repetitions, ETA, Stream(root_seed, name, seeds, ESTIMATOR))
        except Refused:
            continue
    data = Data(model, repetitions)
    seconds = {key: [] for key in fitted}
    rows, timings = [], []
    for k, trajectory in enumerate(random_play(instance, name, seeds, checkpoints[-1], root_seed), start=1):
        data.add(trajectory)
        for key, estimator in fitted.items():
            start = time.process_time()
            theta = estimator.update(data, trajectory)
            seconds[key].append(time.process_time() - start)
            if k in checkpoints:
                at = {"instance": name, "estimator": key, "transitions": k * HORIZON}
                rows += [{**at, "repetition": i, "theta": theta[i]} for i in range(repetitions)]
                timings.append({**at, "seconds": float(np.median(seconds[key][-TIMED:])) / repetitions})
    points = _with_errors(instance, rows, data.counts.sum(0) / data.counts.sum())
    return {"points": points, "medians": statistics.spread(points, KEYS, "repetitions", ERRORS), "timings": timings}


def _with_errors(instance, rows, frequencies):
    """The rows with the errors of their estimates instead of the estimates."""
    features, family = instance.model.features, instance.model.family
    thetas = np.stack([row.pop("theta") for row in rows])
    truth = features.natural(instance.theta_p[None])
    for row, theta in zip(rows, thetas, strict=True):
        row["kl"] = float((family.kl(truth, features.natural(theta[None]))[0] * frequencies).sum())
        row["error"] = float(np.linalg.norm(theta - instance.theta_p))
    return rows
