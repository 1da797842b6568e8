"""Tidy tables as CSV files, with a comment line that states the meaning and unit of each column.

`SUMMARY`, `CURVES`, `PAIRED`, `ORDER` and `TIMINGS` are the tables of a case, which is an (instance, track).
"""

import io

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError

SUMMARY = {
    "instance": "name of the instance in the study",
    "track": "U: the reward is unknown to the agents; K: they are given the true mean reward",
    "agent": "name of the agent in the study",
    "algorithm": "name of the algorithm that the agent runs",
    "variant": "name of the agent, followed by @parameter=value for a point of its grid",
    "setting": "parameters that differ from the algorithm's defaults, as name=value; empty if there are none",
    "specification": "exact: the instance satisfies the assumptions of the algorithm; misspecified: it does not",
    "role": "theory: constants of the algorithm's theorem; surrogate: constants of another bound, as the source's are "
    "not known; set: constants given in the config; baseline: no constants; tuned: best point of the grid; grid: "
    "another point of the grid",
    "parameter": "parameter that the grid varies; empty for an agent without a grid",
    "value": "value of that parameter; off the grid, the value that the theory gives",
    "seeds": "number of evaluation seeds",
    "episodes": "number of episodes K",
    "mean": "mean over seeds of the cumulative pseudo-regret after K episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean, in units of reward",
    "high": "upper end of the bootstrap interval of the mean, in units of reward",
    "q10": "10 % quantile over seeds of the cumulative pseudo-regret, in units of reward",
    "q50": "median over seeds of the cumulative pseudo-regret, in units of reward",
    "q90": "90 % quantile over seeds of the cumulative pseudo-regret, in units of reward",
    "failed": "share of seeds whose regret in the last tenth of the episodes exceeds half that of random play",
    "slope": "log-log slope of the mean curve over the second half of the episodes: 1 is linear, 0.5 the theorem's",
    "optimistic": "share of episodes in which the agent's V_1(s_1) is at least V*_1(s_1); NaN without a value function",
    "optimistic_low": "lower end of the bootstrap interval of the share of optimistic episodes",
    "optimistic_high": "upper end of the bootstrap interval of the share of optimistic episodes",
    "saturated": "mean share of (cell, action) whose planned mean reward is within 0.01 of 0 or 1; NaN if unbounded",
    "plans": "backward inductions per episode and seed, tuning seeds included",
    "tuning_mean": "mean regret on the tuning seeds, which decides the best point of a grid, in units of reward",
    "at_edge": "whether the tuned point is the first or the last of its grid",
}
TIMINGS = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "variant": SUMMARY["variant"],
    "seeds": "number of seeds, tuning seeds included",
    "estimating": "seconds of processor time per episode and seed spent on estimation",
    "planning": "seconds of processor time per episode and seed spent on planning",
    "acting": "seconds of processor time per episode and seed spent on acting",
    "seconds_per_episode": "seconds of processor time per episode and seed of estimation, planning and acting together",
    "exponent_k": "power of the episode k with which these seconds grow, from the second tenth of the episodes to the "
    "last",
    "batches": "number of run files of the variant, one for each batch of seeds",
    "wall_seconds": "seconds of wall-clock time of all runs of the variant",
}
CURVES = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "variant": SUMMARY["variant"],
    "role": SUMMARY["role"],
    "episode": "episode k, from 1",
    "mean": "mean over seeds of the cumulative pseudo-regret after k episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean, in units of reward; whole curves are resampled",
    "high": "upper end of the bootstrap interval of the mean, in units of reward",
    "q10": "10 % quantile over seeds, in units of reward",
    "q50": "median over seeds, in units of reward",
    "q90": "90 % quantile over seeds, in units of reward",
    "return": "mean over seeds of V^pi_1 in the episodes since the previous point, in units of reward per episode",
    "return_low": "lower end of the bootstrap interval of the mean return",
    "return_high": "upper end of the bootstrap interval of the mean return",
}
PAIRED = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "first": "minuend of the paired difference: name of a variant",
    "second": "subtrahend of the paired difference: name of a variant run on the same seeds and environment noise",
    "difference": "mean over seeds of the difference of cumulative pseudo-regret after K episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean difference, in units of reward",
    "high": "upper end of the bootstrap interval of the mean difference, in units of reward",
    "share_first_better": "share of seeds on which the first variant has the smaller regret",
}
ORDER = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "place": "place of the agent by its mean regret, from 1; agents with zero regret have none and are left out",
    "agent": SUMMARY["agent"],
    "variant": "variant that represents the agent: the tuned one if the agent has a grid",
    "better": "variant one place better; empty for the first place",
    "gap": "relative gap to the next best agent: the mean paired difference of regret over the agent's own mean regret",
    "gap_low": "lower end of the bootstrap interval of the relative gap, by that of the paired difference",
    "gap_high": "upper end of the bootstrap interval of the relative gap, by that of the paired difference",
}


def text(rows, columns) -> str:
    """The rows as CSV, with the meaning and unit of every column in comment lines before the header."""
    buffer = io.StringIO()
    for name, meaning in columns.items():
        buffer.write(f"# {name}: {meaning}\n")
    pd.DataFrame(rows, columns=list(columns)).to_csv(buffer, index=False, float_format="%.10g")
    return buffer.getvalue()


def read(path, columns=()) -> pd.DataFrame:
    """Read a table made by `text` and check that it has these columns."""
    try:
        table = pd.read_csv(path, comment="#")
    except (OSError, ValueError) as error:
        reason = storage.one_line(error)
        raise InputError(f"{path}: cannot be read as a befrl table ({reason}): delete it and run again") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{path}: not a befrl table, the column '{missing[0]}' is missing: delete it and run again")
    return table


def joined(left, right, on, what) -> pd.DataFrame:
    """Join each row of `left` with its only match in `right`; error messages call the tables `what`."""
    if right.duplicated(on).any():
        raise InputError(f"{what} cannot be joined: {_key(right[right.duplicated(on)], on)} has several rows")
    table = left.merge(right, on=on, how="left", indicator=True, validate="many_to_one")
    alone = table[table["_merge"] == "left_only"]
    if len(alone):
        raise InputError(f"{what} cannot be joined: {_key(alone, on)} has no row: delete both and run again")
    return table.drop(columns="_merge")


def _key(table, on):
    return ", ".join(f"{name} '{table.iloc[0][name]}'" for name in on)
