"""The jobs of a small study: each makes what the plain function gives, and its version depends on what it needs."""

import html
import json
import os
from pathlib import Path

import numpy as np
import pytest

from befrl import claims, figures, instances, jobs
from befrl.analysis import aggregation, components, coverage, improvement, instance_table, published, table1
from befrl.claims import errata, ledger
from befrl.common import storage, tidy
from befrl.common.errors import InputError
from befrl.common.layout import PUBLISHED_TABLES
from befrl.experiment import run_file, runs, settings, tuning
from befrl.experiment.spec import RunSpec
from befrl.study import columns, provenance
from befrl.study.config import check
from befrl.study.study import Study
from befrl.study.yaml_file import read_yaml
from small_study import changed

CONFIG = read_yaml(Path(__file__).with_name("study.yaml"))
DRAWN = ("case-figures", "figure", "report")
BATCHES = ["1000-1001", "1002-1003"]
# Like root seed, ties and level not the default, so that a job that ignored it would make something else.
SET = {"design": "hessian"}


def jobs_of(study):
    """Every job of a study as (kind, names), in an order in which each finds the files that it reads."""
    yield from (("instance", {"instance": name}) for name in study["instances"])
    yield from (("component", {"component": kind, "instance": name}) for kind, name in study.components())
    for instance, track in study.cases():
        case = {"instance": instance, "track": track}
        yield from (("tune", case | {"agent": agent}) for agent in study.tuned(instance))
        for agent in study["study"][instance]["agents"]:
            yield from (("run", case | {"agent": agent, "batch": batch}) for batch in study.batches(instance))
        yield "aggregate", case
    yield from ((kind, {}) for kind in ("instances", "table1", "improvement", "coverage", "columns"))
    yield from (("published", {"source": source}) for source in study["published"])
    yield from (("claims", {"section": section}) for section in study.claim_sections())
    yield "ledger", {}
    yield from (("case-figures", {"instance": name, "track": track}) for name, track in study.compared_cases())
    others = [name for name, (kind, _) in study.figures.items() if figures.scope(kind) != "case"]
    yield from (("figure", {"figure": name}) for name in others)
    yield "report", {}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study after all its jobs, in a folder of its own; its figures and report leave its components out."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("study"))
    try:
        checked = check(CONFIG, configfiles=["mine.yaml"])
        checked.write(checked.layout.study())
        found = Study.read(checked.layout.study())
        assert found == checked
        assert {kind for kind, _ in jobs_of(found)} == set(jobs.registry.names())
        made = [(found, *job) for job in jobs_of(found) if job[0] not in DRAWN]
        made += [(without_components(), *job) for job in jobs_of(without_components()) if job[0] in DRAWN]
        for part, kind, names in made:
            jobs.registry.module(kind).make(part, **names)
        yield found
    finally:
        os.chdir(before)


def without_components():
    return check(CONFIG | {"components": {}}, configfiles=["mine.yaml"])


def tiny():
    return instances.build("chain", {"bins": 3, "horizon": 4})


def spec(algorithm, values, seeds):
    return RunSpec.of(tiny(), "tiny", algorithm, values, 6, seeds, root_seed=5, ties="first")


def test_instance_file_is_the_instance(study):
    name, stored = instances.load(study.layout.instance("tiny"))
    assert instances.facts(name, stored) == instances.facts("tiny", tiny())
    assert np.array_equal(stored.theta_p, tiny().theta_p) and np.array_equal(stored.theta_r, tiny().theta_r)


def test_tuning_is_successive_halving(study):
    outcome, halving = tuning.read(study.layout.tuned("tiny", "U", "ours")), tuning.Halving(4, 0, (1, 3), (2,))
    expected = tuning.halve(spec("bef-rlsvi", SET, [0]), SET, {"x": [0.1, 10], "eta": [0.5, 2]}, halving, 100)
    assert {key: outcome[key] for key in expected} == expected


def test_tuning_plays_as_the_study_says(study, monkeypatch):
    """Noise leaves no ties that the outcome could show."""

    class Called(Exception):
        pass

    def halve(*arguments):
        raise Called(*arguments)

    monkeypatch.setattr(tuning, "halve", halve)
    with pytest.raises(Called) as call:
        jobs.registry.module("tune").make(study, "tiny", "U", "ours")
    played, values, *_ = call.value.args
    assert (played.track, played.episodes, played.root_seed, played.ties, values) == ("U", 6, 5, "first", SET)


