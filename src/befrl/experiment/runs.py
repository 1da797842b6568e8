"""Run seeds in lock-step groups, spread over processes, and describe the run in its metadata."""

import time
from dataclasses import asdict, replace

import numpy as np
from joblib import Parallel, delayed, parallel_config

from befrl import agents, instances
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.run_file import COST, LOGGED


def run_seeds(spec, lockstep, threads=1, tick=None):
    """Play a run in groups of `lockstep` seeds; return the log as in `loop.run`, seeds first, and the seconds.

    The groups do not depend on the number of threads, and a seed's bits do not depend on its group. `tick(steps)` is
    called as the work proceeds, with the number of steps of all seeds since the last call.
    """
    groups = spec.groups(lockstep)
    start = time.perf_counter()
    if threads == 1 or len(groups) == 1:
        logs = [loop.run(group, tick) for group in groups]
    else:
        # An instance holds functions, which cannot be pickled: workers rebuild it from its family and parameters.
        recipe = (spec.instance.family_name, spec.instance.parameters, spec.instance.constants)
        jobs = [delayed(_run_group)(recipe, replace(group, instance=None)) for group in groups]
        logs = []
        # One BLAS thread per worker: more would change the last bits, and Snakemake exports the job's thread count.
        with parallel_config(backend="loky", inner_max_num_threads=1):
            for group, log in zip(groups, Parallel(n_jobs=threads, return_as="generator")(jobs), strict=True):
                logs.append(log)
                if tick is not None:
                    tick(group.steps)
    seconds = time.perf_counter() - start
    log = {key: np.concatenate([part[key] for part in logs]) for key in LOGGED}
    shares = np.array([len(group.seeds) for group in groups]) / len(spec.seeds)
    for key in COST:
        log[key] = shares @ np.stack([part[key] for part in logs])
    _check(spec, log["regret"])
    return log, seconds


def _run_group(recipe, spec):
    return loop.run(replace(spec, instance=instances.rebuild(*recipe)))


def _check(spec, regret):
    bad = np.argwhere(~np.isfinite(regret))
    if len(bad):
        seed, episode = bad[0]
        raise InputError(
            f"instance '{spec.name}': agent '{spec.algorithm}' has a regret that is not a finite number "
            f"(seed {spec.seeds[seed]}, episode {episode + 1}): check the instance's features and parameters"
        )


def facts(spec):
    """Numbers that the agent derives before it starts, such as x_k."""
    return loop.make_agent(replace(spec, seeds=(0,))).facts()


def describe(spec, seconds):
    """The metadata of a run: everything needed to repeat it."""
    instance = spec.instance
    return {
        "instance": spec.name,
        "family": instance.family_name,
        "instance_parameters": instance.parameters,
        "horizon": instance.horizon,
        "optimal_value": instance.optimal_value,
        "uniform_value": instance.uniform_value,
        "track": spec.track,
        "label": spec.label,
        "algorithm": spec.algorithm,
        "parameters": asdict(spec.parameters),
        "constants": agents.constants(spec.algorithm, spec.parameters),
        "specification": agents.specification(instance.model, spec.algorithm, spec.parameters),
        "facts": facts(spec),
        "episodes": spec.episodes,
        "seeds": list(spec.seeds),
        "root_seed": spec.root_seed,
        "seconds": seconds,
        "steps_per_second": spec.steps / seconds,
    }
