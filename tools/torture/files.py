"""Damaged, swapped and missing files: each kind of result file, through the verbs and functions that read it.

Array files have checksums: what is read from them must be what was written. Tables and JSON have none, so that a
flipped digit is read as it stands; but nothing may end in a traceback, and a file of another agent, instance, case,
claim or figure must be rejected.
"""

import random
import shutil
from collections import defaultdict
from functools import partial
from pathlib import Path

from damage import damaged
from outcomes import Outcomes
from stock import BATCH, befrl

from befrl import instances
from befrl.claims.toolbox import ledger
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


def readers(study, layout):
    """{path: functions that read the file}; the last function must reject a file of another agent, instance or case."""
    found = defaultdict(list)
    report = partial(message, "report", "--study", "study.json", "--out", "new/report.html")
    for name in study["instances"]:
        path = layout.instance(name)
        found[path] = [unchanged(path, "instance"), partial(read, instances.load, path)]
        found[path].append(partial(read, instance_facts.read, path, name))
    for case in study.cases():
        agents = study["study"][case[0]]["agents"]
        tuned = [agent for agent in agents if "tune" in study["agents"][agent]]
        words = ["aggregate", "--runs", layout.runs(*case), "--agents", *agents, "--tuned", *tuned]
        aggregate = partial(message, *words, "--batches", BATCH, "--out", "new", "--timings", "new/timings.csv")
        for agent in agents:
            path = layout.run(*case, agent, BATCH)
            found[path] = [unchanged(path, "run"), partial(read, run_file.load, path), aggregate]
        for agent in tuned:
            path = layout.tuned(*case, agent)
            found[path] = [partial(read, tuning.read, path), aggregate]
        name = "_".join(case)
        summary, curves, order = (layout.regret(table, *case) for table in ("summary", "curves", "order"))
        figure = partial(message, "figure", "regret", "--tables", summary, curves, "--out", "new/regret")
        findings = partial(message, "findings", "--cases", name)
        table1 = partial(message, "table1", "--cases", name, "--out", "new/t.csv", "--timings", "new/t2.csv")
        found[summary], found[curves], found[order] = [figure, findings, table1], [figure], [findings, table1]
        found[layout.regret_timings(*case)] = [table1, report]
    for name in study.claim_ids():
        found[layout.claim(name)] = [partial(read, ledger.read, layout.claim(name), name), report]
    for name in study.figures():
        for ending in ("json", "svg"):
            found[layout.figure(ending, name)] = [partial(draw, layout, name)]
    claims = layout.ledger()
    found[layout.instances()] = [report]
    found[claims] = [
        partial(message, "ledger", "--counts", claims),
        partial(message, "figure", "claims-map", "--tables", claims, "--out", "new/map"),
    ]
    return dict(found)


def inject(study, layout, number, seed=0):
    """Outcomes of faults in the files of a study in the working directory, of which `number` are damaged files."""
    rng, found = random.Random(seed), readers(study, layout)
    return [damage(rng, found, number), swap(found, study, layout), replace(found), damage_seconds(rng)]


def damage(rng, found, number):
    outcomes, paths = Outcomes("damaged files"), list(found)
    for i in range(number):
        path = Path(rng.choice(paths))
        whole = path.read_bytes()
        path.write_bytes(damaged(rng, whole))
        outcomes.count(f"{i}: {path}", rng.choice(found[str(path)]))
        path.write_bytes(whole)
    return outcomes


def swap(found, study, layout):
    """Each file in the place of another file of its kind: rejected by every reader that knows what it asked for."""
    outcomes, cases = Outcomes("swapped files"), study.cases()
    agents = [(*case, agent) for case in cases for agent in study["study"][case[0]]["agents"]]
    kinds = [
        [layout.instance(name) for name in study["instances"]],
        [layout.run(*agent, BATCH) for agent in agents],
        [layout.tuned(*agent) for agent in agents if "tune" in study["agents"][agent[2]]],
        [layout.regret("summary", *case) for case in cases],
        [layout.regret_timings(*case) for case in cases],
        [layout.claim(name) for name in study.claim_ids()],
        [layout.figure("json", name) for name in study.figures()],
    ]
    for paths in kinds:
        whole = {path: Path(path).read_bytes() for path in paths}
        for path, other in zip(paths, paths[1:] + paths[:1], strict=True):
            if path != other:
                Path(path).write_bytes(whole[other])
                outcomes.count(f"{path} is {other}", partial(must_reject, found[path][-1]))
                Path(path).write_bytes(whole[path])
    return outcomes


def replace(found):
    """Files that are missing, empty, a folder, of another kind, or a symbolic link to themselves."""
    outcomes, other = Outcomes("missing and foreign files"), Path(next(iter(found))).read_bytes()
    for name, functions in found.items():
        path = Path(name)
        whole, foreign = path.read_bytes(), b"a,b\n1,2\n" if path.suffix == ".npz" else other
        faults = {
            "missing": lambda path: None,
            "empty": lambda path: path.write_bytes(b""),
            "folder": lambda path: path.mkdir(),
            "foreign": lambda path, content=foreign: path.write_bytes(content),
            "link to itself": lambda path: path.symlink_to(path.name),
        }
        for fault, put in faults.items():
            path.unlink()
            put(path)
            outcomes.count(f"{fault}: {path}", partial(must_reject, functions[-1], missing=fault == "missing"))
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            path.write_bytes(whole)
    return outcomes


def must_reject(reader, missing=False):
    try:
        said = reader()
    except ValueError as error:
        said = f"befrl: {error}"
    assert said is not None, "accepted"
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
