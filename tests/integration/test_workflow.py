"""The workflow, driven as a user drives it: Snakemake in a copy of the project, on a study of seconds.

The tests share one finished copy and leave it finished; only what needs a run from nothing has its own folder.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from befrl import figures
from befrl.analysis import components
from befrl.common import storage, tidy
from befrl.common.layout import REGRET_TABLES, Layout
from befrl.experiment import run_file
from helpers import PROJECT
from small_study import changed

slow = pytest.mark.slow

OTHER = {"estimator": "online-newton", "planner": "rff-paired", "features": 20}
STUDY = {
    "seeds": 3,
    "tuning": {"configurations": 3, "refined": 0, "seeds": [1, 2], "kept": [2]},
    "jobs": {"seeds_per_job": 2, "lockstep": 1, "threads": 1},
    "statistics": {"coverage": 10},
    "instances": {"tiny": {"family": "chain", "set": {"bins": 3, "horizon": 4}}},
    "agents": {
        "bef-rlsvi": {"algorithm": "bef-rlsvi", "tune": {"x": [0.1, 10], "eta": [0.5, 2]}, "sweep": {"x": [0.3, 3]}},
        "greedy": {"algorithm": "greedy"},
        "other": {"algorithm": "greedy", "set": OTHER},
        "random": {"algorithm": "random"},
    },
    "study": {"tiny": {"episodes": 20, "agents": ["bef-rlsvi", "greedy", "other", "random"]}},
    "components": {
        "exploration": {"episodes": {"tiny": 3}, "tuning": 2, "evaluation": 2},
        "planners": {"instances": ["tiny"], "features": [4, 8], "repetitions": 2},
    },
    "claims": {"trials": 3, "ids": ["C31"]},
}
INSTANCE = "results/instances/tiny.npz"
BATCHES = ("1000-1001", "1002-1002")
RUNS = {agent: {f"results/runs/tiny/U/{agent}/{batch}.npz" for batch in BATCHES} for agent in STUDY["agents"]}
ALL_RUNS = set().union(*RUNS.values())
TUNED = "results/runs/tiny/U/bef-rlsvi/tuning.json"
LAYOUT = Layout()
CASE = ("tiny", "U")
TABLES = {*(LAYOUT.regret(table, *CASE) for table in REGRET_TABLES), LAYOUT.regret_timings(*CASE)}
CLAIM, LEDGER, ERRATA, REPORT = LAYOUT.claim("C31"), LAYOUT.ledger(), LAYOUT.errata(), LAYOUT.report()
COMPONENTS = {
    kind: {
        LAYOUT.component_timings(kind, "tiny") if table == "timings" else LAYOUT.component(kind, table, "tiny")
        for table in components.tables(kind)
    }
    for kind in STUDY["components"]
}
INSTANCES, TABLE1 = LAYOUT.instances(), {LAYOUT.table1(), LAYOUT.table1_timings()}
IMPROVEMENT = {LAYOUT.improvement(), LAYOUT.significance()}
COVERAGE, COLUMNS = LAYOUT.coverage(), LAYOUT.columns()
WANTED = figures.wanted([CASE], [(kind, "tiny") for kind in COMPONENTS])
FIGURES = {name: {LAYOUT.figure(ending, name) for ending in ("svg", "png", "json")} for name in WANTED}
ALL_FIGURES = set().union(*FIGURES.values())
EVERYTHING = {LAYOUT.study(), INSTANCE, TUNED, INSTANCES, COVERAGE, COLUMNS, CLAIM, LEDGER, ERRATA, REPORT}
EVERYTHING |= TABLE1 | IMPROVEMENT | ALL_RUNS | TABLES | ALL_FIGURES | set().union(*COMPONENTS.values())
# What holds seconds of the clock: timings, drawings of them, the page, run files and the records of claims.
MEASURED = {name for name in EVERYTHING if "/timings/" in name} | {REPORT, CLAIM} | ALL_RUNS
MEASURED |= set().union(*(FIGURES[name] for name, (kind, _) in WANTED.items() if figures.measured(kind)))
DETERMINED = EVERYTHING - MEASURED - {INSTANCE, LAYOUT.study()}
DETERMINED_TABLES = DETERMINED - ALL_FIGURES


class Project:
    """A copy of the project's code with the study above, in a folder of its own."""

    def __init__(self, folder, origin=PROJECT, study=STUDY):
        self.folder = folder
        folder.mkdir()
        for name in ("workflow", "config", "src", "tools"):
            shutil.copytree(origin / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for name in ("Snakefile", "requirements.lock"):
            shutil.copy2(origin / name, folder)
        self.configure("study.json", study)

    def configure(self, name, study):
        (self.folder / name).write_text(json.dumps(study))

    def command(self, *words, cores=2, config="study.json"):
        return [sys.executable, "-m", "snakemake", "--cores", str(cores), *words, "--configfile", config]

    @property
    def environment(self):
        """`python` is the one of the tests, and befrl comes from the copy."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return os.environ | {"PATH": path, "PYTHONPATH": str(self.folder / "src")}

    def snakemake(self, *words, command=None, **options):
        streams = {"capture_output": True, "text": True, "timeout": 240}
        command = command or self.command(*words, **options)
        return subprocess.run(command, cwd=self.folder, env=self.environment, **streams)

    def finish(self, *words, **options):
        done = self.snakemake(*words, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def planned(self, study=STUDY):
        """The files that Snakemake would make now."""
        self.configure("planned.json", study)
        found = re.findall(r"^ +output: (.*)$", self.finish("-n", config="planned.json"), flags=re.MULTILINE)
        return {name for line in found for name in line.split(", ")}

    def hashes(self, names):
        return {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in names}

    def times(self, names):
        return {name: (self.folder / name).stat().st_mtime_ns for name in names}

    def existing(self, names):
        return {name for name in names if (self.folder / name).exists()}

    def module(self, name):
        return self.folder / "src" / f"{name.replace('.', '/')}.py"

    @contextlib.contextmanager
    def edited(self, *paths, text="\n\nEDITED = True\n", change=None):
        """Files with some text at their end, or another change of their contents, for a while."""
        before = {path: path.read_text() for path in paths}
        try:
            for path, content in before.items():
                path.write_text(change(content) if change else content + text)
                assert path.read_text() != content
            yield
        finally:
            for path, content in before.items():
                path.write_text(content)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A finished study."""
    project = Project(tmp_path_factory.mktemp("workflow") / "project")
    project.finish()
    return project


def assert_same_runs(project, other):
    for name in ALL_RUNS:
        (log, _), (again, _) = (run_file.load(each.folder / name) for each in (project, other))
        for key in run_file.LOGGED:
            assert log[key].tobytes() == again[key].tobytes(), (name, key)


def test_a_run_of_the_copy_makes_everything_and_then_there_is_nothing_to_do(project):
    shown = project.finish(command=[sys.executable, "-c", "import befrl; print(befrl.__file__)"])
    assert Path(shown.strip()) == project.folder / "src" / "befrl" / "__init__.py"
    assert project.existing(EVERYTHING) == EVERYTHING
    made = [path for top in ("results", "figures") for path in (project.folder / top).rglob("*") if path.is_file()]
    names = {path.relative_to(project.folder).as_posix() for path in made if path.suffix not in (".log", ".tsv")}
    assert names == EVERYTHING
    assert "Nothing to be done" in project.finish()


def test_the_command_beside_a_figure_makes_it(project):
    name = next(iter(FIGURES))
    command = storage.read_json(project.folder / LAYOUT.figure("json", name))["command"]
    assert command == f"snakemake --cores all {LAYOUT.figure('svg', name)} --configfile study.json"
    (project.folder / LAYOUT.figure("svg", name)).unlink()
    project.finish(command=[sys.executable, "-m", *command.split()])
    assert project.existing(FIGURES[name]) == FIGURES[name]


def test_the_report_shows_the_study_and_the_table_of_instances_the_answer_of_exploration(project):
    page = (project.folder / REPORT).read_text()
    assert all(text in page for text in ("bef-rlsvi", "tiny", "C31", "<svg", "Does exploration matter?"))
    assert page.count("<figure ") == len(FIGURES)
    (row,) = tidy.read(project.folder / INSTANCES).to_dict("records")
    table = tidy.read(project.folder / LAYOUT.component("exploration", "points", "tiny")).set_index("role")
    assert (row["name"], row["family"], row["episodes"], row["seeds"]) == ("tiny", "chain", 3, 2)
    assert (row["greedy"], row["best"]) == (table.loc["greedy", "mean"], table.loc["best", "mean"])
    assert row["matters"] == (table.loc["difference", "low"] > 0)


def test_every_job_has_an_empty_log_and_a_benchmark(project):
    logs, benchmarks = (sorted((project.folder / "results" / name).rglob("*.*")) for name in ("logs", "benchmarks"))
    # instance, table of them, tuning, Table 1, improvement, coverage, columns, claim, ledger, case, its figures, report
    others = [name for name, (kind, _) in WANTED.items() if figures.scope(kind) != "case"]
    assert len(logs) == len(benchmarks) == 12 + len(ALL_RUNS) + len(COMPONENTS) + len(others)
    assert [log.read_text() for log in logs if log.read_text()] == []
    assert all(float(pd.read_csv(path, sep="\t")["s"].iloc[0]) > 0 for path in benchmarks)


def test_runs_know_what_made_them(project):
    meta = storage.read_meta(project.folder / "results/runs/tiny/U/bef-rlsvi/1000-1001.npz", "run")
    assert (meta["instance"], meta["algorithm"], meta["seeds"]) == ("tiny", "bef-rlsvi", [1000, 1001])
    assert (meta["episodes"], meta["instance_parameters"]["bins"], meta["ties"]) == (20, 3, "random")
    own, (tuned, setting), low, high = zip(meta["labels"], meta["settings"], strict=True)
    assert (own[0], own[1]["x"]) == ("bef-rlsvi", None)
    assert [(label, setting["x"]) for label, setting in (low, high)] == [("bef-rlsvi@x=0.3", 0.3), ("bef-rlsvi@x=3", 3)]
    # The chosen setting is that of the tuning that the workflow has done before.
    outcome = storage.read_json(project.folder / TUNED)
    chosen = outcome["configurations"][outcome["chosen"]["tuned"]]
    assert (tuned, {key: setting[key] for key in ("x", "eta")}) == ("bef-rlsvi@tuned", chosen["values"])
    assert len(outcome["configurations"]) == 3 and [len(each) for each in outcome["regrets"].values()] == [1, 1]
    (parameters,) = storage.read_meta(project.folder / min(RUNS["other"]), "run")["settings"]
    assert OTHER.items() <= parameters.items()


# What is made again after an edit.
EXPLORATION = COMPONENTS["exploration"] | FIGURES["exploration"] | {INSTANCES, REPORT}
PLANNERS = COMPONENTS["planners"] | FIGURES["planners"] | {REPORT}
OF_COMPONENTS = FIGURES["exploration"] | FIGURES["planners"]
AFTER_RUNS = TABLES | TABLE1 | IMPROVEMENT | (ALL_FIGURES - OF_COMPONENTS - FIGURES["claims-map"]) | {REPORT}
C31 = "befrl.claims.sections.noise"
# Where several modules are named together, none of them costs more than what stands there.
EDITS = {
    "befrl.agents.bef_rlsvi": RUNS["bef-rlsvi"] | {TUNED} | AFTER_RUNS | EXPLORATION,
    "befrl.agents.random": RUNS["random"] | AFTER_RUNS,
    "befrl.learning.learner": ALL_RUNS - RUNS["random"] | {TUNED} | AFTER_RUNS | EXPLORATION,
    "befrl.experiment.tuning": ALL_RUNS | {TUNED} | AFTER_RUNS,
    "befrl.analysis.remarks": AFTER_RUNS,
    # The parts of agents: the runs whose parameters name them.
    "befrl.learning.estimators.mle": RUNS["bef-rlsvi"] | {TUNED} | RUNS["greedy"] | AFTER_RUNS | EXPLORATION,
    "befrl.planning.planners.rff_paired": RUNS["other"] | AFTER_RUNS | PLANNERS,
    "befrl.planning.planners.chebyshev": PLANNERS,
    "befrl.agents.exp_psrl befrl.analysis.components.exploration": EXPLORATION,
    "befrl.analysis.instance_table befrl.figures.planners": {INSTANCES} | PLANNERS - COMPONENTS["planners"],
    "befrl.figures.optimism": FIGURES["optimism"] | {REPORT},
    "befrl.analysis.table1": FIGURES["cost"] | TABLE1 | {REPORT},
    "befrl.analysis.coverage": {COVERAGE},
    C31: FIGURES["claims-map"] | {CLAIM, LEDGER, ERRATA, REPORT},
}
# A fast selection, whose costs are disjoint but for the report: a part of agents, a component, a claim and a table.
SELECTED = ("befrl.agents.random", "befrl.planning.planners.chebyshev", "befrl.analysis.coverage")
SELECTED += (C31,)
# What the study does not use.
UNUSED = "befrl.learning.estimators.shah befrl.agents.ucbvi befrl.instances.lds befrl.model.rewards.gaussian"
UNUSED += " befrl.analysis.components.densities befrl.figures.densities"


def test_edits_cost_exactly_what_depends_on_them(project):
    with project.edited(*map(project.module, SELECTED)):
        assert project.planned() == set().union(*(EDITS[module] for module in SELECTED))


@slow
@pytest.mark.parametrize("modules", EDITS)
def test_an_edit_costs_exactly_what_depends_on_it(project, modules):
    with project.edited(*map(project.module, modules.split())):
        assert project.planned() == EDITS[modules]


def test_comments_unused_modules_and_a_new_agent_cost_nothing(project):
    used = ("befrl.agents.bef_rlsvi", "befrl.experiment.loop", "befrl.figures.regret", "befrl.jobs.run")
    new = project.folder / "src/befrl/agents/newcomer.py"
    new.write_text((project.folder / "src/befrl/agents/greedy.py").read_text())
    try:
        remarks = project.edited(*map(project.module, used), text="\n\n# a remark\n")
        with remarks, project.edited(*map(project.module, UNUSED.split())):
            assert project.planned() == set()
    finally:
        new.unlink()


def test_texts_that_are_results_cost_what_shows_them(project):
    texts = {
        "analysis/columns.csv": "coverage,level,the same in other words\n",
        "figures/captions.yaml": "\noptimism: {title: Optimism, caption: in other words}\n",
        "report/page.css": "\n/* new */\n",
    }
    with contextlib.ExitStack() as edits:
        for name, text in texts.items():
            edits.enter_context(project.edited(project.folder / "src/befrl" / name, text=text))
        assert project.planned() == {COLUMNS, REPORT} | FIGURES["optimism"]


def test_a_changed_config_costs_what_depends_on_it(project):
    other = changed("components.planners.features", [4, 16], changed("agents.greedy.set", {"eta": 2.0}, STUDY))
    assert project.planned(other) == RUNS["greedy"] | AFTER_RUNS | PLANNERS


@slow
def test_a_changed_range_or_procedure_costs_the_tuning_and_what_follows(project):
    """Other values of a sweep, and other seeds of the evaluation, cost no tuning."""
    for path, value, cost in (
        ("agents.bef-rlsvi.tune.x", [0.1, 20], RUNS["bef-rlsvi"] | {TUNED} | AFTER_RUNS),
        ("agents.bef-rlsvi.sweep.x", [0.3, 4], RUNS["bef-rlsvi"] | AFTER_RUNS),
        ("tuning.seeds", [1, 3], RUNS["bef-rlsvi"] | {TUNED} | AFTER_RUNS),
        ("seeds", 4, {f"results/runs/tiny/U/{agent}/1002-1003.npz" for agent in STUDY["agents"]} | AFTER_RUNS),
        ("components.exploration.episodes.tiny", 4, EXPLORATION),
    ):
        assert project.planned(changed(path, value, STUDY)) == cost
    assert project.planned(STUDY | {"ties": "first"}) >= ALL_RUNS | {TUNED}


def test_what_changes_no_bit_costs_nothing(project):
    """Another order of the agents, whole numbers with a decimal point, threads, lock step, and a touched study.json."""
    other = json.loads(json.dumps(STUDY))
    other["study"]["tiny"]["agents"].reverse()
    other["agents"]["bef-rlsvi"] |= {"tune": {"x": [0.1, 10.0], "eta": [0.5, 2.0]}, "sweep": {"x": [0.3, 3.0]}}
    other["instances"]["tiny"]["set"] = {"horizon": 4.0, "bins": 3.0}
    other["jobs"] |= {"threads": 2, "lockstep": 3, "mem_mb": 2000}
    (project.folder / LAYOUT.study()).touch()
    assert project.planned(other) == set()


PACKAGES = {"matplotlib": ALL_FIGURES | {REPORT}, "numpy": EVERYTHING - {COLUMNS, LAYOUT.study()}, "ruff": set()}


def first_is_fast(names):
    return [pytest.param(name, marks=slow if i else ()) for i, name in enumerate(names)]


@pytest.mark.parametrize("package", first_is_fast(PACKAGES))
def test_another_version_in_the_lock_costs_what_imports_the_package(project, package):
    """numpy is everywhere; matplotlib draws; ruff has no part in any result."""
    newer = functools.partial(re.sub, rf"(?m)^{package}==", f"{package}==9")
    with project.edited(project.folder / "requirements.lock", change=newer):
        assert project.planned() == PACKAGES[package]


@slow
def test_the_report_can_be_made_again_when_a_run_file_is_gone(project):
    """It declares all that it reads, and reads no run file."""
    run, report = project.folder / min(RUNS["random"]), project.folder / REPORT
    kept = run.read_bytes()
    run.unlink()
    report.unlink()
    project.finish()
    assert report.exists()
    run.write_bytes(kept)
    # The restored file is younger than the tables; its content is the same.
    os.utime(run, ns=(0, 0))
    assert "Nothing to be done" in project.finish()


@slow
def test_a_clone_with_its_results_has_nothing_to_do(project, tmp_path):
    clone = Project(tmp_path / "clone", project.folder)
    for name in ("results", "figures"):
        shutil.copytree(project.folder / name, clone.folder / name)
    assert not (clone.folder / ".snakemake").exists()
    assert "Nothing to be done" in clone.finish()


@slow
def test_figures_are_drawn_again_to_the_same_bytes(project):
    made = ALL_RUNS | {TUNED} | TABLES | set().union(*COMPONENTS.values())
    before, times = project.hashes(ALL_FIGURES), project.times(made)
    shutil.rmtree(project.folder / "figures")
    project.finish()
    assert project.hashes(ALL_FIGURES) == before
    assert project.times(made) == times


@contextlib.contextmanager
def interrupted(project, number, command=None):
    """Snakemake on one core, hit by a signal when two runs are there; yields the times of the finished ones."""
    options = {"cwd": project.folder, "env": project.environment, "start_new_session": True}
    options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(command or project.command(cores=1), **options)
    try:
        while len(found := project.existing(ALL_RUNS)) < 2:
            assert started.poll() is None, "ended before it could be interrupted"
            time.sleep(0.01)
        times = project.times(found)
        started.send_signal(number)
        started.wait(timeout=60)
        assert started.returncode != 0
        del times[max(times, key=times.get)]
        yield times
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


@slow
def test_a_terminated_run_resumes(project, tmp_path):
    """One core instead of two, an interruption between: the same bits."""
    other = Project(tmp_path / "other", project.folder)
    with interrupted(other, signal.SIGTERM) as finished:
        assert not (other.folder / REPORT).exists()
        other.finish(*sorted(ALL_RUNS | DETERMINED_TABLES), cores=1)
    assert other.times(finished) == finished
    assert_same_runs(project, other)
    assert other.hashes(DETERMINED_TABLES) == project.hashes(DETERMINED_TABLES)


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=slow)])
def test_the_same_command_completes_a_killed_or_interrupted_run(project, tmp_path, number):
    """Two threads a job instead of one, and a signal to Snakemake alone, whose jobs live on: the same bits."""
    study = STUDY | {"jobs": STUDY["jobs"] | {"threads": 2}}
    other = Project(tmp_path / "other", project.folder, study)
    wanted = ALL_RUNS | TABLES
    # What `make reproduce` runs.
    command = [sys.executable, "-m", "befrl.study.runner", "study", "--cores", "1", *sorted(wanted)]
    command += ["--configfile", "study.json"]
    with interrupted(other, number, command) as finished:
        other.finish(command=command)
    assert other.times(finished) == finished
    assert other.existing(wanted) == wanted and not list(other.folder.rglob("*.part"))
    assert_same_runs(project, other)
    assert other.hashes({"results/regret/tiny_U/curves.csv"}) == project.hashes({"results/regret/tiny_U/curves.csv"})


