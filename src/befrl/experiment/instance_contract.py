"""The contract of instances: what an MDP must satisfy beyond what `Instance` itself checks when it is built.

Each property is a function of an `Instance` and raises `errors.Broken` with a sentence that says what is wrong. Random
checks have a fixed seed; a sound instance fails one of them with probability below 1e-6.
"""

import functools
import random

import numpy as np

from befrl import agents, instances
from befrl.common.errors import Refused, require
from befrl.experiment import loop
from befrl.experiment.environment import CellLaws, SmoothLaws
from befrl.experiment.spec import TRACKS, RunSpec
from befrl.model.spaces import legendre_rule

# Draws for each law, laws, and the probability that a sound instance fails a check of frequencies.
DRAWS, LAWS, CHANCE = 20_000, 6, 1e-7
# How far from one the mass of a law may be on a finer grid.
EXACT = 1e-6
STEP = 1e-4


def functions_of_the_state(instance):
    """psi, the base measure and phi work on arrays of states of any length, state by state."""
    model, rng = instance.model, np.random.default_rng(1)
    space = model.space
    if space.discrete:
        return
    s = space.nodes[rng.integers(len(space.nodes), size=6)]
    family = model.family
    for name, function in (("statistic", family.statistic), ("log_base_at", family.log_base_at)):
        flat, nested = np.asarray(function(s)), np.asarray(function(s.reshape(2, 3, *s.shape[1:])))
        expected = (2, 3, *flat.shape[1:])
        require(nested.shape == expected, f"{name} of states (2, 3) has shape {nested.shape}, it must have {expected}")
        same = np.array_equal(nested.reshape(flat.shape), flat)
        require(same, f"{name} of an array of states differs from {name} of the states one by one")
    if model.smooth:
        flat, alone = model.phi(s), np.concatenate([model.phi(s[i : i + 1]) for i in range(6)])
        require(np.array_equal(flat, alone), "phi of an array of states differs from phi of the states one by one")


def laws_sum_to_one(instance):
    """The true laws have mass one: on the anchors, and for a box on a finer grid than its own."""
    P, space, family = instance.P, instance.model.space, instance.model.family
    off = np.abs(P.sum(-1) - 1.0).max()
    require(P.min() >= 0, f"P is no law: its least entry is {P.min():.2g}")
    require(off < 1e-9, f"P is no law: the sum of a row differs from one by {off:.2g}")
    if space.discrete or family.tails_included:
        return
    nodes, weights = _fine(space)
    psi, base = family.statistic(nodes), family.log_base_at(nodes)
    for x, a in _some(instance):
        v = instance.model.features.natural(instance.theta_p[None])[0, x, a]
        Z = family.restricted(x, a).log_partition(v[None, None, None])[0, 0, 0]
        mass = float(weights @ np.exp(psi @ v + base - Z))
        sentence = f"the law at {_place(instance, x, a)} has mass {mass:.9g} on a finer grid: use more cells or nodes"
        require(abs(mass - 1.0) < EXACT, sentence)


def mean_of_psi(instance):
    """E psi is the gradient of the log-partition Z, by central differences; an error of 1e-6 is allowed."""
    family = instance.model.family
    for x, a in _some(instance):
        one, v = family.restricted(x, a), instance.model.features.natural(instance.theta_p[None])[0, x, a]
        step = STEP * np.eye(family.p)

        def Z(points, one=one):
            return one.log_partition(points[:, None, None])[:, 0, 0]

        slope = (8 * (Z(v + step) - Z(v - step)) - (Z(v + 2 * step) - Z(v - 2 * step))) / (12 * STEP)
        mean = one.moments(v[None, None, None])[1][0, 0, 0]
        same = np.allclose(slope, mean, rtol=1e-6, atol=1e-6)
        require(same, f"E psi at {_place(instance, x, a)} is {mean}, the gradient of the log-partition is {slope}")


