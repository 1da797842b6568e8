"""Comparisons of several agents on the same instance with the same seeds and the same environment noise."""

import html
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from befrl.analysis import aggregation, intervals, regret_columns
from befrl.api import players, printing
from befrl.api.players import AnyPlayers
from befrl.api.playing import play
from befrl.api.runs import Runs
from befrl.api.validation import AnyInstance, AnySeeds, read_instance
from befrl.common import storage
from befrl.common.defaults import EPISODES, LEVEL, LOCKSTEP, ROOT_SEED, TIES
from befrl.common.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUMMARY = ("setting", "mean", "low", "high", "median", "failed")
MEANINGS = {
    "agent": "name of the agent",
    **{key: regret_columns.SUMMARY["q50" if key == "median" else key] for key in SUMMARY},
    "difference": "mean over seeds of the regret minus that of the best agent but the oracle, paired by seed",
    "difference_low": "lower end of the interval of the mean difference",
    "difference_high": "upper end of the interval of the mean difference",
    "seconds": "seconds that all runs of the agent took, summed over processes",
}


class Comparison:
    """Runs of several agents on one instance and track, with the same seeds."""

    def __init__(self, runs: Mapping[str, Runs]):
        """Compare runs by label, such as those of `befrl.run` or in a file read by `befrl.read`."""
        if not isinstance(runs, Mapping) or not runs or not all(isinstance(each, Runs) for each in runs.values()):
            raise InputError("runs is not allowed: it must be a dictionary of at least one Runs by name")
        self.runs = {label: Runs(each.log, each.meta | {"labels": [label]}, each.mdp) for label, each in runs.items()}
        played = [(each.log, each.meta) for each in self.runs.values()]
        variants = (variant for run in played for variant in aggregation.variants_of([run], played[0][1]))
        rows = aggregation.tables(variants, {}, LEVEL)
        self._summary = pd.DataFrame(rows["summary"], columns=list(regret_columns.SUMMARY))
        self._curves = pd.DataFrame(rows["curves"], columns=list(regret_columns.CURVES))

    def table(self) -> pd.DataFrame:
        """One row for each agent, best first; `table.attrs["meanings"]` has the meanings of the columns."""
        rows = self._summary.sort_values("mean", kind="stable").set_index("variant").rename(columns={"q50": "median"})
        best = next((label for label in rows.index if rows["algorithm"][label] != "oracle"), rows.index[0])
        found = []
        for label, row in rows.iterrows():
            difference = self.runs[label].cumulative[:, -1] - self.runs[best].cumulative[:, -1]
            low, high = intervals.mean_interval(difference, LEVEL)
            entry = {"agent": label, "seconds": self.runs[label].seconds, **row[list(SUMMARY)]}
            found.append(entry | {"difference": difference.mean(), "difference_low": low, "difference_high": high})
        table = pd.DataFrame(found, columns=list(MEANINGS))
        table.attrs["meanings"] = MEANINGS
        return table

    def frame(self) -> pd.DataFrame:
        """One row for each agent, seed and episode, as `Runs.frame`."""
        return pd.concat([each.frame() for each in self.runs.values()], ignore_index=True)

    def text(self, form: str = "text") -> str:
        """The table as `befrl compare` prints it, or as markdown or latex."""
        return printing.printed(self.table(), form)

    def plot(self, path: str | PathLike[str] | None = None, ax: "Axes | None" = None) -> "Figure":
        """Draw the mean cumulative regret of every agent but the oracle; the path ends in .png, .svg or .pdf.

        With `ax`, an axis of matplotlib, it is drawn there.
        """
        from befrl.api.drawing import draw  # slow to load

        return draw(self._summary, self._curves, LEVEL, path, ax)

    def extend(self, **options: Any) -> "Comparison":
        """The comparison with more seeds or episodes, see `Runs.extend`."""
        return Comparison({label: each.extend(**options) for label, each in self.runs.items()})

    def save(self, path: str | PathLike[str]) -> None:
        """Write a run file for each agent to a new folder, which `befrl.read` and `befrl aggregate` read."""
        check_folder(path)
        for label, each in self.runs.items():
            each.save(Path(path) / label / f"{each.seeds[0]}-{each.seeds[-1]}.npz")

    def __repr__(self) -> str:
        first = self._summary.iloc[0]
        size = f"{first['seeds']} seeds, {first['episodes']} episodes"
        return f"Comparison of {len(self.runs)} agents on '{first['instance']}', track {first['track']}: {size}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.table().to_html(index=False)}"


def check_folder(path: str | PathLike[str]) -> None:
    """Raise if no comparison can be written to a folder: it must be new, or empty."""
    storage.check_target(Path(path) / "agent" / "0-0.npz")
    if Path(path).is_dir() and any(Path(path).iterdir()):
        raise InputError(f"{path}: is not empty: name a new folder")


@overload
def compare(mdp: AnyInstance, agents: AnyPlayers, **options: Any) -> Comparison: ...


@overload
def compare(mdp: list[AnyInstance], agents: AnyPlayers, **options: Any) -> dict[str, Comparison]: ...


def compare(  # type: ignore[misc]  # the signatures above leave out the options
    mdp: AnyInstance | list[AnyInstance],
    agents: AnyPlayers,
    *,
    episodes: int = EPISODES,
    seeds: AnySeeds = 30,
    track: str = "U",
    ties: str = TIES[0],
    root_seed: int = ROOT_SEED,
    cores: int = 1,
    lockstep: int = LOCKSTEP,
    show: bool = True,
    results: str | PathLike[str] | None = None,
) -> Comparison | dict[str, Comparison]:
    """Run several agents on an instance, and greedy, random and oracle for comparison.

    mdp         an instance, or a list of them, which gives {name: Comparison}
    agents      a list of agents, or {name: agent}; an agent is a name, a class, (agent, parameters), where a list of
                values is a sweep, "name@tuned" for its tuned settings in a study, the result of `befrl.tune`, or `Runs`
    results     the folder of the study with the tuned settings, see `befrl.tuned`

    The other arguments are those of `befrl.run`.
    """
    options: dict[str, Any] = {"episodes": episodes, "seeds": seeds, "track": track}
    options |= {"ties": ties, "root_seed": root_seed}
    if isinstance(mdp, list):
        instances = {each.name: each for each in map(read_instance, mdp)}
        if not mdp or len(instances) < len(mdp):
            raise InputError("mdp is not allowed: a list of instances has at least one, and each name once")
        options |= {"cores": cores, "lockstep": lockstep, "show": show, "results": results}
        return {name: compare(each, agents, **options) for name, each in instances.items()}
    chosen, existing = players.read(agents, mdp, track, seeds, results)
    played = play(mdp, chosen, cores, lockstep, show, options, existing.values())
    return Comparison({each.label: each for each in played} | existing)