def assert_rejected(done, words):
    assert done.returncode == 2 and "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("befrl: ")]
    assert words in line


BAD_CONFIGS = {
    "unknown key": (STUDY | {"sedes": {}}, "unknown key 'sedes'"),
    "unknown agent": (STUDY | {"study": {"tiny": {"episodes": 5, "agents": ["dqn"]}}}, "unknown agent 'dqn'"),
    "refused pairing": (
        changed("agents.greedy.set", {"estimator": "gaussian"}, STUDY),
        "study.tiny.agents: agent 'greedy': estimator 'gaussian' cannot work with the family TruncatedNormal",
    ),
    "bad range": (changed("agents.greedy.tune.eta", [2, 1], STUDY), "agents.greedy.tune: eta = [2, 1] is not allowed"),
    "no instances": ({key: STUDY[key] for key in STUDY if key != "instances"}, "'instances' is missing"),
}


@pytest.mark.parametrize("name", first_is_fast(BAD_CONFIGS))
def test_a_bad_config_is_one_sentence_before_any_job(project, name):
    config, words = BAD_CONFIGS[name]
    project.configure("bad.json", config)
    assert_rejected(project.snakemake("-n", config="bad.json"), words)


BAD_TARGETS = {
    "results/instances/ring.npz": "unknown instance 'ring': choose one of tiny",
    "results/runs/tiny/U/dqn/1000-1001.npz": "unknown agent 'dqn'",
    "results/runs/tiny/U/greedy/0-3.npz": "unknown batch of seeds '0-3': choose one of 1000-1001, 1002-1002",
    "results/runs/tiny/U/dqn/tuning.json": "unknown agent 'dqn'",
    "results/runs/tiny/U/greedy/tuning.json": "agent 'greedy' is not tuned",
    "results/regret/tiny_K/summary.csv": "unknown track 'K': choose one of U",
    "results/components/planners/ring/points.csv": "unknown instance 'ring': choose one of tiny",
    "results/published/nobody/values.csv": "unknown published source 'nobody'",
    "figures/pie.svg": "unknown figure 'pie'",
}