@pytest.mark.parametrize("agent", ["ours", "greedy", "random"])
def test_batches_are_the_run_of_all_seeds_and_settings_bit_by_bit(study, agent):
    entry = CONFIG["agents"][agent]
    outcome = tuning.read(study.layout.tuned("tiny", "U", agent)) if "tune" in entry else None
    variants = settings.variants(agent, entry.get("set", {}), outcome, entry.get("sweep"))
    log, _ = runs.run_rows(spec(entry["algorithm"], list(variants.values()), range(1000, 1004)), width=100)
    parts, metas = zip(*(run_file.load(study.layout.run("tiny", "U", agent, batch)) for batch in BATCHES), strict=True)
    assert [meta["seeds"] for meta in metas] == [[1000, 1001], [1002, 1003]]
    assert [meta["labels"] for meta in metas] == [list(variants)] * 2
    for key in (*run_file.LOGGED, *run_file.TRACED):
        joined = np.concatenate([part[key] for part in parts], axis=1)
        assert joined.tobytes() == run_file.rounded(log)[key].tobytes()


@pytest.mark.parametrize("kind", components.registry.names())
def test_component_tables_are_those_of_the_component_study(study, kind):
    expected = components.run(kind, "tiny", tiny(), 5, study.component(kind)["tiny"])
    known, layout = components.tables(kind), study.layout
    assert set(expected) == set(known)
    for name, rows in expected.items():
        if name == "timings":
            assert len(tidy.read(layout.component_timings(kind, "tiny"), known[name])) == len(rows)
        else:
            assert storage.read_text(layout.component(kind, name, "tiny")) == tidy.text(rows, known[name])


def test_tables_of_the_study_are_those_of_their_functions(study):
    layout, cases = study.layout, [("tiny", "U")]
    paths = [layout.run("tiny", "U", agent, batch) for agent in ("ours", "greedy", "random") for batch in BATCHES]
    finals, level = {("tiny", "U"): aggregation.finals(paths)}, 0.8
    regret = aggregation.aggregate(paths, {"ours": tuning.read(layout.tuned("tiny", "U", "ours"))}, 0.8)
    expected = {
        layout.regret_timings("tiny", "U"): regret.pop("timings"),
        **{layout.regret(name, "tiny", "U"): text for name, text in regret.items()},
        layout.coverage(): tidy.text(coverage.study(2, 5), coverage.COLUMNS),
        layout.columns(): tidy.text(columns.rows(), columns.COLUMNS),
        layout.instances(): tidy.text(instance_table.rows(layout, study.longest(), ["tiny"]), instance_table.COLUMNS),
        layout.table1(): tidy.text(table1.rows(layout, cases), table1.COLUMNS),
        layout.improvement(): tidy.text(improvement.rows(finals, level), improvement.COLUMNS),
        layout.significance(): tidy.text(improvement.significance(finals, level), improvement.SIGNIFICANCE),
        layout.table1_timings(): tidy.text(table1.timings(layout, cases, ["tiny"]), table1.TIMINGS),
    }
    tables = published.tables("ayoub", published.read("ayoub", layout, {"code": ["swim"]}))
    for name in PUBLISHED_TABLES:
        expected[layout.published(name, "ayoub")] = tidy.text(tables[name], published.COLUMNS)
    assert tables["values"] and {path: storage.read_text(path) for path in expected} == expected


def test_claims_have_their_records_ledger_and_errata(study):
    record, stored = claims.evaluate("C31", 5, 5), ledger.read(study.layout.claim("C31"))
    assert {key: stored[key] for key in record} == json.loads(json.dumps(record | {"seconds": stored["seconds"]}))
    assert storage.read_text(study.layout.ledger()) == ledger.table([stored])
    assert storage.read_text(study.layout.errata()) == errata.errata([stored])


@pytest.mark.usefixtures("study")
def test_figures_say_what_makes_them_and_the_report_shows_them():
    study = without_components()
    page = html.unescape(storage.read_text(study.layout.report()))
    assert {"regret_tiny_U", "published_ayoub", "who-wins"} <= set(study.figures)
    for name in study.figures:
        about = storage.read_json(study.layout.figure("json", name))
        command = f"snakemake --cores all {study.layout.figure('svg', name)} --configfile mine.yaml"
        assert about["command"] == command
        assert all(os.path.getsize(study.layout.figure(ending, name)) > 1000 for ending in ("svg", "png"))
        assert about["title"] in page


# Versions.


def test_a_job_fails_if_its_code_is_not_that_of_its_rule_or_is_written_during_its_work(study, tmp_path):
    names = {"instance": "tiny", "track": "U", "agent": "greedy", "batch": BATCHES[0]}
    expected, module = jobs.version("run", study, **names), tmp_path / "module.py"
    module.write_text("x = 1")
    with pytest.raises(InputError, match="has changed since the workflow started"):
        with jobs.guarded("0123456789abcdef", "run", study, **names):
            raise AssertionError("the work has started")
    with jobs.guarded(expected, "run", study, **names):
        provenance._content(module)
    with pytest.raises(InputError, match=r"module.py: was written while the job ran"):
        with jobs.guarded(expected, "run", study, **names):
            module.write_text("x = 2; y = 3")
    provenance._read.pop(module)


