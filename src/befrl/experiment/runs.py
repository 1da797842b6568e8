"""Run the rows of a specification in lock-step groups, spread over processes, and describe the run in its metadata."""

import time
from dataclasses import asdict, replace

import numpy as np

from befrl import agents, instances
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.run_file import COST, LOGGED, TRACED


def run_rows(spec, width, threads=1, tick=None):
    """Play a run in groups of about `width` rows; return the log and the seconds.

    The log is that of `loop.run` with rows split into (settings, seeds, ...). The groups do not depend on the number of
    threads, and a row's bits do not depend on its group. `tick(steps)` is called as the work proceeds, with the number
    of steps of all rows since the last call.
    """
    groups = spec.groups(width)
    start = time.perf_counter()
    if threads == 1 or len(groups) == 1:
        logs = [loop.run(group, tick) for group in groups]
    else:
        # Imported here because the jobs of a workflow seldom have several processes, and it takes long to load.
        from joblib import Parallel, delayed, parallel_config

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
    log = {
        key: np.concatenate([part[key].reshape(len(spec.settings), -1, part[key].shape[1]) for part in logs], axis=1)
        for key in (*LOGGED, *TRACED)
    }
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
        setting, seed, episode = bad[0]
        raise InputError(
            f"instance '{spec.name}': agent '{spec.algorithm}' has a regret that is not a finite number "
            f"(setting {asdict(spec.settings[setting])}, seed {spec.seeds[seed]}, episode {episode + 1}): "
            "check the instance's features and parameters"
        )


def facts(spec):
    """Numbers that the agent derives before it starts, such as x_k, for each setting."""
    found = []
    for setting in spec.settings:
        agent = loop.make_agent(replace(spec, settings=(setting,), seeds=(0,)))
        found.append({key: np.asarray(value).ravel()[0].item() for key, value in agent.facts().items()})
    return found


def describe(spec, labels, seconds):
    """The metadata of a run: everything needed to repeat it."""
    return {
        **describe_case(spec, labels, seconds),
        "settings": [asdict(setting) for setting in spec.settings],
        "constants": [agents.constants(spec.algorithm, setting) for setting in spec.settings],
        "specification": [
            agents.specification(spec.instance.model, spec.algorithm, setting) for setting in spec.settings
        ],
        "facts": facts(spec),
    }


def describe_case(spec, labels, seconds):
    """The metadata of a run but for what an agent of befrl adds to it."""
    instance = spec.instance
    return {
        "instance": spec.name,
        "family": instance.family_name,
        "instance_parameters": instance.parameters,
        "horizon": instance.horizon,
        "optimal_value": instance.optimal_value,
        "uniform_value": instance.uniform_value,
        "track": spec.track,
        "ties": spec.ties,
        "algorithm": spec.algorithm,
        "labels": list(labels),
        "episodes": spec.episodes,
        "seeds": list(spec.seeds),
        "root_seed": spec.root_seed,
        "seconds": seconds,
        "steps_per_second": spec.steps / seconds,
    }
