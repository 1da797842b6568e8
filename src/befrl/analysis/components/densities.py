"""Laws of the next state at three (s,a), true and estimated from random play by penalised maximum likelihood.

Finite states have probabilities, others a density, in two dimensions that of the first coordinate.
"""

import numpy as np

from befrl import agents
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment.episodes import random_play
from befrl.learning import estimators
from befrl.learning.data import Data


def uses():
    """Random play and the maximum-likelihood estimator."""
    return [agents.registry.module_name("random"), estimators.registry.module_name("mle")]


def study(name, instance, root_seed, transitions: int):
    """The law at each next state of a grid, for each (s,a) shown."""
    model, space = instance.model, instance.model.space
    episodes = -(-transitions // instance.horizon)
    data, theta = estimate(name, instance, root_seed, episodes)
    rows = []
    for curve, (anchor, action) in enumerate(places(data.counts[0])):
        x, true = _law(model, instance.theta_p, anchor, action)
        _, estimated = _law(model, theta, anchor, action)
        labels = {
            "instance": name,
            "kind": "probability" if space.discrete else "density",
            "transitions": episodes * instance.horizon,
            "curve": curve,
            "state": float(space.nodes[space.node_anchor == anchor].mean(0).ravel()[0]),  # the centre of a bin
            "action": action,
            "visits": float(data.counts[0, anchor, action]),
        }
        for at, p, q in zip(x.tolist(), true.tolist(), estimated.tolist(), strict=True):
            rows.append(labels | {"next": float(at), "true": p, "estimated": q})
    return {"points": rows}


def estimate(name, instance, root_seed, episodes):
    """Data and estimate of one seed after a number of episodes of random play."""
    data = Data(instance.model, 1)
    stream = Stream(root_seed, name, [0], ESTIMATOR)
    estimator = estimators.registry.module("mle").Estimator(instance.model, 1, 1.0, stream)
    for trajectory in random_play(instance, name, [0], episodes, root_seed):
        data.add(trajectory)
    return data, estimator.update(data, trajectory)[0]


def places(counts):
    """The most visited (anchor, action) in each third of the visited anchors, counts (N, A)."""
    visited = np.flatnonzero(counts.sum(1) > 0)
    found = []
    for third in np.array_split(visited, min(3, len(visited))):
        anchor, action = np.unravel_index(np.argmax(counts[third]), counts[third].shape)
        found.append((int(third[anchor]), int(action)))
    return found


def _law(model, theta, anchor, action):
    """Next states in increasing order, and their density or probability."""
    family, space = model.family, model.space
    natural = model.features.natural(theta[None])[:, anchor : anchor + 1, action : action + 1]
    if space.discrete:
        return space.nodes, family.restricted(anchor, action).masses(natural)[0][0, 0, 0]
    if space.dim == 1:
        x = np.linspace(space.low[0], space.high[0], 241)
        if space.unbounded:
            x = x[np.abs(x) < 0.5 * space.high[0]]
        logs = family.statistic(x) @ natural[0, 0, 0] + family.log_base_at(x) - family.log_partition(natural)[0, 0, 0]
        return x, np.exp(logs)
    x = np.linspace(0.5 * space.low[0], 0.5 * space.high[0], 241)
    # All families in two dimensions are Gaussian, with independent components of psi.
    return x, np.exp(-0.5 * (x / family.sigma - natural[0, 0, 0, 0]) ** 2) / (family.sigma * np.sqrt(2 * np.pi))
