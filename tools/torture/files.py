"""Damaged, swapped and missing files: each kind of result file, through the verbs and functions that read it.

Array files have checksums: what is read from them must be what was written. Tables and JSON have none, so that a
flipped digit is read as it stands; but nothing may end in a traceback, and a file of another agent, instance, case,
claim or figure must be rejected.
"""

import io
import random
from functools import cache, partial
from pathlib import Path

import numpy as np
from damage import damaged
from outcomes import Outcomes
from stock import BATCH, befrl, job

from befrl import instances
from befrl.claims import ledger
from befrl.common import instance_facts, storage
from befrl.experiment import run_file, tuning
from befrl.report import assemble, svg
from snakemake_logger_plugin_progress.run import read_seconds


def message(*words):
    """The error message of a command line, or None if it works."""
    code, _, err = befrl(*words)
    assert code in (0, 2), f"exit code {code}: {err}"
    return err if code else None


def read(function, *arguments):
    """Call a reader, whatever it returns."""
    function(*arguments)


def draw(layout, name):
    """Read a figure for the report."""
    about = assemble._figure(layout, name)
    svg.inline(about["svg"], about["title"], "f1", name)


def unchanged(path, kind):
    """A function that checks that an array file is rejected, or read as it is now."""
    written = storage.read_arrays(path, kind)[0]

    def check():
        found = storage.read_arrays(path, kind)[0]
        for key, array in written.items():
            assert found[key].tobytes() == array.tobytes(), f"{path}: {key} was read and is not what was written"

    return check


def readers(study):
    """{path: functions that read the file}; the last function must reject a file of another agent, instance or case."""
    layout, report, table1 = study.layout, partial(message, *job("report")), partial(message, *job("table1"))
    found = {}
    for name in study["instances"]:
        path = layout.instance(name)
        found[path] = [unchanged(path, "instance"), partial(read, instances.load, path)]
        found[path].append(partial(read, instance_facts.read, path, name))
    for case in study.cases():
        aggregate = partial(message, *job("aggregate", instance=case[0], track=case[1]))
        for agent in study.case(*case)["agents"]:
            path = layout.run(*case, agent, BATCH)
            found[path] = [unchanged(path, "run"), partial(read, run_file.load, path), aggregate]
        for agent in study.tuned(case[0]):
            path = layout.tuned(*case, agent)
            found[path] = [partial(read, tuning.read, path), aggregate]
        name = "_".join(case)
        summary, curves, order = (layout.regret(table, *case) for table in ("summary", "curves", "order"))
        figure = partial(message, *job("figure", figure=f"regret_{name}"))
        findings = partial(message, "findings", "--cases", name)
        found[summary], found[curves], found[order] = [figure, findings, table1], [figure], [findings, table1]
        found[layout.regret_timings(*case)] = [table1, report]
    for name in study.claim_ids():
        found[layout.claim(name)] = [partial(read, ledger.read, layout.claim(name), name), report]
    for name in study.figures:
        for ending in ("json", "svg"):
            found[layout.figure(ending, name)] = [partial(draw, layout, name)]
    found[layout.instances()] = [report]
    found[layout.ledger()] = [
        partial(message, "findings", "--ledger"),
        partial(message, *job("figure", figure="claims-map")),
    ]
    return found


class Files:
    """The files of a study, which are restored after each fault."""

    def __init__(self, readers):
        self.readers = readers
        self.whole = {path: Path(path).read_bytes() for path in readers}

    def count(self, outcomes, case, path, put, read):
        """Put something in the place of a file, count the outcome of reading it, and restore all files."""
        Path(path).unlink()
        put(Path(path))
        outcomes.count(case, read)
        for name, content in self.whole.items():
            place = Path(name)
            if place.is_dir():
                place.rmdir()
            if place.is_symlink() or not place.exists() or place.read_bytes() != content:
                place.unlink(missing_ok=True)
                place.write_bytes(content)


