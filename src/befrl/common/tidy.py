"""Tidy tables as CSV files that explain themselves: a comment line for each column says what it means, in which unit.

`SUMMARY`, `CURVES`, `PAIRED` and `TIMINGS` are the tables of a case, an (instance, track).
"""

import io

import pandas as pd

from befrl.common import storage
from befrl.common.errors import InputError

SUMMARY = {
    "instance": "name of the instance in the study",
    "track": "U: reward unknown to the agents; K: true mean reward given to them",
    "agent": "name of the agent in the study",
    "algorithm": "name of the algorithm that the agent runs",
    "variant": "the agent with its grid point, if it is on one",
    "setting": "parameters of the algorithm that the config sets, as name=value; empty if there are none",
    "fit": "exact: the instance holds what the algorithm assumes; misspecified: it does not",
    "role": "theory: its theory's constants; set: the config's; baseline: no scale; tuned: best of a grid; grid: rest",
    "parameter": "parameter that the grid varies; empty off the grid",
    "value": "value of that parameter; off the grid, the one that the theory gives, if it is the same parameter",
    "seeds": "number of evaluation seeds",
    "episodes": "number of episodes K",
    "mean": "mean over seeds of the cumulative pseudo-regret after K episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean, in units of reward",
    "high": "upper end of the bootstrap interval of the mean, in units of reward",
    "q10": "10 % quantile over seeds of the same, in units of reward",
    "q50": "median over seeds of the same, in units of reward",
    "q90": "90 % quantile over seeds of the same, in units of reward",
    "failed": "share of seeds whose regret in the last tenth is above half that of the uniformly random policy",
    "slope": "log-log slope of the mean curve over the second half of the episodes: 1 linear, 0.5 the theorem's",
    "optimistic": "share of episodes in which the agent's V_1(s_1) is at least V*_1(s_1); NaN if it has no value",
    "optimistic_low": "lower end of the bootstrap interval of that share",
    "optimistic_high": "upper end of the bootstrap interval of that share",
    "saturated": "mean share of (cell, action) whose planned mean reward is within 0.01 of 0 or 1; NaN if unbounded",
    "tuning_mean": "mean regret on the tuning seeds, by which the grid's best point was chosen, in units of reward",
    "at_edge": "whether the tuned point is the first or the last of its grid",
}
TIMINGS = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "variant": SUMMARY["variant"],
    "seeds": "number of seeds, those for tuning included",
    "estimating": "seconds of processor time per episode and seed spent in estimating",
    "planning": "seconds of processor time per episode and seed spent in planning",
    "acting": "seconds of processor time per episode and seed spent in acting",
    "seconds_per_episode": "the three together",
    "exponent_k": "growth of that with the episode k, as a power: from the second tenth of the episodes to the last",
    "plans": "backward inductions per episode and seed",
}
CURVES = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "variant": SUMMARY["variant"],
    "role": SUMMARY["role"],
    "episode": "episode k, from 1",
    "mean": "mean over seeds of the cumulative pseudo-regret after k episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean, in units of reward; whole curves are resampled",
    "high": "upper end of the same",
    "q10": "10 % quantile over seeds, in units of reward",
    "q50": "median over seeds, in units of reward",
    "q90": "90 % quantile over seeds, in units of reward",
    "return": "mean over seeds of V^pi_1 in the episodes since the last point, in units of reward per episode",
    "return_low": "lower end of the bootstrap interval of that mean",
    "return_high": "upper end of the same",
}
PAIRED = {
    "instance": SUMMARY["instance"],
    "track": SUMMARY["track"],
    "first": "variant whose regret is diminished",
    "second": "by that of this variant, on the same seeds and the same environment noise",
    "difference": "mean over seeds of the difference of cumulative pseudo-regret after K episodes, in units of reward",
    "low": "lower end of the bootstrap interval of the mean difference",
    "high": "upper end of the same",
    "share_first_better": "share of seeds on which the first has the smaller regret",
}


def text(rows, columns) -> str:
    """CSV with the meaning and unit of every column in comment lines before the header."""
    buffer = io.StringIO()
    for name, meaning in columns.items():
        buffer.write(f"# {name}: {meaning}\n")
    pd.DataFrame(rows, columns=list(columns)).to_csv(buffer, index=False, float_format="%.10g")
    return buffer.getvalue()


def read(path, columns=()) -> pd.DataFrame:
    """A table made by `text`, with these columns at least."""
    try:
        table = pd.read_csv(path, comment="#")
    except (OSError, ValueError) as error:
        reason = storage.one_line(error)
        raise InputError(f"{path}: cannot be read as a befrl table ({reason}): delete it and run again") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(f"{path}: not a befrl table, the column '{missing[0]}' is missing: delete it and run again")
    return table