def draws_follow_the_laws(instance):
    """Frequencies of first states, next states and rewards are those of the stated laws."""
    model, rng = instance.model, np.random.default_rng(2)
    cells = model.space.cell
    _compare(cells(instance.start(rng.random(DRAWS))), instance.start_masses, model, "start(u) and start_masses differ")
    laws = SmoothLaws(instance) if model.smooth else CellLaws(instance)
    reward_c = model.reward_natural(instance.theta_r[None])[0]
    for x, a in _some(instance):
        s = np.repeat(model.space.nodes[model.space.node_anchor == x][:1], DRAWS, axis=0)
        cell, action = cells(s), np.full(DRAWS, a)
        u = rng.random((DRAWS, model.space.dim) if model.space.dim > 1 else DRAWS)
        place = _place(instance, x, a)
        reached = cells(laws.next_state(s, cell, action, u))
        _compare(reached, instance.P[x, a], model, f"next states drawn at {place} do not follow the law")
        rewards = laws.reward(s, cell, action, rng.random(DRAWS))
        error = 6 * np.sqrt(model.reward.variance(reward_c[x, a]) / DRAWS)  # 2e-9
        mean, stated = float(rewards.mean()), float(instance.R[x, a])
        same = abs(mean - stated) <= error + 1e-12
        require(same, f"rewards drawn at {place} have mean {mean:.4g}, and the law's mean is {stated:.4g}")


def agents_play_it(instance):
    """Two agents play a few episodes, in both tracks, with finite regret that is not negative."""
    played = []
    for algorithm in ("bef-rlsvi", "greedy", "random"):
        for track in TRACKS:
            spec = RunSpec.of(instance, "test", algorithm, {}, 3, (0, 1), track=track)
            try:
                agents.specification(instance.model, algorithm, spec.settings[0])
            except Refused:
                continue
            regret = loop.run(spec)["regret"]
            require(np.isfinite(regret).all(), f"the regret of {algorithm} in track {track} is not a finite number")
            require(regret.min() >= -1e-9, f"the regret of {algorithm} in track {track} is {regret.min():g} < 0")
            played.append(algorithm)
    require({"bef-rlsvi", "greedy"} & set(played), "neither bef-rlsvi nor greedy can play the instance")


PROPERTIES = [functions_of_the_state, laws_sum_to_one, mean_of_psi, draws_follow_the_laws, agents_play_it]


def built(family, values):
    """The instance of a family, which must have the same numbers when it is built again, and draw none globally."""
    numpy_state, python_state = np.random.get_state(), random.getstate()  # noqa: NPY002
    instance, again = instances.build(family, values), instances.rebuild(*instances.resolve(family, values), {})
    same = all(np.array_equal(getattr(instance, key), getattr(again, key)) for key in ("theta_p", "theta_r", "P", "R"))
    require(same, "two builds with the same parameters differ: the instance is random, or keeps a state")
    untouched = all(np.array_equal(*pair) for pair in zip(np.random.get_state(), numpy_state, strict=True))  # noqa: NPY002
    require(untouched and random.getstate() == python_state, "build draws from a global random generator")
    return instance


def _some(instance):
    """A few (anchor, action), the same every time."""
    pairs = list(np.ndindex(instance.R.shape))
    return [pairs[i] for i in np.random.default_rng(3).permutation(len(pairs))[:LAWS]]


def _place(instance, x, a):
    space = instance.model.space
    return f"(s, a) = ({space.nodes[space.node_anchor == x][0]}, {a})"


def _compare(cells, masses, model, sentence):
    """Frequencies of cells against masses of anchors, by Bernstein's inequality in every cell at once."""
    p = masses.reshape(model.n_cells, -1).sum(-1)
    share = np.bincount(cells, minlength=model.n_cells) / len(cells)
    log = np.log(2 * model.n_cells / CHANCE)
    allowed = np.sqrt(2 * p * (1 - p).clip(0) * log / len(cells)) + log / (3 * len(cells)) * (p > 0)
    worst = int(np.argmax(np.abs(share - p) - allowed))
    inside = abs(share[worst] - p[worst]) <= allowed[worst] + 1e-12
    require(inside, f"{sentence}: cell {worst} has frequency {share[worst]:.4g} and probability {p[worst]:.4g}")


def _fine(space):
    """Nodes and weights of a finer rule: every cell is cut into three pieces, or more where cells are few."""
    edges = space.edges if isinstance(space.edges, tuple) else (space.edges,)
    pieces = max(3, 48 // space.n_cells)
    sides = []
    for cuts in edges:
        finer = np.interp(np.arange(pieces * (len(cuts) - 1) + 1) / pieces, np.arange(len(cuts)), cuts)
        sides.append([part.ravel() for part in legendre_rule(finer, 12)])
    if space.dim == 1:
        return sides[0]
    points = np.stack([g.ravel() for g in np.meshgrid(*(side[0] for side in sides), indexing="ij")], axis=-1)
    return points, functools.reduce(np.multiply.outer, (side[1] for side in sides)).ravel()
