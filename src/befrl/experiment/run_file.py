"""Run files: the quantities logged per setting, seed and episode, and how to read and write them."""

import numpy as np

from befrl.common import storage
from befrl.common.errors import InputError

LOGGED = {  # in every episode
    "regret": "V*_1(s_1) - V^pi_1(s_1), in units of reward per episode",
    "optimism": "the agent's V_1(s_1) - V*_1(s_1), in units of reward per episode; NaN if it has no value",
    "certificate": "the agent's upper bound on the regret, in units of reward per episode; NaN if it gives none",
    "saturated": "share of (cell, action) whose planned mean reward is within 0.01 of 0 or 1; NaN if unbounded",
    "tied": "share of the (step, cell) at which the best actions of the plan are equal up to rounding",
    "changed": "1 if the policy differs from the previous episode's at a visited (step, cell), else 0",
}
TRACED = {  # at the episodes of `marks`
    "error_p": "|theta_p estimate - theta*_p| in the design norm Gbar; NaN if nothing is estimated",
    "error_r": "|theta_r estimate - theta*_r| in the design norm Gbar; 0 in track K, NaN if nothing is estimated",
    "feature_norm": "largest sqrt(tr(U Gbar^-1 U')) along the trajectory; NaN if nothing is estimated",
}
SECONDS = {
    "estimating": "seconds of processor time per episode and row spent in update()",
    "planning": "seconds of processor time per episode and row spent in plan()",
    "acting": "seconds of processor time per episode and row spent in the H steps",
}
COST = SECONDS | {"plans": "backward inductions in plan(), per row"}  # averaged over rows in lock step

META = {
    **dict.fromkeys(("instance", "family", "track", "ties", "algorithm"), str),
    **dict.fromkeys(("optimal_value", "uniform_value", "seconds", "steps_per_second"), int | float),
    **dict.fromkeys(("horizon", "episodes", "root_seed"), int),
    **dict.fromkeys(("labels", "settings", "constants", "specification", "facts", "seeds", "identity"), list),
    "instance_parameters": dict,
}
BY_LABEL = ("settings", "constants", "specification", "facts")  # have an entry for each label
POINTS = 100  # of a curve along a linear axis, and as many along a logarithmic one


def marks(episodes: int):
    """The episodes, counted from 1, at which curves are drawn: evenly spread, and denser at the early ones."""
    both = [np.linspace(1, episodes, POINTS), np.geomspace(1, episodes, POINTS)]
    return np.unique(np.concatenate(both).round().astype(int))


def negative(regret, horizon, optimal_value):
    """The smallest regret if it lies further below zero than rounding explains, else None."""
    least = regret.min(initial=0.0)
    return least if least < -1e-9 * (horizon + abs(optimal_value)) else None


def rounded(log) -> dict:
    """A log as it is stored: regret in double precision, the rest in single; certificates, upper bounds, rounded up."""
    found = {key: value if key == "regret" else value.astype(np.float32) for key, value in log.items()}
    if "certificate" in log:
        near = found["certificate"]
        found["certificate"] = np.where(near < log["certificate"], np.nextafter(near, np.float32(np.inf)), near)
    return found


def save(path, log, meta):
    """Write a run file with the rounded log."""
    storage.write_arrays(path, "run", rounded(log), meta)


def load(path):
    """Read the log, arrays (settings, seeds, episodes), and the metadata of a run file; raise if it is damaged."""
    log, meta = storage.read_arrays(path, "run")
    storage.require(path, meta, "a complete befrl run file", META)
    labels, seeds, episodes = len(meta["labels"]), len(meta["seeds"]), meta["episodes"]
    shapes = dict.fromkeys(LOGGED, (labels, seeds, episodes)) | dict.fromkeys(COST, (episodes,))
    shapes |= dict.fromkeys(TRACED, (labels, seeds, len(marks(episodes)) if episodes > 0 else 0))
    missing = [key for key in shapes if key not in log]
    if missing:
        why = f"'{missing[0]}' is missing, as in those of older versions"
        raise InputError(f"{path}: not a complete befrl run file, {why}: delete it and run again")
    found = {key: array.shape for key, array in log.items() if array.dtype.kind == "f"}
    if found != shapes or not labels or not seeds or any(len(meta[key]) != labels for key in BY_LABEL):
        raise InputError(f"{path}: not a complete befrl run file, its arrays do not fit: delete it and run again")
    if not np.isfinite(log["regret"]).all():
        raise InputError(f"{path}: damaged, a regret is not a finite number: delete it and run again")
    if (least := negative(log["regret"], meta["horizon"], meta["optimal_value"])) is not None:
        raise InputError(f"{path}: a regret is {least:g}, and none can be negative: delete the file and run again")
    return log, meta
