"""Faulty configs: changed values and damaged files within this process, and some through Snakemake."""

import copy
import random
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from damage import damaged
from outcomes import Outcomes

from befrl.study import config
from befrl.study.yaml_file import read_yaml

PROJECT = Path(__file__).resolve().parents[2]
SMOKE = PROJECT / "config" / "smoke.yaml"
VALUES = [
    *(None, True, False, "", " ", "\n", "a\nb", "\x00", "é" * 50, "x" * 100_000, "{x}", "$(ls)", "../..", "-rf", "~"),
    *(0, -1, 1, 2, 3, 0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), 10**30, 10**400, 2**63, 2**31),
    *([], {}, [[]], [{}], {"": None}, [None], {"a": {"b": {"c": 1}}}, [1, 1], [0.1, 10], [10, 0.1], ["U"], "U", "K"),
    *("chain", "greedy", "chain-3", "theory", "agents.yaml", ["agents.yaml"], b"bytes", {1, 2}, (1, 2)),
]
KEYS = ["sedes", "", 1, None, "a/b", "x" * 300, "{x}", "é"]


def places(value):
    """(container, key) of every value of a config."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from places(item)


def changed(rng, base):
    """A config with one to three changes: a value replaced, removed, added or moved."""
    found = copy.deepcopy(base)
    for _ in range(rng.randint(1, 3)):
        parent, key = rng.choice(list(places(found)))
        change, value = rng.randrange(5), copy.deepcopy(rng.choice(VALUES))
        if change == 0:
            del parent[key]
        elif change == 1 and isinstance(parent, dict):
            parent[rng.choice(KEYS)] = value
        elif change == 2:
            other, name = rng.choice(list(places(found)))
            parent[key] = copy.deepcopy(other[name])
        else:
            parent[key] = value
        if not found:
            return found
    return found


def check(value):
    config.check(value)


def dry_run(path):
    """The error message by which `make` rejects a config, or None if it is accepted."""
    command = [sys.executable, "-m", "befrl.study.runner", "smoke", "-n", "--quiet", "all", "--configfile", str(path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode in (0, 2), f"exit code {done.returncode}: {done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    said = [line for line in done.stderr.splitlines() if line.startswith("befrl: ")]
    return "\n".join(said) if done.returncode else None


def inject(number, runs=0, seed=0):
    """Outcomes of `number` configs within this process, and of `runs` dry runs of Snakemake."""
    rng, base, text = random.Random(seed), read_yaml(SMOKE), SMOKE.read_bytes()
    values, files, whole = (Outcomes(name) for name in ("config values", "config files", "configs in Snakemake"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        for i in range(number + runs):
            if i < number and i % 2:
                case = changed(rng, base)
                values.count(f"{i}: {str(case)[:3000]}", partial(check, case))
            else:
                path.write_bytes(damaged(rng, text))
                case = f"{i}: {path.read_bytes()[:3000]}"
                if i < number:
                    files.count(case, lambda: check(read_yaml(path)))
                else:
                    whole.count(case, lambda: dry_run(path))
    return [values, files, whole] if runs else [values, files]
