"""Runs of BEF-RLSVI on instances of the package, in which optimistic episodes are counted."""

import functools

import numpy as np

from befrl import agents, instances
from befrl.claims.toolbox.chances import LEVEL, upper_limit
from befrl.claims.toolbox.episodes import CASES
from befrl.claims.toolbox.evidence import Evidence
from befrl.claims.toolbox.search import Worst
from befrl.experiment.episodes import play
from befrl.experiment.loop import Lookup
from befrl.experiment.spec import RunSpec
from befrl.model.theorem import PHI

SCALES = ("theory", 1e-2, 1e-6)  # multiples of x_k
EPISODES = 6


def uses() -> list[str]:
    """The modules that the runs find by name and not by an import statement."""
    found = agents.modules("bef-rlsvi", {})
    return [*found, *(module for name, values in CASES for module in instances.modules(name, values))]


@functools.lru_cache(1)
def shares(seed, trials):
    """The share of optimistic rows in each episode, by instance and multiple of x_k, and the number of rows."""
    found, seeds = {}, 150 + trials // 4
    for name, values in CASES:
        instance = _instance(name, tuple(values.items()))
        settings = [{"scale": scale} for scale in SCALES]
        spec = RunSpec.of(instance, name, "bef-rlsvi", settings, EPISODES, range(seeds), root_seed=seed)
        look, hits = Lookup(instance.model.space), np.empty((spec.rows, EPISODES), bool)
        for k, (_, plan, trajectory) in enumerate(play(spec)):
            best = np.broadcast_to(instance.optimum[1][0], plan.values.shape)
            hits[:, k] = look.first(plan.values, trajectory) >= look.first(best, trajectory)
        by_scale = hits.reshape(len(SCALES), seeds, EPISODES).mean(1)
        found |= {(name, scale): share for scale, share in zip(SCALES, by_scale, strict=True)}
    return found, seeds


def upper_limits(found, seeds):
    """Upper confidence limits of the probability of optimism in each episode, of joint level 1e-6."""
    level = LEVEL / (len(found) * EPISODES)
    return {key: [upper_limit(round(share * seeds), seeds, level) for share in row] for key, row in found.items()}


@functools.cache
def _instance(name, values):
    return instances.build(name, dict(values))


def table(found, rows):
    """The counted shares, for the record."""
    shares = {f"{name}, {scale} x_k": row.round(3).tolist() for (name, scale), row in found.items()}
    return {"runs": rows, "share of optimistic runs in episodes 1 to 6": shares}


def evidence(found, rows, scale):
    """The evidence of the runs; the estimates may leave the confidence sets with probability 2 delta = 0.1."""
    worst = Worst()
    for (name, multiple), limits in upper_limits(found, rows).items():
        for k, limit in enumerate(limits if multiple == scale else (), 1):
            share = float(found[name, multiple][k - 1])
            worst.see(0.9 * PHI - limit, {"instance": name, "episode": k, "share": share, "runs": rows})
    return Evidence(worst.value, worst.instance, "test", rows * len(found))