@slow
def test_bad_input_leaves_nothing_locked(project):
    """Not as a dry run, which would not lock; a good run follows without --unlock."""
    project.configure("bad.json", STUDY | {"sedes": {}})
    assert project.snakemake(config="bad.json").returncode == 2
    for target in ("results/runs/tiny/U/dqn/1000-1001.npz", "figures/pie.svg"):
        assert_rejected(project.snakemake(target), BAD_TARGETS[target])
    assert "Nothing to be done" in project.finish()


@pytest.mark.parametrize("target", first_is_fast(BAD_TARGETS))
def test_a_bad_target_is_one_sentence(project, target):
    assert_rejected(project.snakemake("-n", target), BAD_TARGETS[target])


@slow
def test_a_truncated_run_is_named_and_deleting_it_repairs_the_study(project):
    broken = min(RUNS["random"])
    path, kept = project.folder / broken, EVERYTHING - TABLES - IMPROVEMENT - {broken}
    (log, _), before = run_file.load(path), project.hashes(kept)
    path.write_bytes(path.read_bytes()[:200])
    assert project.snakemake().returncode == 1
    sentence = (project.folder / "results/logs/regret/tiny_U.log").read_text()
    assert sentence == f"befrl: {broken}: truncated, or not a befrl run file: delete it and run again\n"
    assert project.hashes(kept) == before
    path.unlink()
    project.finish()
    assert project.existing(EVERYTHING) == EVERYTHING
    assert np.array_equal(run_file.load(path)[0]["regret"], log["regret"])
    same = kept & DETERMINED
    assert project.hashes(same) == {name: before[name] for name in same}
    assert "Nothing to be done" in project.finish()
