"""The estimators on one footing: error against the number of transitions, and seconds, on the same data for all.

Data come from the uniformly random policy, whose visits do not depend on any estimate. Repetitions are seeds in lock
step; all estimators see the same episodes. Everything but the seconds is the same in every run. An estimator that does
not apply to the instance is left out.
"""

import time
from dataclasses import replace

import numpy as np

from befrl import agents
from befrl.common.errors import Refused
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment import loop
from befrl.learning import estimators
from befrl.learning.data import Data

# Steps of an episode, in the place of the instance's own: estimators are updated once an episode, and need not be more
# often.
HORIZON = 100
# Weight of the penalty, so small that estimators are compared and not what the penalty does to each: at the agents'
# default of 1 it is most of the error where parameters are large.
ETA = 0.01
# Seconds are the median of so many updates before a checkpoint.
TIMED = 9

COLUMNS = {
    "instance": "name of the instance in the study",
    "estimator": "name of the estimator",
    "transitions": f"number of transitions of each repetition, whole episodes of {HORIZON} steps",
    "repetition": "number of the sample",
    "kl": "KL(p_theta*, p_theta^) averaged over (anchor, action) with the visiting frequencies of all the data",
    "error": "|theta^ - theta*|",
    "seconds": "seconds of one update at that number of transitions, the share of one repetition",
}


def study(name, instance, root_seed, sizes: list, repetitions: int):
    """A row for each estimator, number of transitions and repetition."""
    instance = replace(instance, horizon=HORIZON)
    model, seeds = instance.model, range(repetitions)
    checkpoints = sorted({-(-size // HORIZON) for size in sizes})
    fitted = {}
    for key in estimators.catalogue.names():
        try:
            cls = estimators.catalogue.module(key).Estimator
            fitted[key] = cls(model, repetitions, ETA, Stream(root_seed, name, seeds, ESTIMATOR))
        except Refused:
            continue
    environment = loop.Environment(instance, root_seed, name, seeds)
    parameters = agents.parameters("random", {})
    actor = loop.make_agent(instance, "random", parameters, "U", checkpoints[-1], root_seed, name, seeds)
    data = Data(model, repetitions)
    seconds = {key: [] for key in fitted}
    rows = []
    for k in range(1, checkpoints[-1] + 1):
        trajectory = environment.rollout(actor, actor.plan(k).policy)
        data.add(trajectory)
        for key, estimator in fitted.items():
            start = time.process_time()
            theta = estimator.update(data, trajectory)
            seconds[key].append(time.process_time() - start)
            if k in checkpoints:
                each = float(np.median(seconds[key][-TIMED:])) / repetitions
                rows += [
                    {
                        "instance": name,
                        "estimator": key,
                        "transitions": k * HORIZON,
                        "repetition": i,
                        "theta": theta[i],
                        "seconds": each,
                    }
                    for i in range(repetitions)
                ]
    return _with_errors(instance, rows, data.counts.sum(0) / data.counts.sum())


def _with_errors(instance, rows, frequencies):
    """The rows with the errors of their estimates in the place of these."""
    features, family = instance.model.features, instance.model.family
    thetas = np.stack([row.pop("theta") for row in rows])
    truth = features.natural(instance.theta_p[None])
    for row, theta in zip(rows, thetas, strict=True):
        row["kl"] = float((family.kl(truth, features.natural(theta[None]))[0] * frequencies).sum())
        row["error"] = float(np.linalg.norm(theta - instance.theta_p))
    return rows
