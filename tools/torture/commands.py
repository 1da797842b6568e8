"""Faulty command lines: those that work, with words replaced, repeated, removed and added."""

import os
import random
import shlex
from functools import partial

from outcomes import Outcomes
from stock import befrl

# Every option that decides how long a command takes is given, and never removed.
SIZES = {"--episodes", "--seeds", "--trials", "--repetitions", "--configurations", "--compare", "--set", "--tune"}
WORKING = """
list agents
list instances
instance chain --set bins=3 horizon=3 --json
instance riverswim --set states=3 horizon=3 --name x --out new/i.npz
run --instance results/instances/tiny.npz --agent greedy --episodes 2 --seeds 2 --track K --out new/r.npz
run --instance chain --instance-set bins=3 horizon=2 --agent bef-rlsvi --set x=3 --episodes 2 --seeds 3-4 --json
run --instance chain --instance-set bins=3 horizon=2 --agent greedy --sweep eta=[1,2] --episodes 2 --seeds 2
run --instance results/instances/tiny.npz --agent bef-rlsvi --tuned results/runs/tiny/U/bef-rlsvi/tuning.json \
--episodes 2 --seeds 2 --lockstep 3 --root-seed 7 --ties first --label b
tune --instance results/instances/tiny.npz --agent greedy --tune eta=[1,3] --configurations 2 --seeds 1 --kept \
--episodes 2 --out new/t.json
aggregate --runs results/runs/tiny/U --agents greedy random --batches 1000-1001 --level 0.9 --out new \
--timings new/t.csv
instances --names tiny small --explored tiny --out new/i.csv
components densities --instance results/instances/tiny.npz --set transitions=5 --out new/d
table1 --cases tiny_U --out new/t1.csv --timings new/t2.csv
findings --results results --cases tiny_U tiny_K
coverage --repetitions 1 --seed 3 --out new/c.csv
published li --experiments reward=tiny --out new/p --timings new/p.csv
claim C31 --trials 1 --seed 3 --out new/C31.json
claim C39 --trials 1 --json --explain
ledger results/claims/C31.json --out new/l.csv --errata new/e.md
figure regret --tables results/regret/tiny_U/summary.csv results/regret/tiny_U/curves.csv --out new/f
report --study study.json --out new/r.html
compare chain --set bins=3 horizon=2 --agents bef-rlsvi:x=10 greedy --seeds 2 --episodes 2 --plot new/c.png
compare results/instances/tiny.npz --agents greedy random --seeds 3-4 --episodes 2 --track K --json
columns --out new/columns.csv
bench --compare results/instances.csv results/instances.csv
""".strip().splitlines()
WORDS = [
    *("", " ", "-", "--", "=", "x=", "=3", "x=3", "x=[1,2]", "x=nan", "x=1e999", "x={", "x=[[[", "a=b=c", "é"),
    *("-1", "0", "1", "1.5", "nan", "inf", "1e9", "9" * 25, "9" * 5000, "5-3", "1-2-3", "0x10", "²", "٣", "+3", " 3"),
    *("none.npz", "study.json", "results", "results/instances/tiny.npz", "results/claims.csv", "/dev/zero", "/", "."),
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
