"""Run files: the quantities logged per setting, seed and episode, and how to read and write them."""

import numpy as np

from befrl.common import storage
from befrl.common.errors import InputError

# Logged in every episode.
LOGGED = {
    "regret": "V*_1(s_1) - V^pi_1(s_1), in units of reward per episode",
    "optimism": "the agent's V_1(s_1) - V*_1(s_1), in units of reward per episode; NaN if it has no value",
    "saturated": "share of (cell, action) whose planned mean reward is within 0.01 of 0 or 1; NaN if unbounded",
    "tied": "share of the (step, cell) at which the best actions of the plan are equal up to rounding",
    "changed": "1 if the policy differs from the previous episode's at a visited (step, cell), else 0",
}
# Logged at the episodes of `marks`.
TRACED = {
    "error_p": "|theta_p estimate - theta*_p| in the design norm Gbar; NaN if nothing is estimated",
    "error_r": "|theta_r estimate - theta*_r| in the design norm Gbar; 0 in track K, NaN if nothing is estimated",
    "feature_norm": "largest sqrt(tr(U Gbar^-1 U')) along the trajectory; NaN if nothing is estimated",
}
SECONDS = {
    "estimating": "seconds of processor time per episode and row spent in update()",
    "planning": "seconds of processor time per episode and row spent in plan()",
    "acting": "seconds of processor time per episode and row spent in the H steps",
}
# One number per episode, averaged over the rows that run in lock step.
COST = SECONDS | {"plans": "backward inductions in plan(), per row"}

META = (
    *("instance", "family", "instance_parameters", "horizon", "optimal_value", "uniform_value", "track", "ties"),
    *("algorithm", "labels", "settings", "constants", "specification", "facts", "episodes", "seeds", "root_seed"),
    *("seconds", "steps_per_second"),
)
# Points of a curve along a linear axis, and as many along a logarithmic one.
POINTS = 100


def marks(episodes: int):
    """The episodes, counted from 1, at which curves are drawn: evenly spread, and denser at the early ones."""
    both = [np.linspace(1, episodes, POINTS), np.geomspace(1, episodes, POINTS)]
    return np.unique(np.concatenate(both).round().astype(int))


def rounded(log) -> dict:
    """What is kept of a log: regret in double precision, which is the result, and everything else in single."""
    return {key: value if key == "regret" else value.astype(np.float32) for key, value in log.items()}


def save(path, log, meta):
    """Write a run, rounded."""
    storage.write_arrays(path, "run", rounded(log), meta)


def load(path):
    """Read the log, arrays (settings, seeds, episodes), and the metadata of a run file; raise if it is incomplete."""
    log, meta = storage.read_arrays(path, "run")
    missing = [key for key in (*LOGGED, *TRACED, *COST) if key not in log] + [key for key in META if key not in meta]
    if missing or log["regret"].shape != (len(meta["labels"]), len(meta["seeds"]), meta["episodes"]):
        raise InputError(f"{path}: not a complete befrl run file: delete it and run again")
    return log, meta
