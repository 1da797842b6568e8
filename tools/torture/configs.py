"""Attacks by configs: mutated values and mutated text within this process, and some through Snakemake."""

import copy
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import tally

from befrl.study import config
from befrl.study.yaml_file import read_yaml

PROJECT = Path(__file__).resolve().parents[2]
NASTY = [
    *(None, True, False, "", " ", "\n", "a\nb", "\x00", "é" * 50, "x" * 100_000, "{x}", "$(ls)", "../..", "-rf", "~"),
    *(0, -1, 1, 2, 3, 0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), 10**30, 10**400, 2**63, 2**31),
    *([], {}, [[]], [{}], {"": None}, [None], {"a": {"b": {"c": 1}}}, [1, 1], [0.1, 10], [10, 0.1], ["U"], "U", "K"),
    *("chain", "greedy", "chain-3", "theory", "agents.yaml", ["agents.yaml"], b"bytes", {1, 2}, (1, 2)),
]
TEXT = [b"&a ", b"*a", b"[", b"]", b"{", b"}", b": ", b"- ", b"\t", b"\x00", b"\xff", b"<<: ", b"? "]
TEXT += [
    b"!!python/object:os ",
    b"'",
    b'"',
    b"|\n",
    b"%YAML",
    b"---\n",
    b"...\n",
    b"1e999",
    b"0x",
    b"~",
    b"@",
    b"`",
    b"\r",
    b"  ",
    b"\n",
    b"#",
]


def places(value, where=()):
    """The paths of all values of a config, its containers included."""
    yield where
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*where, key))


def inner(value, where):
    for key in where:
        value = value[key]
    return value


def mutated(rng, base):
    """A config with one to three changes: a value replaced, a key removed, added or renamed, a part moved."""
    found = copy.deepcopy(base)
    for _ in range(rng.randint(1, 3)):
        where = rng.choice([path for path in places(found) if path])
        parent, key = inner(found, where[:-1]), where[-1]
        change = rng.randrange(5)
        if change == 0:
            del parent[key]
        elif change == 1 and isinstance(parent, dict):
            parent[rng.choice(["sedes", "", 1, None, "a/b", "x" * 300, "{x}", "é"])] = copy.deepcopy(rng.choice(NASTY))
        elif change == 2:
            parent[key] = copy.deepcopy(inner(found, rng.choice(list(places(found)))))
        else:
            parent[key] = copy.deepcopy(rng.choice(NASTY))
        if not found:
            return found
    return found


def damaged(rng, text):
    """The bytes of a config with one to four changes."""
    found = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found) + 1)
        change = rng.randrange(5)
        if change == 0:
            found[at:at] = rng.choice(TEXT)
        elif change == 1:
            del found[at : at + rng.randint(1, 30)]
        elif change == 2 and found:
            found[at % len(found)] = rng.randrange(256)
        elif change == 3:
            piece = found[at : at + rng.randint(1, 60)]
            found[at:at] = piece
        else:
            found[at:at] = rng.choice(TEXT) * rng.choice([2, 30, 3000])
    return bytes(found)


def attack(number, seed=0, runs=0):
    """Two tallies: of `number` configs within this process, and of `runs` dry runs of Snakemake."""
    rng = random.Random(seed)
    schema, text = read_yaml(config.SCHEMA), (PROJECT / "config" / "smoke.yaml").read_bytes()
    base = read_yaml(PROJECT / "config" / "smoke.yaml")
    values, files, whole = (tally.Tally(name) for name in ("config values", "config files", "configs in Snakemake"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        for i in range(number):
            if i % 2:
                case = mutated(rng, base)
                values.judge(f"{i}: {str(case)[:3000]}", lambda case=case: config.check(case, schema) and None)
            else:
                path.write_bytes(damaged(rng, text))
                files.judge(f"{i}: {path.read_bytes()[:3000]}", lambda: config.check(read_yaml(path), schema) and None)
        for i in range(runs):
            path.write_bytes(damaged(rng, text))
            whole.judge(f"{i}: {path.read_bytes()[:3000]}", lambda: dry_run(path))
    return [values, files, whole] if runs else [values, files]


def dry_run(path):
    """The sentence by which `make` refuses a config, or None if it is accepted."""
    command = [sys.executable, "tools/run_study.py", "smoke", "-n", "--quiet", "all", "--configfile", str(path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if line.startswith("befrl: ")]
    assert done.returncode in (0, 2), f"exit code {done.returncode}: {done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    return "\n".join(said) if done.returncode else None
