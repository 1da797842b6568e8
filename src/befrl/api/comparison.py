"""Comparisons of several agents on the same instance with the same seeds and the same environment noise."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import pandas as pd

from befrl.analysis import aggregation, intervals, regret_columns
from befrl.api.runs import Runs, play
from befrl.api.validation import AnyAgent, AnyInstance, AnySeeds, Player
from befrl.common.defaults import EPISODES, LEVEL, LOCKSTEP, ROOT_SEED, TIES
from befrl.common.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BASELINES = ("greedy", "random", "oracle")
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
        self.runs = {label: Runs(each.log, each.meta | {"labels": [label]}) for label, each in runs.items()}
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

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Draw the mean cumulative regret of every agent but the oracle; the path ends in .png, .svg or .pdf."""
        from befrl.api.drawing import draw  # slow to load

        return draw(self._summary, self._curves, LEVEL, path)

    def __repr__(self) -> str:
        first = self._summary.iloc[0]
        size = f"{first['seeds']} seeds, {first['episodes']} episodes"
        return f"Comparison of {len(self.runs)} agents on '{first['instance']}', track {first['track']}: {size}"


def compare(
    mdp: AnyInstance,
    agents: Mapping[str, AnyAgent | tuple[AnyAgent, Mapping[str, Any]]],
    *,
    episodes: int = EPISODES,
    seeds: AnySeeds = 30,
    track: str = "U",
    ties: str = TIES[0],
    root_seed: int = ROOT_SEED,
    cores: int = 1,
    lockstep: int = LOCKSTEP,
    show: bool = True,
) -> Comparison:
    """Run several agents on an instance, and greedy, random and oracle for comparison.

    `agents` is {name: agent} or {name: (agent, parameters)}; the other arguments are those of `befrl.run`.
    """
    if not isinstance(agents, Mapping) or not agents:
        raise InputError("agents is not allowed: it must be a dictionary {name: agent} with at least one agent")
    players: list[Player] = []
    for label, each in {**agents, **{name: name for name in BASELINES if name not in agents}}.items():
        agent, values = each if isinstance(each, tuple) and len(each) == 2 else (each, {})
        if not isinstance(values, Mapping):
            raise InputError(f"agents: '{label}' is not allowed: write an agent, or (agent, {{parameter: value}})")
        players.append((label, agent, values))
    options = {"episodes": episodes, "seeds": seeds, "track": track, "ties": ties, "root_seed": root_seed}
    return Comparison({each.label: each for each in play(mdp, players, cores, lockstep, show, options)})
