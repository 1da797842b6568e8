"""Small cases of a study from real runs: their run files, the outcomes of tuning, and their tables."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from befrl.analysis.aggregation import aggregate
from befrl.common import storage
from befrl.experiment import run_file, runs, settings, tuning
from befrl.experiment.spec import RunSpec
from befrl.experiment.tuning import EVALUATION, Halving

HALVING = Halving(4, 0, (2, 4), (2,))


@dataclass(frozen=True)
class Entry:
    """An agent of a study, as in a config."""

    algorithm: str
    set: dict = field(default_factory=dict)
    tune: dict | None = None
    sweep: dict | None = None


def play(instance, agent, entry, seeds, halving=HALVING, **options):
    """The log and the meta of all variants of an agent, and the outcome of its tuning if it is tuned."""
    options = {"name": "tiny", "episodes": 12, "root_seed": 5} | options
    spec = RunSpec.of(instance, algorithm=entry.algorithm, values=entry.set, seeds=seeds, **options)
    outcome = None
    if entry.tune is not None:
        tuning.check(entry.algorithm, entry.set, entry.tune, agent)
        # As it is read back from its file.
        outcome = json.loads(json.dumps(tuning.halve(spec, entry.set, entry.tune, halving, width=100)))
    variants = settings.variants(agent, entry.set, outcome, entry.sweep)
    spec = RunSpec.of(instance, algorithm=entry.algorithm, values=list(variants.values()), seeds=seeds, **options)
    log, seconds = runs.run_rows(spec, width=100)
    return log, runs.describe(spec, list(variants), seconds), outcome


def play_all(instance, entries, seeds=6, **options):
    """The log, meta and outcome of every agent, on the given number of evaluation seeds."""
    seeds = range(EVALUATION, EVALUATION + seeds)
    return {agent: play(instance, agent, entry, seeds, **options) for agent, entry in entries.items()}


def written(folder, case, cuts=()):
    """The paths of the run files of a case, split into batches before the seeds `cuts`; and its outcomes by agent."""
    paths = []
    for agent, (log, meta, _) in case.items():
        seeds = np.array(meta["seeds"])
        for part in np.split(np.arange(len(seeds)), np.searchsorted(seeds, cuts)):
            by_seed = (*run_file.LOGGED, *run_file.TRACED)
            batch = {key: value[:, part] if key in by_seed else value for key, value in log.items()}
            paths.append(Path(folder) / agent / f"{seeds[part[0]]}-{seeds[part[-1]]}.npz")
            run_file.save(paths[-1], batch, meta | {"seeds": seeds[part].tolist()})
    return paths, {agent: outcome for agent, (_, _, outcome) in case.items() if outcome is not None}


def write_tables(layout, case, level=0.95):
    """Write the run files and the regret tables of a case where a study has them; return the (instance, track)."""
    meta = next(iter(case.values()))[1]
    name = meta["instance"], meta["track"]
    tables = aggregate(*written(layout.runs(*name), case), level)
    for table, text in tables.items():
        storage.write_text(layout.regret_timings(*name) if table == "timings" else layout.regret(table, *name), text)
    return name
