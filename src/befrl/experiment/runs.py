"""Running seeds: groups in lock step, spread over processes, and the description that is stored with them."""

import time
from dataclasses import asdict

import numpy as np
from joblib import Parallel, delayed, parallel_config

from befrl import agents, instances
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.run_file import COST, LOGGED


def run_seeds(name, instance, algorithm, parameters, track, episodes, seeds, root_seed, lockstep, threads=1, tick=None):
    """Run all `seeds` in groups of `lockstep`; returns the log as in `interaction.run`, seeds first, and the seconds.

    The groups are the same whatever the number of threads, and a seed's bits do not depend on its group.
    `tick(steps)` is called as work is done, with the number of steps of all seeds since the last call.
    """
    seeds = list(seeds)
    groups = [seeds[i : i + lockstep] for i in range(0, len(seeds), lockstep)]
    start = time.perf_counter()
    if threads == 1 or len(groups) == 1:
        logs = [
            loop.run(instance, algorithm, parameters, track, episodes, group, root_seed, name, tick) for group in groups
        ]
    else:
        # An instance holds functions, which do not travel: workers make it again from its family and parameters.
        recipe = (instance.family_name, instance.parameters, instance.constants)
        jobs = [
            delayed(_run_group)(recipe, algorithm, parameters, track, episodes, group, root_seed, name)
            for group in groups
        ]
        logs = []
        # One BLAS thread per worker: more would change the last bits, and Snakemake exports its own number.
        with parallel_config(backend="loky", inner_max_num_threads=1):
            for group, log in zip(groups, Parallel(n_jobs=threads, return_as="generator")(jobs), strict=True):
                logs.append(log)
                if tick is not None:
                    tick(len(group) * instance.horizon * episodes)
    seconds = time.perf_counter() - start
    log = {key: np.concatenate([part[key] for part in logs]) for key in LOGGED}
    sizes = np.array([len(group) for group in groups]) / len(seeds)
    for key in COST:
        log[key] = sizes @ np.stack([part[key] for part in logs])
    _check(name, algorithm, log["regret"], seeds)
    return log, seconds


def _run_group(recipe, algorithm, parameters, track, episodes, group, root_seed, name):
    instance = instances.rebuild(*recipe)
    return loop.run(instance, algorithm, parameters, track, episodes, group, root_seed, name)


def _check(name, algorithm, regret, seeds):
    bad = np.argwhere(~np.isfinite(regret))
    if len(bad):
        seed, episode = bad[0]
        raise InputError(
            f"instance '{name}': agent '{algorithm}' has a regret that is not a finite number "
            f"(seed {seeds[seed]}, episode {episode + 1}): check the instance's features and parameters"
        )


def facts(instance, algorithm, parameters, track, episodes):
    """The numbers that the agent derives before it starts, such as x_k."""
    agent = loop.make_agent(instance, algorithm, parameters, track, episodes, 0, "", [0])
    return agent.facts()


def describe(name, instance, label, algorithm, parameters, track, episodes, seeds, root_seed, seconds):
    """The meta of a run: everything needed to make it again."""
    return {
        "instance": name,
        "family": instance.family_name,
        "instance_parameters": instance.parameters,
        "horizon": instance.horizon,
        "optimal_value": instance.optimal_value,
        "uniform_value": instance.uniform_value,
        "track": track,
        "label": label,
        "algorithm": algorithm,
        "parameters": asdict(parameters),
        "constants": agents.constants(algorithm, parameters),
        "fit": agents.specification(instance.model, algorithm, parameters),
        "facts": facts(instance, algorithm, parameters, track, episodes),
        "episodes": episodes,
        "seeds": list(seeds),
        "root_seed": root_seed,
        "seconds": seconds,
        "steps_per_second": len(seeds) * episodes * instance.horizon / seconds,
    }
