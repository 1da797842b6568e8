"""Attacks by damaged files: each kind of result file, through the verbs and functions that read it.

Bits are flipped, pieces are cut, copied or removed, and files are replaced by others. Array files have checksums: what
is read from them must be what was written. Tables and JSON have none, so that a flipped digit is read as it stands; but
nothing may end in a traceback, and a file of another agent, instance, case, claim or figure must be refused.
"""

import random
import shutil
from pathlib import Path

import numpy as np
import stock
import tally

from befrl import instances
from befrl.claims.toolbox import ledger
from befrl.common import instance_facts, storage
from befrl.experiment import run_file, tuning
from befrl.report import assemble, svg
from snakemake_logger_plugin_progress.run import read_seconds

WORDS = (b"nan", b"", b"-1", b"1e999", b"null", b"[]", b"{}", b'"', b",", b"\n", b"\xff", b"\x00", b"abc", b"#")


def damaged(rng, content):
    """The content of a file with one to three changes."""
    found = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found) + 1)
        change = rng.randrange(6)
        if change == 0 and found:
            found[at % len(found)] ^= 1 << rng.randrange(8)
        elif change == 1:
            del found[at:]
        elif change == 2:
            del found[at : at + rng.randint(1, 200)]
        elif change == 3:
            found[at:at] = found[at : at + rng.randint(1, 200)]
        elif change == 4:
            found[at : at + rng.randint(0, 5)] = rng.choice(WORDS)
        else:
            found[at:at] = rng.randbytes(rng.randint(1, 20))
    return bytes(found)


def sentence(*words):
    """What a command line is refused with, or None if it works; raise if it is neither."""
    code, _, err = stock.befrl(*words)
    assert code in (0, 2), f"exit code {code}: {err}"
    return err if code else None


def read(function, *arguments):
    """Call a reader, whatever it returns."""
    function(*arguments)


class Readers:
    """The readers of each kind of file, {path: [functions]}; array files are compared with what was written."""

    def __init__(self, study, layout):
        self.study, self.layout = study, layout
        self.arrays = {}
        self.found = {}
        for name in study["instances"]:
            path = layout.instance(name)
            self.arrays[path] = storage.read_arrays(path, "instance")[0]
            self.add(path, lambda p=path: self.same(p, "instance"), lambda p=path: read(instances.load, p))
            self.add(path, lambda p=path, n=name: read(instance_facts.read, p, n))
        for case in study.cases():
            self._case(*case)
        for name in study.claim_ids():
            self.add(layout.claim(name), lambda n=name: read(ledger.read, layout.claim(n), n), self.report)
        for name in study.figures():
            for ending in ("json", "svg"):
                self.add(layout.figure(ending, name), lambda n=name: self.drawing(n))
        self.add(layout.instances(), self.report)
        counts = ("ledger", "--counts", layout.ledger())
        drawn = ("figure", "claims-map", "--tables", layout.ledger(), "--out", "new/map")
        self.add(layout.ledger(), lambda: sentence(*counts), lambda: sentence(*drawn))

    def _case(self, instance, track):
        layout, agents = self.layout, self.study["study"][instance]["agents"]
        tuned = [agent for agent in agents if "tune" in self.study["agents"][agent]]
        words = ["aggregate", "--runs", layout.runs(instance, track), "--agents", *agents, "--tuned", *tuned]
        words += ["--batches", stock.BATCH, "--out", "new", "--timings", "new/timings.csv"]
        for agent in agents:
            path = layout.run(instance, track, agent, stock.BATCH)
            self.arrays[path] = storage.read_arrays(path, "run")[0]
            self.add(path, lambda p=path: self.same(p, "run"), lambda p=path: read(run_file.load, p))
            self.add(path, lambda: sentence(*words))
        for agent in tuned:
            path = layout.tuned(instance, track, agent)
            self.add(path, lambda p=path: read(tuning.read, p), lambda: sentence(*words))
        paths = [layout.regret(table, instance, track) for table in ("summary", "curves")]
        for path in paths:
            self.add(path, lambda: sentence("figure", "regret", "--tables", *paths, "--out", "new/regret"))
        case = f"{instance}_{track}"
        table1 = ("table1", "--cases", case, "--out", "new/t.csv", "--timings", "new/t2.csv")
        findings = ("findings", "--cases", case)
        for table in ("summary", "order"):
            path = layout.regret(table, instance, track)
            self.add(path, lambda: sentence(*findings), lambda: sentence(*table1))
        self.add(layout.regret_timings(instance, track), lambda: sentence(*table1), self.report)

    def add(self, path, *functions):
        self.found.setdefault(path, []).extend(functions)

    def same(self, path, kind):
        """Whatever is read from a damaged array file is what was written."""
        read = storage.read_arrays(path, kind)[0]
        for key, array in self.arrays[path].items():
            assert read[key].tobytes() == array.tobytes(), f"{path}: {key} was read and is not what was written"

    def drawing(self, name):
        about = assemble._figure(self.layout, name)
        svg.inline(about["svg"], about["title"], "f1", name)

    def report(self):
        return sentence("report", "--study", "study.json", "--out", "new/report.html")


