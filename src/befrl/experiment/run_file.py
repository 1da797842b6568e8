"""Run files: the quantities logged per seed and episode, and how to read and write them."""

from befrl.common import storage
from befrl.common.errors import InputError

LOGGED = {
    "regret": "V*_1(s_1) - V^pi_1(s_1), in units of reward per episode",
    "optimism": "the agent's V_1(s_1) - V*_1(s_1), in units of reward per episode; NaN if it has no value",
    "error_p": "|theta_p estimate - theta*_p| in the design norm Gbar; NaN if nothing is estimated",
    "error_r": "|theta_r estimate - theta*_r| in the design norm Gbar; 0 in track K, NaN if nothing is estimated",
    "feature_norm": "largest sqrt(tr(U Gbar^-1 U')) along the trajectory; NaN if nothing is estimated",
    "saturated": "share of (cell, action) whose planned mean reward is within 0.01 of 0 or 1; NaN if unbounded",
}
SECONDS = {
    "estimating": "seconds of processor time per episode and seed spent in update()",
    "planning": "seconds of processor time per episode and seed spent in plan()",
    "acting": "seconds of processor time per episode and seed spent in the H steps",
}
# One number per episode, averaged over the seeds that run in lock step.
COST = SECONDS | {"plans": "backward inductions in plan(), per seed"}

META = (
    *("instance", "family", "instance_parameters", "horizon", "optimal_value", "uniform_value", "track", "label"),
    *("algorithm", "parameters", "constants", "specification", "facts", "episodes", "seeds", "root_seed", "seconds",
      "steps_per_second"),
)  # fmt: skip


def save(path, log, meta):
    storage.write_arrays(path, "run", log, meta)


def load(path):
    """Read the log and the metadata of a run file; raise if it is incomplete."""
    log, meta = storage.read_arrays(path, "run")
    missing = [key for key in (*LOGGED, *COST) if key not in log] + [key for key in META if key not in meta]
    if missing or log["regret"].shape != (len(meta["seeds"]), meta["episodes"]):
        raise InputError(f"{path}: not a complete befrl run file: delete it and run again")
    return log, meta
