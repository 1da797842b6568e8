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
    """Play one run in groups of about `width` rows; return its log and the seconds that passed."""
    start = time.perf_counter()
    ((log, _),) = run_all([spec], width, threads, tick)
    return log, time.perf_counter() - start


def run_all(specs, width, threads=1, tick=None):
    """The log and the seconds of every run, with the groups of all runs spread over `threads` processes.

    Logs are those of `loop.run` with rows split into (settings, seeds, ...). Groups do not depend on `threads`, and a
    row's bits do not depend on its group. `tick(steps)` is called with the number of steps since the last call.
    """
    parts = [spec.groups(width) for spec in specs]
    groups = [group for part in parts for group in part]
    parallel = threads > 1 and len(groups) > 1
    if parallel:
        # Imported here because they take long to load and are seldom needed.
        import cloudpickle
        from joblib import Parallel, delayed, parallel_config

        # Instances hold functions, and classes may be defined in a notebook: both are sent by value.
        jobs = [delayed(_run_group)(cloudpickle.dumps(group), loaded=plugins.state()) for group in groups]
        # One BLAS thread per worker: more would change the last bits, and Snakemake exports the job's thread count.
        with parallel_config(backend="loky", inner_max_num_threads=1):
            played = Parallel(n_jobs=threads, return_as="generator")(jobs)
    else:
        played = (_run_group(group, tick) for group in groups)
    found = []
    for spec, part in zip(specs, parts, strict=True):
        logs, seconds = [], 0.0
        for group in part:
            log, passed = next(played)
            logs.append(log)
            seconds += passed
            if parallel and tick is not None:
                tick(group.steps)
        found.append((_joined(spec, part, logs), seconds))
    return found


def _run_group(group, tick=None, loaded=None):
    """The log and the seconds of one group; other processes get it pickled, with the plug-ins that it needs."""
    if loaded is not None:
        plugins.restore(loaded)
        group = pickle.loads(group)
    start = time.perf_counter()
    return loop.run(group, tick), time.perf_counter() - start


def _joined(spec, groups, logs):
    log = {
        key: np.concatenate([part[key].reshape(len(spec.settings), -1, part[key].shape[1]) for part in logs], axis=1)
        for key in (*LOGGED, *TRACED)
    }
    shares = np.array([len(group.seeds) for group in groups]) / len(spec.seeds)
    for key in COST:
        log[key] = shares @ np.stack([part[key] for part in logs])
    bad = np.argwhere(~np.isfinite(log["regret"]))
    if len(bad):
        setting, seed, episode = bad[0]
        raise InputError(
            f"instance '{spec.name}': agent '{spec.algorithm}' has a regret that is not a finite number "
            f"(setting {asdict(spec.settings[setting])}, seed {spec.seeds[seed]}, episode {episode + 1}): "
            "check the instance's features and parameters"
        )
    return log


def describe(spec, labels, seconds):
    """The metadata of a run: everything needed to repeat it, and the numbers that the agent derives, such as x_k."""
    model, algorithm, facts = spec.instance.model, spec.algorithm, []
    for setting in spec.settings:
        agent = loop.make_agent(replace(spec, settings=(setting,), seeds=(0,)))
        facts.append({key: np.asarray(value).ravel()[0].item() for key, value in agent.facts().items()})
    return {
        **describe_case(spec, labels, seconds),
        "settings": [asdict(setting) for setting in spec.settings],
        "constants": [agents.constants(algorithm, setting) for setting in spec.settings],
        "specification": [agents.specification(model, algorithm, setting) for setting in spec.settings],
        "facts": facts,
    }


def describe_case(spec, labels, seconds):
    """The metadata of a run without the parts that only an agent of befrl has."""
    instance = spec.instance
    meta = {"instance": spec.name, "family": instance.family_name, "instance_parameters": instance.parameters}
    meta |= {key: getattr(instance, key) for key in ("horizon", "optimal_value", "uniform_value", "identity")}
    meta |= {key: getattr(spec, key) for key in ("track", "ties", "algorithm", "episodes", "root_seed")}
    meta |= {"labels": list(labels), "seeds": list(spec.seeds)}
    return meta | {"seconds": seconds, "steps_per_second": spec.steps / seconds}
