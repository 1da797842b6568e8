"""Run the rows of a specification in lock-step groups, spread over processes, and describe the run in its metadata."""

import pickle
import time
from dataclasses import asdict, replace

import numpy as np

from befrl import agents, plugins
from befrl.common.errors import InputError
from befrl.experiment import loop
from befrl.experiment.run_file import COST, LOGGED, TRACED


def run_rows(spec, width, threads=1, tick=None):
    """Play a run in groups of about `width` rows; return the log and the seconds.

    The log is that of `loop.run` with rows split into (settings, seeds, ...). The groups do not depend on the number of
    threads, and a row's bits do not depend on its group. `tick(steps)` is called as the work proceeds, with the number
    of steps of all rows since the last call.
    """
    start = time.perf_counter()
    ((log, _),) = run_all([spec], width, threads, tick)
    return log, time.perf_counter() - start


def run_all(specs, width, threads=1, tick=None):
    """The log and the seconds of every run, with the groups of all of them spread over the processes."""
    groups = [spec.groups(width) for spec in specs]
    played = _play([group for part in groups for group in part], threads, tick)
    found = []
    for spec, part in zip(specs, groups, strict=True):
        logs, seconds = zip(*(next(played) for _ in part), strict=True)
        found.append((_joined(spec, part, logs), sum(seconds)))
    return found


def _play(groups, threads, tick):
    """Yield the log and the seconds of each group in turn."""
    if threads == 1 or len(groups) == 1:
        for group in groups:
            yield _timed(group, tick)
        return
    # Imported here because the jobs of a workflow seldom have several processes, and they take long to load.
    import cloudpickle
    from joblib import Parallel, delayed, parallel_config

    # Instances hold functions, and classes may be defined in a notebook: both are sent by value. A worker must load
    # the plug-ins before it can read the rest.
    known = plugins.state()
    jobs = [delayed(_run_group)(known, cloudpickle.dumps(group)) for group in groups]
    # One BLAS thread per worker: more would change the last bits, and Snakemake exports the job's thread count.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        for group, played in zip(groups, Parallel(n_jobs=threads, return_as="generator")(jobs), strict=True):
            if tick is not None:
                tick(group.steps)
            yield played


def _run_group(known, pickled):
    """Run a group of rows in another process."""
    plugins.restore(known)
    return _timed(pickle.loads(pickled))


def _timed(group, tick=None):
    start = time.perf_counter()
    return loop.run(group, tick), time.perf_counter() - start


def _joined(spec, groups, logs):
    """The log of a run from the logs of its groups; raises if a regret is not finite."""
    log = {
        key: np.concatenate([part[key].reshape(len(spec.settings), -1, part[key].shape[1]) for part in logs], axis=1)
        for key in (*LOGGED, *TRACED)
    }
    shares = np.array([len(group.seeds) for group in groups]) / len(spec.seeds)
    for key in COST:
        log[key] = shares @ np.stack([part[key] for part in logs])
    _check(spec, log["regret"])
    return log


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
