"""Faulty command lines: those that work, with words replaced, repeated, removed and added."""

import os
import random
import shlex
from functools import partial

from outcomes import Outcomes
from stock import befrl

# Every option that decides how long a command takes is given, and never removed.
SIZES = {"--episodes", "--seeds", "--trials", "--compare", "--set"}
WORKING = """
list agents
list instances
instance chain --set bins=3 horizon=3 --json
instance riverswim --set states=3 horizon=3 --name x --out new/i.npz
run --instance results/instances/tiny.npz --agent greedy --episodes 2 --seeds 2 --track K --out new/r.npz
run --instance chain --instance-set bins=3 horizon=2 --agent bef-rlsvi --set x=3 --episodes 2 --seeds 3-4 --json
run --instance chain --instance-set bins=3 horizon=2 --agent greedy --sweep eta=[1,2] --episodes 2 --seeds 2
run --instance results/instances/tiny.npz --agent eps-greedy --episodes 2 --seeds 2 --lockstep 3 --root-seed 7 \
--ties first
aggregate --runs results/runs/tiny/U --agents greedy random --batches 1000-1001 --level 0.9 --out new --timings t.csv
findings --results results --cases tiny_U tiny_K
findings --results results --ledger
claim C31 --trials 1 --seed 3 --out new/C31.json
claim C39 --trials 1 --json --explain
compare chain --set bins=3 horizon=2 --agents bef-rlsvi:x=10 greedy --seeds 2 --episodes 2 --plot new/c.png
compare results/instances/tiny.npz --agents greedy random --seeds 3-4 --episodes 2 --track K --json
bench --page results/instances.csv
job instance --study results/study.json --instance small
job tune --study results/study.json --instance tiny --track U --agent eps
job run --study results/study.json --instance tiny --track U --agent greedy --batch 1000-1001 --threads 1
job aggregate --study results/study.json --instance tiny --track U
job component --study results/study.json --component exploration --instance tiny
job claims --study results/study.json --section noise
job ledger --study results/study.json
job table1 --study results/study.json
job figure --study results/study.json --figure regret_tiny_U
job case-figures --study results/study.json --instance tiny --track U
job report --study results/study.json
job columns --study results/study.json
""".strip().splitlines()
WORDS = [
    *("", " ", "-", "--", "=", "x=", "=3", "x=3", "x=[1,2]", "x=nan", "x=1e999", "x={", "x=[[[", "a=b=c", "é"),
    *("-1", "0", "1", "1.5", "nan", "inf", "1e9", "9" * 25, "9" * 5000, "5-3", "1-2-3", "0x10", "²", "٣", "+3", " 3"),
    *(
        "none.npz",
        "results/study.json",
        "results",
        "results/instances/tiny.npz",
        "results/claims.csv",
        "/dev/zero",
        "/",
        ".",
    ),
    *("a" * 300, "a" * 5000, "a/" * 2000, "../" * 50, "~", "$HOME", "{x}", "a\nb", "\x1b[31m", "\x00", "\udcff"),
    *("\u202e", "--out", "--set", "--help", "--no-such", "greedy", "chain", "tiny_U", "U", "theory", "pipe", "loop"),
    "none/x",
]


def changed(rng):
    """A working command line with one to three changes."""
    words = shlex.split(rng.choice(WORKING))
    for _ in range(rng.randint(1, 3)):
        at, change = rng.randrange(1, len(words)), rng.randrange(5)
        if change == 0:
            words.insert(at, rng.choice(WORDS))
        elif change == 1 and not SIZES & set(words[max(0, at - 3) : at + 1]):
            del words[at]
        elif change == 2:
            words.insert(at, rng.choice(words))
        elif not words[at].startswith("--"):
            words[at] = rng.choice(WORDS)
        if len(words) < 2:
            break
    return words


def message(words):
    """The error message by which a command line is rejected, or None if it works."""
    code, out, err = befrl(*words)
    assert code in (0, 1, 2), f"exit code {code}"
    assert code == 0 or not out, f"rejected, but printed {out[:200]}"
    return err if code else None


def inject(number, seed=0):
    """Outcomes of `number` command lines in the working directory, which has the files of a tiny study."""
    rng, found = random.Random(seed), Outcomes("command lines")
    os.mkfifo("pipe")
    os.symlink("loop", "loop")
    for i in range(number):
        words = changed(rng)
        found.count(f"{i}: {words}", partial(message, words))
    return [found]
