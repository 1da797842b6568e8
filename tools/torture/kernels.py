"""Attacks by other processors: BLAS kernels that round differently, on instance files made with the default kernel.

An instance that is stored under one kernel is read under all others, and every agent plays what it plays under the
default kernel: the regret of each seed and episode differs by rounding alone.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tally

from befrl.experiment import run_file

KERNELS = ("Haswell", "Zen", "Sandybridge", "Prescott")
INSTANCES = {"chain": ["bins=3", "horizon=6"], "riverswim": ["states=3", "horizon=5"], "circle": ["knots=4"]}
AGENTS = ("bef-rlsvi", "exp-ucrl", "exp-psrl", "ucrl-vtr", "lsvi-ucb", "greedy", "random")
ROUNDING = 1e-9


def befrl(kernel, *words):
    environment = os.environ | ({"OPENBLAS_CORETYPE": kernel} if kernel else {})
    command = [sys.executable, "-m", "befrl", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{kernel}: befrl {' '.join(words)}: {done.stderr[-2000:]}"


def play(kernel, folder, instance, agent):
    """The regrets (seeds, episodes) of an agent under a kernel."""
    out = Path(folder) / (kernel or "default") / agent / "0-3.npz"
    words = ["run", "--instance", f"{folder}/{instance}.npz", "--agent", agent, "--episodes", "40", "--seeds", "4"]
    befrl(kernel, *words, "--quiet", "--out", str(out))
    return run_file.load(out)[0]["regret"]


def attack(agents=AGENTS, instances=tuple(INSTANCES)):
    found = tally.Tally("other kernels")
    with tempfile.TemporaryDirectory() as folder:
        for instance in instances:
            values = INSTANCES[instance]
            befrl(None, "instance", instance, "--set", *values, "--out", f"{folder}/{instance}.npz")
            for agent in agents:
                usual = play(None, folder, instance, agent)
                for kernel in KERNELS:
                    found.judge(
                        f"{agent} on {instance} under {kernel}",
                        lambda k=kernel, i=instance, a=agent, u=usual: same(play(k, folder, i, a), u),
                    )
    return [found]


def same(regret, usual):
    scale = np.maximum(np.abs(usual), 1.0)
    worst = np.max(np.abs(regret - usual) / scale)
    assert worst <= ROUNDING, f"a regret differs by {worst:.3g}, allowed is {ROUNDING:g}"