@pytest.mark.parametrize("job", ["aggregate", "improvement"])
def test_tables_are_not_made_of_runs_of_other_code(study, job):
    path = Path(study.layout.run("tiny", "U", "greedy", BATCHES[0]))
    before, (log, meta) = path.read_bytes(), run_file.load(path)
    names = {"instance": "tiny", "track": "U"} if job == "aggregate" else {}
    run_file.save(path, log, meta | {"code": "0123456789abcdef"})
    with pytest.raises(InputError, match=r"1000-1001.npz: it was made by other code than the present"):
        jobs.registry.module(job).make(study, **names)
    path.write_bytes(before)


TINY_RUNS = {("run", "tiny", "U", agent, batch) for agent in ("ours", "greedy", "random") for batch in BATCHES}
RUNS = TINY_RUNS | {("run", "swim", "K", agent, batch) for agent in ("ucrl-vtr", "greedy") for batch in BATCHES}
OURS, GREEDY = ({job for job in RUNS if job[3] == agent} for agent in ("ours", "greedy"))
TUNE, REPORT = {("tune", "tiny", "U", "ours")}, {("report",)}
COMPONENTS = {("component", kind, "tiny") for kind in CONFIG["components"]}
CHANGES = {
    "root_seed": (7, {("coverage",), ("claims", "noise")} | TUNE | RUNS | COMPONENTS),
    "ties": ("random", TUNE | RUNS),
    "statistics.level": (0.9, {("aggregate", "tiny", "U"), ("aggregate", "swim", "K"), ("improvement",)}),
    "statistics.coverage": (3, {("coverage",)}),
    "tuning.kept": ([3], TUNE),
    "study.tiny.tuning": ({"configurations": 5, "seeds": [1], "kept": []}, TUNE),
    "study.tiny.episodes": (7, TUNE | TINY_RUNS),
    "instances.swim.set.horizon": (4, {("instance", "swim")}),
    "instances.tiny.set.reward": ("gaussian", {("instance", "tiny")} | TUNE | TINY_RUNS | COMPONENTS),
    "agents.ours.set": ({"noise": "step"}, TUNE | OURS),
    "agents.ours.tune.x": ([0.1, 20], TUNE),
    "agents.ours.sweep.x": ([0.3, 4], OURS),
    "agents.greedy.set": ({"eta": 2}, GREEDY),
    "components.planners.repetitions": (3, {("component", "planners", "tiny")}),
    "components.exploration.tuning": (3, {("component", "exploration", "tiny")}),
    "claims.trials": (6, {("claims", "noise")}),
}


def new_versions(config):
    """The jobs whose version differs from that in CONFIG."""
    before, after = (
        {(kind, *names.values()): jobs.version(kind, study, **names) for kind, names in jobs_of(study)}
        for study in map(check, (CONFIG, config))
    )
    assert before.keys() == after.keys()
    return {job for job in before if before[job] != after[job]}


def reordered(*path):
    """CONFIG with the entries of a mapping or a list in the opposite order."""
    entry = CONFIG
    for key in path:
        entry = entry[key]
    return changed(path, entry[::-1] if isinstance(entry, list) else dict(reversed(entry.items())), CONFIG)


@pytest.mark.parametrize("path", CHANGES)
def test_version_changes_for_the_jobs_that_depend_on_a_key_and_for_the_report(path):
    value, concerned = CHANGES[path]
    assert new_versions(changed(path, value, CONFIG)) == concerned | REPORT


def test_version_does_not_depend_on_division_of_work_order_or_spelling():
    same = {"jobs.threads": 2, "jobs.lockstep": 7, "jobs.mem_mb": 500, "instances.tiny.set.bins": 3.0}
    for path, value in same.items():
        assert new_versions(changed(path, value, CONFIG)) == set()
    for path in (("study", "tiny", "agents"), ("agents",), ("instances", "tiny", "set"), ("instances", "tiny")):
        assert new_versions(reordered(*path)) == set()


def test_version_depends_on_the_order_of_ranges_and_swept_values():
    """The order of ranges decides the configurations that are tried, that of swept values the rows of a run."""
    assert new_versions(reordered("agents", "ours", "tune")) == TUNE
    assert new_versions(reordered("agents", "ours", "sweep", "x")) == OURS | REPORT


def test_version_of_a_figure_depends_on_the_styles_of_the_agents_that_it_shows_alone():
    study = check(CONFIG)
    assert set(study.styles("regret", [("tiny", "U")])) == {"ours"}
    assert study.styles("regret", [("swim", "K")]) == {} == study.styles("planners", ["tiny"])
