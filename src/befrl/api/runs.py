"""Runs of an agent on an instance with many seeds."""

import html
from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from befrl.analysis import regret_columns
from befrl.api import validation
from befrl.api.validation import AnySeeds
from befrl.common.defaults import LOCKSTEP
from befrl.common.errors import InputError
from befrl.experiment import run_file
from befrl.model.instance import Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MEANINGS = {
    "instance": regret_columns.SUMMARY["instance"],
    "track": regret_columns.SUMMARY["track"],
    "agent": "name of the agent",
    "seed": "the seed",
    "episode": "episode k, from 1",
    **run_file.LOGGED,
    "cumulative": "sum of the regret of the episodes 1 to k, in units of reward",
}


class Runs:
    """The runs of one agent in one setting; `regret` and `cumulative` have the shape (seeds, episodes).

    `log` has all arrays of `befrl.experiment.run_file`, and `meta` everything needed to repeat the runs, and what made
    them: versions and a hash of the code. `mdp` is the instance, or None if the runs come from a file. `runs[:10]` are
    the runs of the first ten seeds.
    """

    def __init__(self, log: Mapping[str, np.ndarray], meta: Mapping[str, Any], mdp: Instance | None = None):
        self.log, self.meta, self.mdp = dict(log), dict(meta), mdp
        self.label: str = self.meta["labels"][0]
        self.seeds: list[int] = self.meta["seeds"]
        self.seconds: float = self.meta["seconds"]

    @property
    def regret(self) -> np.ndarray:
        """The exact pseudo-regret V*_1(s_1) - V^pi_1(s_1) of every seed and episode."""
        return self.log["regret"][0]

    @property
    def cumulative(self) -> np.ndarray:
        """The cumulative regret after every episode."""
        return self.regret.cumsum(1)

    @property
    def certificate(self) -> np.ndarray:
        """The agent's own upper bound on the regret of every seed and episode; NaN if it gives none."""
        return self.log["certificate"][0]

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, places: Any) -> "Runs":
        chosen = np.unique(np.arange(len(self))[places])
        if not chosen.size:
            raise InputError(f"no seeds are chosen: there are {len(self)}, and a run needs at least one")
        log = {key: value if key in run_file.COST else value[:, chosen] for key, value in self.log.items()}
        part = {"seeds": [self.seeds[i] for i in chosen], "seconds": self.seconds * len(chosen) / len(self)}
        if "until_certified" in self.meta and len(chosen) < len(self):  # the rest is about all seeds
            whole = self.meta["until_certified"]
            part["until_certified"] = {key: whole[key] for key in ("within", "planned_episodes")}
        return Runs(log, self.meta | part, self.mdp)

    def frame(self) -> "DataFrame":
        """One row for each seed and episode; `frame.attrs["meanings"]` has the meanings of the columns."""
        from pandas import DataFrame  # slower to load than everything else

        n, K = self.regret.shape
        table = {
            "instance": self.meta["instance"],
            "track": self.meta["track"],
            "agent": self.label,
            "seed": np.repeat(self.seeds, K),
            "episode": np.tile(np.arange(1, K + 1), n),
            **{key: self.log[key][0].ravel() for key in run_file.LOGGED},
            "cumulative": self.cumulative.ravel(),
        }
        frame = DataFrame(table)
        frame.attrs["meanings"] = MEANINGS
        return frame

    def summary(self) -> "DataFrame":
        """One row with the mean cumulative regret, its interval and more, as in the table of a comparison."""
        from befrl.api.comparison import SUMMARY, Comparison  # which imports this module

        return Comparison({self.label: self}).table()[["agent", *SUMMARY, "seconds"]]

    def plot(self, path: str | PathLike[str] | None = None, ax: "Axes | None" = None) -> "Figure":
        """Draw the mean cumulative regret, as `Comparison.plot`."""
        from befrl.api.comparison import Comparison

        return Comparison({self.label: self}).plot(path, ax)

    def extend(
        self,
        *,
        seeds: AnySeeds | None = None,
        episodes: int | None = None,
        cores: int = 1,
        lockstep: int = LOCKSTEP,
        show: bool = True,
    ) -> "Runs":
        """These runs with more seeds, or with more episodes; the seeds that they have are not played again.

        One of these seeds is played again with the new ones, to see that instance, code and processor give the same
        bits. For more episodes all seeds are played from the start, which an agent that uses K does not allow.
        """
        from befrl.api import continuing

        return continuing.extend(self, seeds, episodes, cores, lockstep, show)

    def merge(self, *others: "Runs") -> "Runs":
        """These runs and others of the same agent and case; seeds in several of them must have the same bits."""
        from befrl.api import continuing

        return continuing.merge([self, *others])

    def trajectories(self) -> dict[str, np.ndarray]:
        """What happened, by playing again: states (seeds, episodes, H), actions, rewards, and policies (..., H, cells).

        States in several dimensions have one more axis, and so have policies, of the probabilities of actions, if some
        are random.
        """
        from befrl.api import continuing

        return continuing.trajectories(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a run file, which `befrl.read` and `befrl aggregate` read; its name ends in .npz."""
        if not fspath(path).endswith(".npz"):
            raise InputError(f"path = {validation.shown(path)} is not allowed: the name of a run file ends in .npz")
        run_file.save(path, self.log, self.meta)

    def __repr__(self) -> str:
        n, K = self.regret.shape
        names = f"Runs of '{self.label}' on '{self.meta['instance']}'"
        return f"{names}: {n} seeds, {K} episodes, mean regret {self.cumulative[:, -1].mean():.6g}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.summary().to_html(index=False)}"
