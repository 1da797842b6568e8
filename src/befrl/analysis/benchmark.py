"""Speed, growth and memory of the episode loop, in processor time on one core, exact regret and logging included.

A table has one row per number: steps per second of each agent with many rows in lock step, of BEF-RLSVI with few, the
cost of late episodes over that of early ones, and the peak memory. Compare only tables of one machine.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd

from befrl import agents, instances
from befrl.common.errors import InputError, Refused
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment import loop
from befrl.experiment.episodes import random_play
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.learning.data import Data

COLUMNS = {
    "measure": "speed (steps per second), growth (cost of a late episode over that of an early one) or memory (MB)",
    "instance": "the instance",
    "name": "agent, or estimator; all: the whole benchmark",
    "rows": "number of seeds that run in lock step",
    "episodes": "number of episodes; the late episode of a growth",
    "value": "the number: speeds are the best of the repeats",
}
KEY = [name for name in COLUMNS if name != "value"]
INSTANCES = {
    "chain-8": ("chain", {"bins": 8, "horizon": 40}),
    "riverswim-4": ("riverswim", {"kernel": "cho", "states": 4, "horizon": 12}),
    "circle": ("circle", {}),
    "lds": ("lds", {}),
}
# Agents have their default parameters, except that the theory's x would make every reward of BEF-RLSVI 0 or 1.
BEF_RLSVI = {"x": 3}
WIDE = 480
# Episodes by instance at WIDE rows, and by (instance, rows) for BEF-RLSVI alone.
EVERY_AGENT = {"chain-8": 100, "riverswim-4": 200}
ONLY_BEF_RLSVI = {("chain-8", 1): 1000, ("chain-8", 60): 300, ("circle", 50): 30, ("lds", 50): 30}
# Episodes around an early and a late one, for the growth of an agent's episodes and of an estimator's updates.
EARLY, LATE, LATE_UPDATE, WINDOW = 100, 3000, 1000, 100


def measure(quick=False, repeats=1, report=lambda row: None):
    """The measurements as a list of rows; `report` is called with each of them when it is done."""
    shrink = 10 if quick else 1
    rows = []
    for row in _measurements(shrink, repeats):
        rows.append(row)
        report(row)
    return rows


def _measurements(shrink, repeats):
    built = {name: instances.build(*family) for name, family in INSTANCES.items()}
    wanted = [
        *((name, agent, WIDE, K) for name, K in EVERY_AGENT.items() for agent in agents_on(built[name])),
        *((name, "bef-rlsvi", rows, K) for (name, rows), K in ONLY_BEF_RLSVI.items()),
    ]
    for name, agent, rows, episodes in wanted:
        yield speed(built[name], name, agent, rows, episodes // shrink, repeats)
    yield growth_of_episodes(built["chain-8"], "chain-8", 50, LATE // shrink)
    for estimator in estimators.registry.names():
        yield growth_of_updates(estimator, 10, LATE_UPDATE // shrink)
    yield _row("memory", "all", "all", WIDE, max(EVERY_AGENT.values()) // shrink, _peak())


def _row(*values):
    return dict(zip(COLUMNS, values, strict=True))


def agents_on(instance):
    """The agents that run on the instance with their default parameters."""

    def runs(name):
        try:
            agents.specification(instance.model, name, agents.parameters(name, {}))
        except Refused:
            return False
        return True

    return [name for name in agents.registry.names() if runs(name)]


def timed_run(instance, name, agent, rows, episodes):
    """Processor seconds of the first rows' run at the end of each episode, and of the whole run, (episodes + 1,)."""
    spec = RunSpec.of(instance, name, agent, BEF_RLSVI if agent == "bef-rlsvi" else {}, episodes, range(rows))
    start, stamps = time.process_time(), []
    loop.run(spec, tick=lambda steps: stamps.append(time.process_time()))
    return np.array([*stamps, time.process_time()]) - start


def speed(instance, name, agent, rows, episodes, repeats=1):
    """Steps per second of an agent, the set-up of the run included."""
    seconds = min(timed_run(instance, name, agent, rows, episodes)[-1] for _ in range(repeats))
    return _row("speed", name, agent, rows, episodes, rows * instance.horizon * episodes / seconds)


