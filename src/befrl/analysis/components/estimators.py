"""Error and cost of every applicable estimator against the number of transitions, on the same data for all.

    kl      KL(p_theta*, p_theta^), averaged over (anchor, action) with the visiting frequencies of all the data
    error   |theta^ - theta*|

Data come from uniformly random play, which depends on no estimate. Repetitions are seeds in lock step.
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

HORIZON = 100  # steps of an episode, instead of the instance's own: there is one update per episode
ETA = 0.01  # with the agents' default of 1 the penalty causes most of the error where parameters are large
TIMED = 9  # updates up to a checkpoint whose median is its time
KEYS = ("instance", "estimator", "transitions")


def uses():
    """Random play and all estimators."""
    names = estimators.registry.names()
    return [agents.registry.module_name("random"), *map(estimators.registry.module_name, names)]


def study(name, instance, root_seed, sizes: list, repetitions: int):
    """Errors of each estimator, number of transitions and repetition, their medians, and seconds of an update."""
    instance = replace(instance, horizon=HORIZON)
    features, family, seeds = instance.model.features, instance.model.family, range(repetitions)
    checkpoints = sorted({-(-size // HORIZON) for size in sizes})
    fitted = {}
    for key in estimators.registry.names():
        try:
            cls = estimators.registry.module(key).Estimator
            fitted[key] = cls(instance.model, repetitions, ETA, Stream(root_seed, name, seeds, ESTIMATOR))
        except Refused:
            continue
    data = Data(instance.model, repetitions)
    seconds = {key: [] for key in fitted}
    estimates, timings = [], []
    for k, trajectory in enumerate(random_play(instance, name, seeds, checkpoints[-1], root_seed), start=1):
        data.add(trajectory)
        for key, estimator in fitted.items():
            start = time.process_time()
            theta = estimator.update(data, trajectory)
            seconds[key].append(time.process_time() - start)
            if k in checkpoints:
                at = {"instance": name, "estimator": key, "transitions": k * HORIZON}
                estimates.append((at, theta.copy()))
                timings.append({**at, "seconds": float(np.median(seconds[key][-TIMED:])) / repetitions})
    frequencies, truth = data.counts.sum(0) / data.counts.sum(), features.natural(instance.theta_p[None])
    points = []
    for at, thetas in estimates:
        for i, theta in enumerate(thetas):
            kl = float((family.kl(truth, features.natural(theta[None]))[0] * frequencies).sum())
            points.append({**at, "repetition": i, "kl": kl, "error": float(np.linalg.norm(theta - instance.theta_p))})
    medians = statistics.spread(points, KEYS, "repetitions", ("kl", "error"))
    return {"points": points, "medians": medians, "timings": timings}
