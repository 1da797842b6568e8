"""Published experiments run again: what the authors report beside what we measure, one file for each source.

A source's module has

    CITATION   where the authors' numbers are printed, and how they were read
    TRACK      whether its agents know the reward
    values(cases) -> rows, each with the `authors`' number where they have one
    curves(cases) -> rows, by `curves_of`

A `Case` is one of its instances with the tables of its runs. The config's `published` names the instances of each
source; they are cases of the study like all others.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from befrl.common import storage, tidy
from befrl.common.catalogue import Catalogue

catalogue = Catalogue("published source", __name__, __path__)

COLUMNS = {
    "source": "file of befrl/published that the row belongs to",
    "instance": "name of the instance in the study",
    "quantity": "what is compared, or what a curve shows",
    "algorithm": "name of the algorithm; empty where the quantity is of the instance",
    "variant": "the agent with its grid point, if it is on one",
    "role": "theory, set, tuned or baseline, as in the regret tables",
    "episode": "episode that the number belongs to; empty where there is none",
    "ours": "our number; of returns, regret and reward the mean over seeds",
    "low": "lower end of the bootstrap interval of ours",
    "high": "upper end of the bootstrap interval of ours",
    "authors": "the authors' number; empty where they give none",
    "unit": "unit of both",
    "seeds": "number of our evaluation seeds",
}
CURVES = {"return": "return", "regret": "cumulative regret", "reward": "cumulative reward"}
UNITS = {"return": "reward per episode", "regret": "reward", "reward": "reward"}


@dataclass(frozen=True)
class Case:
    """An instance, V*_1 of its first state, and the tables of its runs."""

    instance: str
    optimal_value: float
    summary: pd.DataFrame
    curves: pd.DataFrame
    timings: pd.DataFrame

    @property
    def episodes(self):
        return int(self.summary["episodes"].iloc[0])

    @property
    def name(self):
        return {"instance": self.instance, "seeds": int(self.summary["seeds"].iloc[0])}

    def variants(self, *roles):
        """Rows of the summary, with seconds: of these roles, or of all but the points of grids that lost."""
        rows = self.summary.merge(self.timings[["variant", "seconds_per_episode", "estimating"]], on="variant")
        rows = rows[rows["role"].isin(roles) if roles else rows["role"] != "grid"]
        return [row for _, row in rows.iterrows()]

    def curve(self, variant):
        return self.curves[self.curves["variant"] == variant]

    def regret_at(self, variant, episode):
        """Mean and interval of the regret so far, linear between the stored points."""
        curve = self.curve(variant)
        return {
            ours: float(np.interp(episode, curve["episode"], curve[column]))
            for ours, column in (("ours", "mean"), ("low", "low"), ("high", "high"))
        }


def read(source, folder, instances) -> list[Case]:
    """The cases of a source from the files of a study below `folder`."""
    return [_read(Path(folder), instance, catalogue.module(source).TRACK) for instance in instances]


def _read(folder, instance, track):
    def table(name, columns):
        return tidy.read(folder / "regret" / f"{instance}_{track}" / f"{name}.csv", columns)

    return Case(
        instance=instance,
        optimal_value=storage.read_meta(folder / "instances" / f"{instance}.npz", "instance")["optimal_value"],
        summary=table("summary", tidy.SUMMARY),
        curves=table("curves", tidy.CURVES),
        timings=table("timings", tidy.TIMINGS),
    )


def of(row):
    """How a row of the summary is named in the table."""
    return {key: row[key] for key in ("algorithm", "variant", "role")}


def tables(source, cases) -> dict[str, list[dict]]:
    """The rows of both tables of a source: its values, the authors' beside ours, and its curves."""
    module = catalogue.module(source)
    found = {"values": module.values(cases), "curves": module.curves(cases)}
    return {name: [{"source": source, **row} for row in part] for name, part in found.items()}


def curves_of(cases, shown, *roles) -> list[dict]:
    """Points of the curves of some cases: "return" (per episode), "regret" (so far) or "reward" (so far).

    Of the variants with these roles, or of all but the points of grids that lost.
    """
    return [point for case in cases for point in _curves(case, shown, roles)]


def _curves(case, shown, roles):
    for variant in case.variants(*roles):
        curve = case.curve(variant["variant"])
        k = curve["episode"].to_numpy()
        match shown:
            case "return":
                columns = [curve[name].to_numpy() for name in ("return", "return_low", "return_high")]
            case "regret":
                columns = [curve[name].to_numpy() for name in ("mean", "low", "high")]
            case "reward":
                # More regret is less reward: the ends of the interval change places.
                columns = [k * case.optimal_value - curve[name].to_numpy() for name in ("mean", "high", "low")]
        for episode, ours, low, high in zip(k, *columns, strict=True):
            point = {"episode": episode, "ours": ours, "low": low, "high": high}
            yield {**case.name, "quantity": CURVES[shown], **of(variant), **point, "unit": UNITS[shown]}
