"""Speed and memory of the episode loop on one core: chain with 8 bins, H = 40, exact regret and logging included.

What counts are ratios within one run of the benchmark: groups of many seeds against one seed, late episodes against
early ones, agents against each other.
"""

import os
import resource
import time

import numpy as np

from befrl import agents, instances
from befrl.common.errors import Refused
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment import loop
from befrl.experiment.random_play import random_play
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.learning.data import Data

GROUPS = (1, 10, 50, 200)
EPISODES = {1: 1000, 10: 1000, 50: 600, 200: 200}
EARLY, LATE, WINDOW = 100, 10_000, 100
LATE_UPDATE = 2000


def timed_run(instance, algorithm, values, n, episodes):
    """Wall-clock time of each episode of a group of n seeds, everything included, (episodes,)."""
    stamps = [time.perf_counter()]
    parameters = agents.parameters(algorithm, values)
    loop.run(
        RunSpec(instance, "chain", algorithm, parameters, episodes, range(n), "U", 0),
        tick=lambda steps: stamps.append(time.perf_counter()),
    )
    return np.diff(stamps)


def measure(quick=False):
    """The measurements as a dictionary."""
    instance = instances.build("chain", {"bins": 8, "horizon": 40})
    shrink = 10 if quick else 1
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    groups = [group(instance, n, EPISODES[n] // shrink) for n in GROUPS]
    rivals = [rival(instance, name, 600 // shrink) for name in agents.catalogue.names() if runs_on(instance, name)]
    growth = late_against_early(instance, LATE // shrink)
    one = next(row for row in groups if row["seeds"] == 1)
    for row in groups:
        row["times_one_seed"] = row["steps_per_second"] / one["steps_per_second"]
    flat = [flatness(name, shrink) for name in estimators.catalogue.names()]
    return {
        "estimators": flat,
        "instance": {"family": "chain", "parameters": instance.parameters},
        "groups": groups,
        "agents": rivals,
        "growth": growth,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def group(instance, n, episodes):
    """Speed of a group of n seeds."""
    seconds = timed_run(instance, "bef-rlsvi", {"x": 3}, n, episodes)
    return {"seeds": n, "steps_per_second": n * instance.horizon * episodes / seconds.sum()}


def runs_on(instance, name):
    """Whether an agent runs on the instance with its defaults."""
    try:
        agents.specification(instance.model, name, agents.parameters(name, {}))
    except Refused:
        return False
    return True


def rival(instance, name, episodes):
    """Speed of an agent with its default parameters."""
    seconds = timed_run(instance, name, {}, 50, episodes)
    return {"agent": name, "steps_per_second": 50 * instance.horizon * episodes / seconds.sum()}


def late_against_early(instance, late):
    """Median seconds of the episodes around k = 100 and around the last, 50 seeds."""
    seconds = timed_run(instance, "bef-rlsvi", {"x": 3}, 50, late + WINDOW // 2)
    first = float(np.median(seconds[EARLY - WINDOW // 2 : EARLY + WINDOW // 2]))
    last = float(np.median(seconds[late - WINDOW // 2 :]))
    return {
        "early_episode": EARLY,
        "late_episode": late,
        "seconds_early": first,
        "seconds_late": last,
        "late_over_early": last / first,
    }


def flatness(name, shrink):
    """Median seconds of an estimator's updates around episodes 100 and 2000 of random play, 10 seeds.

    The instance is the truncated-exponential chain, or the linear system for estimators that need Gaussian next states.
    """
    module = estimators.catalogue.module(name)
    episodes, n = LATE_UPDATE // shrink, 10
    for family in ("literal", "lds"):
        instance = instances.build(family, {})
        try:
            estimator = module.Estimator(instance.model, n, 1.0, Stream(0, family, range(n), ESTIMATOR))
        except Refused:
            continue
        break
    data, seconds = Data(instance.model, n), []
    for trajectory in random_play(instance, family, range(n), episodes, root_seed=0):
        data.add(trajectory)
        start = time.perf_counter()
        estimator.update(data, trajectory)
        seconds.append(time.perf_counter() - start)
    early = episodes // 20
    first, last = (float(np.median(part)) for part in (seconds[early // 2 : 3 * early // 2], seconds[-early:]))
    return {
        "estimator": name,
        "instance": family,
        "claims_flat": estimator.flat,
        "early_episode": early,
        "late_episode": episodes,
        "seconds_early": first,
        "seconds_late": last,
        "late_over_early": last / first,
    }


def text(table):
    """The measurements as a table to read."""
    lines = ["bef-rlsvi, x = 3, chain J = 8, H = 40, one core", "seeds per group    steps/s    times one seed"]
    for row in table["groups"]:
        lines.append(f"{row['seeds']:>15}  {row['steps_per_second']:>9,.0f}    {row['times_one_seed']:>14.1f}")
    lines += ["", "agent (50 seeds, theory's constants)    steps/s"]
    for row in table["agents"]:
        lines.append(f"{row['agent']:<36}  {row['steps_per_second']:>9,.0f}")
    lines += ["", "estimator (10 seeds)       instance   ms at k =" + f"{table['estimators'][0]['early_episode']:>5}"]
    lines[-1] += f"   {table['estimators'][0]['late_episode']:>5}   ratio   claims to be flat"
    for row in table["estimators"]:
        flat = "yes" if row["claims_flat"] else "no"
        lines.append(
            f"{row['estimator']:<25}  {row['instance']:<8}  {1e3 * row['seconds_early']:>13.3f}"
            f"  {1e3 * row['seconds_late']:>6.3f}  {row['late_over_early']:>6.2f}   {flat}"
        )
    growth = table["growth"]
    lines += [
        "",
        f"seconds per episode, 50 seeds: {growth['seconds_early']:.5f} at k = {growth['early_episode']},"
        f" {growth['seconds_late']:.5f} at k = {growth['late_episode']}: ratio {growth['late_over_early']:.3f}",
        f"peak memory: {table['peak_memory_mb']:.0f} MB",
    ]
    return "\n".join(lines)