def growth_of_episodes(instance, name, rows, late):
    """Median seconds of BEF-RLSVI's episodes around the last one over those around k = 100."""
    half = WINDOW // 2
    seconds = np.diff(timed_run(instance, name, "bef-rlsvi", rows, late + half)[:-1])
    value = np.median(seconds[late - half :]) / np.median(seconds[EARLY - half : EARLY + half])
    return _row("growth", name, "bef-rlsvi", rows, late, value)


def growth_of_updates(name, rows, late):
    """Median seconds of an estimator's last updates over those around k = late/20, in random play.

    The instance is the truncated-exponential chain, or the linear system for estimators that need Gaussian next states.
    """
    module = estimators.registry.module(name)
    for family in ("literal", "lds"):
        instance = instances.build(family, {})
        try:
            estimator = module.Estimator(instance.model, rows, 1.0, Stream(0, family, range(rows), ESTIMATOR))
        except Refused:
            continue
        break
    data, seconds = Data(instance.model, rows), []
    for trajectory in random_play(instance, family, range(rows), late, root_seed=0):
        data.add(trajectory)
        start = time.process_time()
        estimator.update(data, trajectory)
        seconds.append(time.process_time() - start)
    early = late // 20
    value = np.median(seconds[-early:]) / np.median(seconds[early // 2 : 3 * early // 2])
    return _row("growth", family, name, rows, late, value)


def compared(before, after):
    """Both values of each number that is in both tables, and their ratio after/before."""
    table = before.merge(after, on=KEY, suffixes=("_before", "_after"))
    if table.empty:
        raise InputError("the two tables have no measurement in common: measure both with or without --quick")
    return table.assign(ratio=table["value_after"] / table["value_before"])


def page(before, after):
    """The page `docs/speed.md`: what two tables have in common."""
    table = compared(before, after)
    parts = [
        "# Speed before and after",
        "Made by `befrl bench --compare docs/speed/before.csv docs/speed/after.csv`; docs/speed/README.md says what"
        " made the two tables. Both are from one machine: the ratios are what counts. Seconds are processor time on one"
        " core, with exact regret, logging and the set-up of the run included. A row is a seed in lock step with the"
        " others.",
    ]
    for title, digits, part in _sections(table):
        numbers = {"before": _shown(part["value_before"], digits), "after": _shown(part["value_after"], digits)}
        numbers["after/before"] = _shown(part["ratio"], 2)
        parts += [f"## {title}", markdown({**_labels(part), **numbers})]
    return "\n\n".join(parts) + "\n"


def text(rows):
    """The measurements as a table to read."""
    parts = []
    for title, digits, part in _sections(pd.DataFrame(rows)):
        parts += [title, markdown({**_labels(part), "value": _shown(part["value"], digits)})]
    return "\n\n".join(parts)


def _sections(table):
    """Title, digits and rows of each measure that is in a table."""
    for measure, title, digits in (
        ("speed", "Steps per second", 0),
        ("growth", "Cost of a late episode over that of an early one", 2),
        ("memory", "Peak memory of the benchmark, MB", 0),
    ):
        part = table[table["measure"] == measure]
        if len(part):
            yield title, digits, part


def _labels(part):
    return {name: [str(value) for value in part[name]] for name in ("instance", "name", "rows")}


def _shown(values, digits):
    return [f"{value:,.{digits}f}" for value in values]


def markdown(columns):
    """A Markdown table of columns {title: texts}, padded to be read as it stands; numbers are on the right."""
    widths = {title: max(map(len, (title, *texts))) for title, texts in columns.items()}
    right = {title: all(text[:1].isdigit() for text in texts) for title, texts in columns.items()}

    def line(texts):
        cells = (
            text.rjust(width) if right[title] else text.ljust(width)
            for text, (title, width) in zip(texts, widths.items(), strict=True)
        )
        return f"| {' | '.join(cells)} |"

    rule = "|".join("-" * (width + 1) + (":" if right[title] else "-") for title, width in widths.items())
    return "\n".join([line(columns), f"|{rule}|", *map(line, zip(*columns.values(), strict=True))])


def _peak() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
