"""Errors of the package's estimators on the same data, relative to that of maximum likelihood."""

import functools
from dataclasses import replace

import numpy as np

from befrl import agents, instances
from befrl.common.errors import Refused
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment.episodes import random_play
from befrl.learning import estimators
from befrl.learning.data import Data

# A finite state space; sharp and broad laws on [0, 1]; Gaussian laws on the real line.
CASES = {
    "finite": ("jao", {"arms": 3}),
    "sharp": ("chain", {"bins": 3}),
    "broad": ("literal", {"bins": 3, "margin": 0.2}),
    "gaussian": ("lds", {}),
}
EPISODES, STEPS, ETA = 20, 100, 0.01
UNWEIGHTED = "score-matching without weights"
LEFT_OUT = {("shah", "gaussian"), (UNWEIGHTED, "sharp"), (UNWEIGHTED, "gaussian")}


def uses() -> list[str]:
    """The modules that the runs find by name and not by an import statement."""
    found = [module for name, values in CASES.values() for module in instances.modules(name, values)]
    found += [agents.registry.module_name("random")]
    return found + [estimators.registry.module_name(name) for name in estimators.registry.own()]


@functools.lru_cache(1)
def errors(seed, repetitions):
    """{(estimator, case): its mean KL to the truth as a multiple of that of `mle`}, None where it is refused."""
    found = {}
    for case, (name, values) in CASES.items():
        instance = replace(instances.build(name, values), horizon=STEPS)
        keys = [key for key in (*estimators.registry.own(), UNWEIGHTED) if (key, case) not in LEFT_OUT]
        fitted = {key: _made(key, instance, seed, repetitions) for key in keys}
        data = Data(instance.model, repetitions)
        for trajectory in random_play(instance, name, range(repetitions), EPISODES, seed):
            data.add(trajectory)
            for estimator in filter(None, fitted.values()):
                estimator.update(data, trajectory)
        frequencies = data.counts.sum(0) / data.counts.sum()
        losses = {key: estimator and _loss(instance, estimator.theta, frequencies) for key, estimator in fitted.items()}
        found |= {(key, case): loss and loss / losses["mle"] for key, loss in losses.items()}
    return found


def _made(key, instance, seed, repetitions):
    """The estimator, or None if it refuses the model."""
    module = estimators.registry.module("score-matching" if key == UNWEIGHTED else key)
    try:
        made = module.Estimator(instance.model, repetitions, ETA, Stream(seed, key, range(repetitions), ESTIMATOR))
    except Refused:
        return None
    if key == UNWEIGHTED:
        made.weighted = False
    return made


def _loss(instance, theta, frequencies):
    """The mean over repetitions and visits of KL(p_theta*, p_theta)."""
    features, family = instance.model.features, instance.model.family
    truth = features.natural(np.broadcast_to(instance.theta_p, theta.shape))
    return float((family.kl(truth, features.natural(theta)) * frequencies).sum() / len(theta))
