"""Speed, growth and memory of the episode loop in processor time on one core, with exact regret and logging.

Speed is in steps per second; growth is the cost of late over early episodes. Compare only tables of one machine.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd

from befrl import agents, instances
from befrl.analysis import columns
from befrl.analysis.components.scaling import applies
from befrl.common.defaults import LOCKSTEP
from befrl.common.errors import Refused
from befrl.common.markdown import markdown_table
from befrl.common.streams import ESTIMATOR, Stream
from befrl.experiment import loop
from befrl.experiment.episodes import random_play
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.learning.data import Data

COLUMNS = columns.TABLES["bench"]
INSTANCES = {
    "chain-8": ("chain", {"bins": 8, "horizon": 40}),
    "riverswim-4": ("riverswim", {"kernel": "cho", "states": 4, "horizon": 12}),
    "circle": ("circle", {}),
    "lds": ("lds", {}),
}
BEF_RLSVI = {"x": 3}  # the theoretical x would make every reward 0 or 1; other agents have their defaults
WIDE = LOCKSTEP
EVERY_AGENT = {"chain-8": 100, "riverswim-4": 200}  # episodes by instance, with WIDE rows
MAIN_AGENTS = ("bef-rlsvi", "bef-seed")
OTHER_ROWS = {("chain-8", 1): 1000, ("chain-8", 60): 300, ("circle", 50): 30, ("lds", 50): 30}  # of the main agents
EARLY, LATE, LATE_UPDATE, WINDOW = 100, 3000, 1000, 100  # episodes that growth compares


def measure(quick=False, repeats=1, report=lambda row: None):
    """The measurements as rows; `report` is called with each one when it is done."""
    rows = []
    for row in _measurements(10 if quick else 1, repeats):
        rows.append(row)
        report(row)
    return rows


def _measurements(shrink, repeats):
    built = {name: instances.build(*family) for name, family in INSTANCES.items()}
    for name, episodes in EVERY_AGENT.items():
        for agent in agents.registry.names():
            if applies(built[name].model, agent, {}):
                yield speed(built[name], name, agent, WIDE, episodes // shrink, repeats)
    for (name, rows), episodes in OTHER_ROWS.items():
        for agent in MAIN_AGENTS:
            yield speed(built[name], name, agent, rows, episodes // shrink, repeats)
    yield growth_of_episodes(built["chain-8"], "chain-8", 50, LATE // shrink)
    for estimator in estimators.registry.names():
        yield growth_of_updates(estimator, 10, LATE_UPDATE // shrink)
    yield _row("memory", "all", "all", WIDE, max(EVERY_AGENT.values()) // shrink, _peak())


def _row(*values):
    return dict(zip(COLUMNS, values, strict=True))


def timed_run(instance, name, agent, rows, episodes):
    """Processor seconds up to the end of each episode, and of the whole run, (episodes + 1,)."""
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
    """Median seconds of an estimator's last updates over those around k = late/20, in random play."""
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


def page(table):
    """The page `docs/speed.md` of a table of measurements."""
    head = [
        "# Speed",
        "Made by `befrl bench --page docs/speed.csv` from a table of `befrl bench --repeats 2`, on one core of an idle"
        " machine. Seconds are processor time, with exact regret, logging and the set-up of the run"
        " included. A row is a seed in lock step with the others. [peers.md](peers.md) compares with other code.",
    ]
    return "\n\n".join([*head, *_sections(table, "## ")]) + "\n"


def text(rows):
    """The measurements as a text table."""
    return "\n\n".join(_sections(pd.DataFrame(rows), ""))


def _sections(table, mark):
    """Title and Markdown table of each measure that is in a table."""
    for measure, title, digits in (
        ("speed", "Steps per second", 0),
        ("growth", "Cost of a late episode over that of an early one", 2),
        ("memory", "Peak memory of the benchmark, MB", 0),
    ):
        part = table[table["measure"] == measure]
        if len(part):
            cells = {name: [str(value) for value in part[name]] for name in ("instance", "name", "rows")}
            cells["value"] = [f"{value:,.{digits}f}" for value in part["value"]]
            yield mark + title
            yield markdown(cells)


def markdown(cells):
    """A Markdown table of columns {title: texts}; numbers are on the right."""
    right = [i for i, texts in enumerate(cells.values()) if all(text[:1].isdigit() for text in texts)]
    return markdown_table(list(cells), zip(*cells.values(), strict=True), right).rstrip()


def _peak() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
