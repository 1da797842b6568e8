"""Run files of agents from outside befrl, with estimated regret because only their actions are known.

With gap_h = V*_h(s_h) - Q*_h(s_h, a_h), E[ sum_h gap_h | s_1 ] = V*_1(s_1) - V^pi_1(s_1) for every policy pi
(performance difference lemma). Means over seeds and their intervals are as valid as those of exact regret, but wider.
"""

import numpy as np

from befrl.experiment import run_file
from befrl.experiment.runs import describe_case
from befrl.experiment.spec import RunSpec

OUTSIDE = "outside"  # the algorithm, and the origin of its constants, in run files and tables


def save(path, label, seeds, regret, seconds, wall, instance, name, root_seed):
    """Write a run file with the estimated regret (seeds, episodes) and the seconds per episode (episodes,)."""
    episodes = regret.shape[1]
    log = {key: np.full((1, *regret.shape), np.nan) for key in run_file.LOGGED}
    log |= {key: np.full((1, len(seeds), len(run_file.marks(episodes))), np.nan) for key in run_file.TRACED}
    log |= {key: np.zeros(episodes) for key in run_file.SECONDS}
    log |= {"regret": regret[None], "acting": seconds, "plans": np.full(episodes, np.nan)}  # all time as acting
    spec = RunSpec(instance, name, OUTSIDE, {}, episodes, seeds, root_seed=root_seed)
    meta = describe_case(spec, [label], wall)
    meta |= {"settings": [{}], "constants": [OUTSIDE], "specification": ["unknown"], "facts": [{}]}
    run_file.save(path, log, meta)
