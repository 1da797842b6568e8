"""The contract of instances beyond `model/checks.py`: functions of an `Instance` that raise `errors.ContractError`."""

import numpy as np

from befrl import agents, instances
from befrl.common.defaults import TRACKS
from befrl.common.errors import Refused, require
from befrl.experiment import loop
from befrl.experiment.agent_contract import generator_states
from befrl.experiment.spec import RunSpec
from befrl.model.spaces import SmoothBox

EXACT = 1e-6  # how far from one the mass of a law may be on a finer grid


def built(family, values):
    """The instance of a family, which must have the same numbers when it is built again, and draw none globally."""
    before = generator_states()
    instance, again = instances.build(family, values), instances.rebuild(*instances.resolve(family, values), {})
    same = all(np.array_equal(getattr(instance, key), getattr(again, key)) for key in ("theta_p", "theta_r", "P", "R"))
    require(same, "two builds with the same parameters differ: the instance is random, or keeps a state")
    require(generator_states() == before, "build draws from a global random generator")
    return instance


def mass_on_a_finer_grid(instance):
    """The true laws in a box have mass one on a finer grid than the space's, up to EXACT."""
    model, space, family = instance.model, instance.model.space, instance.model.family
    if space.discrete or family.tails_included:
        return
    pieces, edges = max(3, 48 // space.n_cells), []  # pieces of each cell
    for cuts in space.edges if isinstance(space.edges, tuple) else (space.edges,):
        edges.append(np.interp(np.arange(pieces * (len(cuts) - 1) + 1) / pieces, np.arange(len(cuts)), cuts))
    fine = SmoothBox(edges, order=12)
    psi, log_base = family.statistic(fine.nodes), family.log_base_at(fine.nodes) + fine.log_weights
    natural = model.features.natural(instance.theta_p[None])
    Z = family.log_partition(natural)[0]
    for x, a in np.ndindex(Z.shape):
        mass = float(np.exp(psi @ natural[0, x, a] + log_base - Z[x, a]).sum())
        s = space.nodes[space.node_anchor == x][0]
        sentence = f"the law at (s, a) = ({s}, {a}) has mass {mass:.9g} on a finer grid: use more cells or nodes"
        require(abs(mass - 1.0) < EXACT, sentence)


def agents_play_it(instance):
    """Agents can play a few episodes in both tracks, with finite regret that is not negative."""
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


PROPERTIES = [mass_on_a_finer_grid, agents_play_it]