def attack(number, seed=0):
    """Tallies of `number` damaged files, of files in each other's place, and of files that are missing or no files."""
    with stock.made_in_a_folder() as (study, layout):
        return attack_here(study, layout, number, seed)


def attack_here(study, layout, number, seed):
    """The same in the working directory, which has the files of the study."""
    rng, readers = random.Random(seed), Readers(study, layout)
    return [_damages(rng, readers, number), _swaps(readers, study, layout), _gone(readers), _seconds(rng)]


def _damages(rng, readers, number):
    found = tally.Tally("damaged files")
    whole = {path: Path(path).read_bytes() for path in readers.found}
    for i in range(number):
        path = rng.choice(list(whole))
        Path(path).write_bytes(damaged(rng, whole[path]))
        reader = rng.choice(readers.found[path])
        found.judge(f"{i}: {path}", reader)
        Path(path).write_bytes(whole[path])
    return found


def _swaps(readers, study, layout):
    """Each file in the place of each other file of its kind: refused by every reader that knows what it asked for."""
    found = tally.Tally("swapped files")
    names, cases = list(study["instances"]), study.cases()
    kinds = [
        [layout.instance(name) for name in names],
        [layout.run(*case, agent, stock.BATCH) for case in cases for agent in study["study"][case[0]]["agents"]],
        [layout.tuned(*case, agent) for case in cases for agent in ("bef-rlsvi", "eps") if case[0] == "tiny"],
        [layout.regret("summary", *case) for case in cases],
        [layout.regret_timings(*case) for case in cases],
        [layout.claim(name) for name in study.claim_ids()],
        [layout.figure("json", name) for name in study.figures()],
    ]
    for paths in kinds:
        whole = {path: Path(path).read_bytes() for path in paths}
        for path in paths:
            other = paths[(paths.index(path) + 1) % len(paths)]
            Path(path).write_bytes(whole[other])
            found.judge(f"{path} is {other}", lambda p=path: _must_refuse(readers.found[p][-1]))
            Path(path).write_bytes(whole[path])
    return found


def _must_refuse(reader):
    sentence = reader()
    assert sentence is not None, "accepted"
    return sentence


def _gone(readers):
    """Files that are not there, empty, a folder, of another kind, or a symbolic link to themselves."""
    found = tally.Tally("missing and foreign files")
    other = next(iter(readers.found))
    for path, functions in readers.found.items():
        place, whole = Path(path), Path(path).read_bytes()
        foreign = Path(other).read_bytes() if not path.endswith(".npz") else b"a,b\n1,2\n"
        for name, put in {
            "missing": lambda p: None,
            "empty": lambda p: p.write_bytes(b""),
            "folder": lambda p: p.mkdir(),
            "foreign": lambda p, content=foreign: p.write_bytes(content),
            "link to itself": lambda p: p.symlink_to(p.name),
        }.items():
            place.unlink()
            put(place)
            found.judge(f"{name}: {path}", lambda f=functions[-1], n=name: _named(f, n))
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            place.write_bytes(whole)
    return found


def _named(reader, name):
    try:
        said = _must_refuse(reader)
    except ValueError as error:
        said = f"befrl: {error}"
    assert name != "missing" or "delete it" not in said, f"told to delete what is not there: {said}"
    return said


def _seconds(rng):
    """The tables of measured seconds: a damaged one only costs an estimate."""
    found = tally.Tally("damaged tables of seconds")
    whole = "rule,output,seconds\n" + "".join(f"run,a{i},{np.sqrt(i)}\n" for i in range(30))
    for i in range(100):
        Path("seconds.csv").write_bytes(damaged(rng, whole.encode()))
        found.judge(i, lambda: read(read_seconds, "seconds.csv"))
    return found