def inject(study, number, seed=0):
    """Outcomes of faults in the files of a study in the working directory, of which `number` are damaged files."""
    rng, files = random.Random(seed), Files(readers(study))
    return [damage(rng, files, number), swap(files, study), replace(files), damage_seconds(rng)]


def damage(rng, files, number):
    outcomes = Outcomes("damaged files")
    for i in range(number):
        path = rng.choice(list(files.readers))
        put = partial(Path.write_bytes, data=damaged(rng, files.whole[path]))
        files.count(outcomes, f"{i}: {path}", path, put, rng.choice(files.readers[path]))
    return outcomes


def swap(files, study):
    """Each file in the place of another file of its kind: rejected by every reader that knows what it asked for."""
    outcomes, layout, cases = Outcomes("swapped files"), study.layout, study.cases()
    agents = [(*case, agent) for case in cases for agent in study.case(*case)["agents"]]
    kinds = [
        [layout.instance(name) for name in study["instances"]],
        [layout.run(*agent, BATCH) for agent in agents],
        [layout.tuned(*agent) for agent in agents if agent[2] in study.tuned(agent[0])],
        [layout.regret("summary", *case) for case in cases],
        [layout.regret_timings(*case) for case in cases],
        [layout.claim(name) for name in study.claim_ids()],
        [layout.figure("json", name) for name in study.figures],
    ]
    for paths in kinds:
        for path, other in zip(paths, paths[1:] + paths[:1], strict=True):
            if path != other:
                put = partial(Path.write_bytes, data=files.whole[other])
                files.count(outcomes, f"{path} is {other}", path, put, partial(must_reject, files.readers[path][-1]))
    return outcomes


def replace(files):
    """Files that are missing, empty, a folder, of another kind, harmful, or a symbolic link to themselves."""
    outcomes, other = Outcomes("missing and foreign files"), next(iter(files.whole.values()))
    for path, functions in files.readers.items():
        faults = {
            "missing": lambda place: None,
            "empty": Path.touch,
            "folder": Path.mkdir,
            "foreign": partial(Path.write_bytes, data=b"a,b\n1,2\n" if path.endswith(".npz") else other),
            "pickle": partial(Path.write_bytes, data=pickled()),
            "zip bomb": partial(Path.write_bytes, data=bomb()),
            "link to itself": lambda place: place.symlink_to(place.name),
        }
        for fault, put in faults.items():
            reader = partial(must_reject, functions[-1], missing=fault == "missing")
            files.count(outcomes, f"{fault}: {path}", path, put, reader)
    return outcomes


@cache
def pickled() -> bytes:
    """An array file with a pickle, which would make a file if it were read."""
    content = io.BytesIO()
    np.savez(content, meta=np.array([Harmful()], dtype=object))
    return content.getvalue()


class Harmful:
    def __reduce__(self):
        return Path.touch, (Path("harmed"),)


@cache
def bomb() -> bytes:
    """An array file of a megabyte whose array has a gigabyte."""
    content = io.BytesIO()
    np.savez_compressed(content, meta=np.zeros(2**27))
    return content.getvalue()


def must_reject(reader, missing=False):
    try:
        said = reader()
    except ValueError as error:
        said = f"befrl: {error}"
    assert said is not None, "accepted"
    assert not Path("harmed").exists(), "a pickle was executed"
    assert not missing or "delete it" not in said, f"asks to delete a missing file: {said}"
    return said


def damage_seconds(rng):
    """The tables of measured seconds: a damaged one only costs an estimate."""
    outcomes = Outcomes("damaged tables of seconds")
    whole = "rule,output,seconds\n" + "".join(f"run,a{i},{i / 7}\n" for i in range(30))
    for i in range(100):
        Path("seconds.csv").write_bytes(damaged(rng, whole.encode()))
        outcomes.count(i, partial(read, read_seconds, "seconds.csv"))
    return outcomes
