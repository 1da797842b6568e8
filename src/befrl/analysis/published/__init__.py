"""Published experiments run again: the authors' numbers beside ours, one file for each source. A module has:

    ABOUT         a title line and a text for the report: what was run, and how it deviates from the source
    CITATION      where the authors' numbers are printed, how they were read, and how many runs are behind them
    TRACK         whether its agents know the reward
    EXPERIMENTS   {name of an experiment: what it compares}
    values(experiment, rerun) -> rows with our number and, where the authors give one, theirs
    curves(experiment, rerun) -> rows, by `curves_of`
    DRAWN         False if its curves show nothing and have no figure; the text says why
    timings(experiment, rerun) -> rows like those of `values` for measured seconds, if the source has such numbers

The config's `published` names the instances of each experiment. Where the authors' code and text differ, each is an
experiment of its own. All are compared with the exact value of uniformly random play (`told_from_uniform`).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from befrl.analysis import columns, regret_tables
from befrl.common import instance_facts, tidy
from befrl.common.errors import unknown
from befrl.common.registry import Registry

registry = Registry("published source", __name__, __path__)

COLUMNS = columns.TABLES["published"]
CURVES = {"return": "return", "regret": "cumulative regret", "reward": "cumulative reward"}
UNITS = {"return": "reward per episode", "regret": "reward", "reward": "reward"}
UNIFORM = {"algorithm": "random", "variant": "uniform play", "role": "baseline"}


@dataclass(frozen=True)
class Rerun:
    """An instance of a published experiment, the values of optimal and of uniform play, and our tables of it."""

    instance: str
    parameters: dict
    optimal_value: float
    uniform_value: float
    summary: pd.DataFrame
    curves: pd.DataFrame
    timings: pd.DataFrame

    def variants(self, *roles):
        """Rows of the summary with these roles, or all."""
        rows = self.summary[self.summary["role"].isin(roles)] if roles else self.summary
        return [row for _, row in rows.iterrows()]

    def timed_variants(self):
        """The rows of the agents' own variants with the seconds of the agents."""
        seconds = self.timings[["agent", "seconds_per_episode", "estimating"]]
        rows = self.summary[self.summary["variant"] == self.summary["agent"]]
        rows = tidy.joined(rows, seconds, ["agent"], f"summary and timings of '{self.instance}'")
        return [row for _, row in rows.iterrows()]

    def curve(self, variant):
        """The points of a variant's curve."""
        return self.curves[self.curves["variant"] == variant]

    def regret_at(self, variant, episode):
        """Mean and interval of the cumulative regret, interpolated linearly between the stored points."""
        curve, names = self.curve(variant), {"ours": "mean", "low": "low", "high": "high"}
        return {ours: float(np.interp(episode, curve["episode"], curve[name])) for ours, name in names.items()}

    def uniform_regret(self, episode):
        """The exact expected regret of uniformly random play."""
        return episode * (self.optimal_value - self.uniform_value)


def drawn(source) -> bool:
    """Whether a source has a figure of its curves."""
    return getattr(registry.module(source), "DRAWN", True)


def read(source, layout, experiments) -> dict[str, list[Rerun]]:
    """The reruns of a source's experiments, {experiment: instances}, from the files of `layout`."""
    module = registry.module(source)
    for name in experiments:
        if name not in module.EXPERIMENTS:
            raise unknown(f"experiment of '{source}'", name, module.EXPERIMENTS)

    def rerun(instance):
        meta = instance_facts.read(layout.instance(instance), instance)
        facts = [meta[key] for key in ("parameters", "optimal_value", "uniform_value")]
        tables = [regret_tables.read(layout, name, instance, module.TRACK) for name in ("summary", "curves", "timings")]
        return Rerun(instance, *facts, *tables)

    return {name: [rerun(instance) for instance in experiments.get(name, ())] for name in module.EXPERIMENTS}


def of(row):
    """The columns that name a row of the summary."""
    return {key: row[key] for key in ("algorithm", "variant", "role")}


def against(numbers, uniform=None, authors=None, runs=None):
    """The columns that compare `numbers` (ours, low, high) with those of uniform play and with the authors'."""
    found = dict(numbers)
    if uniform is not None:
        found["told_from_uniform"] = "no" if numbers["low"] <= uniform <= numbers["high"] else "yes"
    if authors is not None:
        found |= {"authors": authors, "deviation": numbers["ours"] / authors - 1, "authors_runs": runs}
    return found


def tables(source, reruns) -> dict[str, list[dict]]:
    """The rows of a source's tables, values, curves and timings, from {experiment: its reruns}."""
    module, found = registry.module(source), {"values": [], "curves": [], "timings": []}
    functions = {name: getattr(module, name) for name in found if hasattr(module, name)}
    for experiment, several in reruns.items():
        for rerun in several:
            names = {"source": source, "instance": rerun.instance, "seeds": int(rerun.summary["seeds"].iloc[0])}
            for name, function in functions.items():
                found[name] += [names | row for row in function(experiment, rerun)]
    return found


def regret_rows(rerun, at):
    """The optimal value, and the regret of each variant and of uniform play at the episodes `at` that were played."""
    yield {"quantity": "optimal value", "ours": rerun.optimal_value, "unit": "reward per episode"}
    last = rerun.curves["episode"].max()
    for episode in (each for each in at if each <= last):
        common = {"quantity": "regret", "episode": episode, "unit": "reward"}
        uniform = rerun.uniform_regret(episode)
        for variant in rerun.variants():
            yield {**common, **of(variant), **against(rerun.regret_at(variant["variant"], episode), uniform)}
        yield {**common, **UNIFORM, "ours": uniform}


def curves_of(rerun, shown, *roles):
    """Points of the curves of "return", or of cumulative "regret" or "reward", of variants and of uniform play."""
    drawn = [(of(row), rerun.curve(row["variant"])) for row in rerun.variants(*roles)]
    if drawn:
        k = drawn[0][1]["episode"]
        regret = dict.fromkeys(("mean", "low", "high"), rerun.uniform_regret(k))  # exact, without an interval
        value = dict.fromkeys(("return", "return_low", "return_high"), rerun.uniform_value)
        drawn.append((UNIFORM, pd.DataFrame({"episode": k, **regret, **value})))
    for names, curve in drawn:
        ends = ("return", "return_low", "return_high") if shown == "return" else ("mean", "low", "high")
        k, *numbers = (curve[name].to_numpy() for name in ("episode", *ends))
        if shown == "reward":
            mean, low, high = numbers  # more regret is less reward: the ends swap
            numbers = [k * rerun.optimal_value - regret for regret in (mean, high, low)]
        for episode, ours, low, high in zip(k, *numbers, strict=True):
            point = {"episode": episode, "ours": ours, "low": low, "high": high}
            yield {"quantity": CURVES[shown], **names, **point, "unit": UNITS[shown]}
