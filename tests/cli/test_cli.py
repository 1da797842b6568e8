"""The command line: what each verb prints and writes, and how each kind of bad input is answered.

Bad input means exit code 2, one line on stderr, nothing on stdout and no file made or changed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from befrl import agents, claims, cli, figures, instances
from befrl.analysis import benchmark, components, coverage, instance_table, published, regret_columns, table1
from befrl.analysis.intervals import mean_interval
from befrl.claims.toolbox import ledger
from befrl.cli import verbs
from befrl.common import storage, tidy
from befrl.common.errors import Refused
from befrl.common.layout import PUBLISHED_TABLES, REGRET_TABLES, Layout
from befrl.common.parameters import describe
from befrl.experiment import run_file, runs, tuning
from befrl.experiment.spec import RunSpec
from befrl.learning import estimators
from befrl.model import rewards
from befrl.planning import planners
from helpers import PROJECT

SCHEMA = str(PROJECT / "config" / "schema.yaml")
VERBS = [
    "aggregate",
    "bench",
    "check",
    "claim",
    "columns",
    "compare",
    "components",
    "coverage",
    "figure",
    "findings",
    "instance",
    "instances",
    "ledger",
]
VERBS += ["list", "published", "report", "run", "table1", "tune"]
CHAIN = "--instance chain --instance-set bins=3 horizon=4"
TINY = f"{CHAIN} --episodes 6"
# numpy leaves a bad zip file open until it is collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


# Good commands.


def test_instance_prints_its_value_and_constants(good):
    facts = json.loads(good("instance riverswim --set kernel=cho states=4 horizon=12 --json"))
    assert facts["optimal_value"] == pytest.approx(2.6627, abs=5e-5)
    assert facts["parameters"] == {
        "kernel": "cho", "states": 4, "horizon": 12, "leak": 0.0, "small": 0.005, "reward_sd": 0.5,
    }  # fmt: skip
    assert (facts["d"], facts["n_cells"], facts["n_actions"], facts["horizon"]) == (24, 4, 2, 12)
    assert 0 < facts["uniform_value"] < facts["optimal_value"] and facts["gap"] > 0
    constants = facts["constants"]
    assert {"alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A"} <= set(constants)
    assert 0 < constants["alpha_p"] <= constants["beta_p"] and 0 < constants["alpha_r"] <= constants["beta_r"]


def test_instance_prints_a_table_for_people(good):
    assert "2.66271" in good("instance riverswim --set kernel=cho states=4 horizon=12")


def test_run_prints_numbers_that_fit_together(good):
    """Of the agent's own setting, and of those of a sweep, side by side."""
    run = json.loads(good(f"run {TINY} --agent bef-rlsvi --set eta=2 --sweep x=[3,0.5] --seeds 4 --out run.npz --json"))
    assert run["V_star"] == instances.build("chain", {"bins": 3, "horizon": 4}).optimal_value
    assert (run["seeds"], run["episodes"], run["level"], run["ties"]) == ([0, 1, 2, 3], 6, 0.95, "random")
    assert [each["label"] for each in run["variants"]] == ["bef-rlsvi", "bef-rlsvi@x=3", "bef-rlsvi@x=0.5"]
    log, meta = run_file.load("run.npz")
    for i, each in enumerate(run["variants"]):
        final = np.array(each["final_regret"])
        assert each["mean"] == pytest.approx(final.mean(), rel=1e-12)
        low, high = each["interval"]
        assert (low, high) == pytest.approx(mean_interval(final, 0.95, least=0.0))
        assert 0 <= low <= each["mean"] <= high
        assert each["quantiles"] == {
            "0.1": pytest.approx(np.quantile(final, 0.1)),
            "0.5": pytest.approx(np.median(final)),
            "0.9": pytest.approx(np.quantile(final, 0.9)),
        }
        assert each["parameters"]["eta"] == 2.0
        assert log["regret"][i].sum(1).tolist() == each["final_regret"]
    own, three, half = run["variants"]
    assert own["parameters"]["x"] is None and own["derived"]["x"] > 0
    assert three["parameters"]["x"] == three["derived"]["x"] == 3.0 and half["derived"]["x"] == 0.5
    assert run["steps_per_second"] * run["seconds"] == pytest.approx(3 * 4 * 6 * 4)
    assert (meta["labels"], meta["algorithm"], meta["track"]) == (
        ["bef-rlsvi", "bef-rlsvi@x=3", "bef-rlsvi@x=0.5"], "bef-rlsvi", "U",
    )  # fmt: skip
    assert {"code", "versions", "root_seed"} <= set(meta)


TUNE = "--tune x=[0.1,10] eta=[0.5,2]"


def test_tune_writes_its_outcome_and_run_takes_it_over(good):
    """What is tuned, the median and the worst run with the values that the outcome names, on other seeds."""
    words = f"{TINY} --agent bef-rlsvi --set noise=step --track K --ties first --root-seed 4"
    shown = good(f"tune {words} {TUNE} --configurations 4 --seeds 1 3 --kept 2 --out tuning.json")
    outcome = storage.read_json("tuning.json")
    assert {*tuning.OUTCOME, "code", "versions"} <= set(outcome)
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    spec = RunSpec.of(instance, "chain", "bef-rlsvi", {"noise": "step"}, 6, [0], track="K", ties="first", root_seed=4)
    ranges = {"x": [0.1, 10], "eta": [0.5, 2]}
    expected = tuning.halve(spec, {"noise": "step"}, ranges, tuning.Halving(4, (1, 3), (2,)), 100)
    assert {key: outcome[key] for key in expected} == expected
    best = outcome["configurations"][outcome["chosen"]["tuned"]]
    line = next(line for line in shown.splitlines() if line.strip().startswith("tuned"))
    assert f"mean regret {best['mean']:.6g} over 3 seeds" in line
    assert good(f"tune {words} {TUNE} --configurations 2 --seeds 1 --kept --quiet") == ""
    run = json.loads(good(f"run {words} --label b --tuned tuning.json --seeds 1000-1002 --json"))
    assert [each["label"] for each in run["variants"]] == ["b", "b@tuned", "b@median", "b@worst"]
    for each, number in zip(run["variants"][1:], outcome["chosen"].values(), strict=True):
        values = outcome["configurations"][number]["values"]
        assert {key: each["parameters"][key] for key in values} == values
        assert each["parameters"]["noise"] == "step"


def test_run_prints_a_table_for_people_or_nothing(good):
    table = good(f"run {TINY} --agent greedy --seeds 2")
    assert "mean regret" in table and "V* = " in table
    assert good(f"run {TINY} --agent greedy --seeds 2 --quiet") == ""


def final_regret(good, line):
    return json.loads(good(f"run {line} --agent bef-rlsvi --episodes 6 --json"))["variants"][0]["final_regret"]


def test_a_run_from_a_file_is_the_run_from_its_family(good):
    """The instance's name keys the random numbers; without --name it is the family's."""
    good("instance chain --set bins=3 horizon=4 --out same.npz")
    good("instance chain --set bins=3 horizon=4 --name other --out other.npz")
    family = final_regret(good, f"{CHAIN} --seeds 4")
    assert final_regret(good, "--instance same.npz --seeds 4") == family
    assert final_regret(good, "--instance other.npz --seeds 4") != family


def test_a_range_of_seeds_is_that_part_of_all(good):
    assert final_regret(good, f"{CHAIN} --seeds 2-3") == final_regret(good, f"{CHAIN} --seeds 4")[2:]


def test_the_root_seed_changes_the_runs(good):
    assert final_regret(good, f"{CHAIN} --seeds 3 --root-seed 1") != final_regret(good, f"{CHAIN} --seeds 3")


def test_aggregate_and_figure_write_their_files(good, tmp_path):
    for agent in ("greedy", "random"):
        good(f"run {TINY} --agent {agent} --seeds 1000-1003 --quiet --out runs/{agent}/1000-1003.npz")
    halving = "--configurations 3 --seeds 1 2 --kept 2"
    good(f"tune {TINY} --agent bef-rlsvi {TUNE} {halving} --quiet --out runs/b/tuning.json")
    good(
        f"run {TINY} --agent bef-rlsvi --tuned runs/b/tuning.json --label b --seeds 1000-1003 --quiet"
        " --out runs/b/1000-1003.npz"
    )
    good(
        "aggregate --runs runs --agents greedy random b --tuned b --batches 1000-1003 --out tables"
        " --timings seconds.csv"
    )
    paths = {name: tmp_path / "tables" / f"{name}.csv" for name in REGRET_TABLES} | {
        "timings": tmp_path / "seconds.csv"
    }
    for name, path in paths.items():
        assert ",".join(getattr(regret_columns, name.upper())) in path.read_text().splitlines()
    good(
        "figure regret tuning --tables tables/summary.csv tables/curves.csv tables/summary.csv tables/tuning.csv"
        " --out drawn/regret drawn/tuning --command 'make it' 'and this' --headline regret"
    )
    for name, command, headline in (("regret", "make it", True), ("tuning", "and this", False)):
        about = storage.read_json(f"drawn/{name}.json")
        assert (about["name"], about["command"], about["headline"]) == (name, command, headline)
        assert {path.suffix for path in (tmp_path / "drawn").glob(f"{name}.*")} == {".svg", ".png", ".json"}


COMPONENTS = {
    "exploration": "episodes=3 tuning=2 evaluation=2",
    "densities": "transitions=20",
    "theorem": "decades=3 episodes=10",
    "estimators": "sizes=[100] repetitions=2",
    "planners": "'features=[4, 8]' repetitions=2",
    "proof": "episodes=3 seeds=2",
    "repairs": "horizons=[1]",
    "scaling": "'sizes=[2, 3]' 'horizons=[2, 3]' episodes=2 seeds=2",
    "traps": "episodes=8 seeds=2",
    "rates": "episodes=3 seeds=4 gaps=3 'sizes=[2, 3]' 'horizons=[4, 8]' short=2",
}


@pytest.mark.parametrize("kind", components.registry.names())
def test_components_writes_the_tables_of_its_study(good, kind):
    good("instance chain --set bins=3 horizon=4 --name tiny --out tiny.npz")
    words = f"components {kind} --instance tiny.npz --set {COMPONENTS[kind]} --root-seed 5 --out tables"
    assert good(f"{words} --timings tables/timings.csv") == ""
    settings = {key: json.loads(value) for key, value in (word.split("=") for word in shlex.split(COMPONENTS[kind]))}
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    expected = components.run(kind, "tiny", instance, 5, settings)
    columns = components.tables(kind)
    assert {path.stem for path in Path("tables").iterdir()} == set(columns) == set(expected)
    for name, rows in expected.items():
        table = tidy.read(f"tables/{name}.csv")
        assert list(table.columns) == list(columns[name])
        assert len(table) == len(rows) and set(table["instance"]) == {"tiny"}
        if name != "timings":
            assert Path(f"tables/{name}.csv").read_text() == tidy.text(rows, columns[name])


def test_instances_writes_a_row_for_each_name(good):
    for name in ("one", "two"):
        good(f"instance chain --set bins=3 horizon=4 --name {name} --out results/instances/{name}.npz")
    good("instances --names two one --out table.csv")
    table = tidy.read("table.csv")
    assert list(table.columns) == list(instance_table.COLUMNS)
    assert list(table["name"]) == ["two", "one"]


def test_table1_and_published_write_their_tables(good, tmp_path):
    good("instance riverswim-ayoub-3 --set horizon=3 --name swim --out results/instances/swim.npz")
    run = "run --instance results/instances/swim.npz --track K --episodes 4 --seeds 2 --quiet"
    for agent in ("ucrl-vtr", "greedy"):
        good(f"{run} --agent {agent} --out runs/{agent}/0-1.npz")
    layout = Layout()
    good(
        f"aggregate --runs runs --agents ucrl-vtr greedy --batches 0-1 --out results/regret/swim_K"
        f" --timings {layout.regret_timings('swim', 'K')}"
    )
    good("table1 --cases swim_K --out table1.csv --timings seconds.csv")
    for path, columns in (("table1.csv", table1.COLUMNS), ("seconds.csv", table1.TIMINGS)):
        assert list(tidy.read(path, columns)["agent"]) == ["ucrl-vtr", "greedy"]
    for _ in range(2):  # the second time into a folder that exists
        good("published ayoub --experiments code=swim --out results/published/ayoub --timings seconds.csv")
    for table in PUBLISHED_TABLES:
        assert len(tidy.read(layout.published(table, "ayoub"), published.COLUMNS))


def test_coverage_writes_its_table_or_prints_that_of_the_documentation(good):
    good("coverage --repetitions 3 --seed 1 --out coverage.csv")
    written = tidy.read("coverage.csv", coverage.COLUMNS)
    assert set(written["repetitions"]) == {3} and set(written["population"]) == set(coverage.POPULATIONS)
    assert good("coverage --repetitions 3 --seed 1") == coverage.markdown(coverage.study(3, 1)) + "\n"


def test_claim_prints_its_record_and_writes_it(good):
    record = json.loads(good("claim C31 --trials 5 --json"))
    assert (record["id"], record["trials"], record["verdict"]) == ("C31", 5, "holds")
    assert good("claim C31 --trials 5 --out C31.json") == ""
    stored = storage.read_json("C31.json")
    assert {key: stored[key] for key in record if key != "seconds"} == {
        key: record[key] for key in record if key != "seconds"
    }
    assert good("ledger C31.json") == ledger.table([stored])
    storage.write_text("claims.csv", ledger.table([stored]))
    assert "| Concentration | 1 | 10 |" in good("ledger --counts claims.csv")
    assert "verdict" in good("claim C31 --trials 5")
    explained = good("claim C31 --trials 5 --explain")
    assert all(f"\n{head}\n" in explained for head in ("Derivation", "Attack", "Verdict", "Second derivation"))
    assert good("claim C31 C32 --trials 5 --folder made") == ""
    assert [storage.read_json(f"made/{id}.json")["id"] for id in ("C31", "C32")] == ["C31", "C32"]


KINDS = ["instances", "agents", "estimators", "planners", "rewards", "claims", "figures", "verbs"]


@pytest.mark.parametrize("what", KINDS)
def test_list_names_everything(good, what):
    known = {
        "instances": [*instances.registry.names(), *instances.PRESETS],
        "agents": agents.registry.names(),
        "estimators": estimators.registry.names(),
        "planners": planners.registry.names(),
        "rewards": rewards.registry.names(),
        "claims": claims.names(),
        "figures": figures.registry.names(),
        "verbs": VERBS,
    }[what]
    found = json.loads(good(f"list {what} --json"))
    assert [entry["name"] for entry in found] == known
    assert all(entry["text"] for entry in found)
    if what in ("instances", "agents"):
        parameters = [parameter for entry in found for parameter in entry["parameters"]]
        assert parameters and all({"name", "default", "allowed", "text"} <= set(each) for each in parameters)
    shown = good(f"list {what}")
    assert all(f"{name}: " in shown for name in known)
    assert good(f"list {what} --names").split() == known


@pytest.mark.parametrize("what", ["instances", "agents", "estimators", "planners"])
def test_list_shows_one_in_full(good, what):
    """First paragraph, file, and every parameter with its default, range and meaning; nothing of the others."""
    registry = {each.__name__.split(".")[-1]: each.registry for each in (instances, agents, estimators, planners)}[what]
    for name in registry.names()[:3]:
        module, shown = registry.module(name), good(f"list {what} {name}")
        first, *rest = shown.splitlines()
        assert first == f"{name}: {' '.join(module.__doc__.split(chr(10) * 2)[0].split())}"
        assert rest[-1] == f"source: {module.__file__}"
        declared = describe(module.Parameters) if what in ("instances", "agents") else []
        assert len(rest) == len(declared) + 1
        for line, each in zip(rest, declared, strict=False):
            assert line.split() == f"{each['name']} = {each['default']}: {each['text']} ({each['allowed']})".split()
        (entry,) = json.loads(good(f"list {what} {name} --json"))
        assert entry["name"] == name


def test_the_version_is_that_of_the_project(befrl):
    code, out, err = befrl("--version")
    assert (code, err) == (0, "")
    assert out == f"befrl {tomllib.loads((PROJECT / 'pyproject.toml').read_text())['project']['version']}\n"


def fits(algorithm, model):
    try:
        return agents.specification(model, algorithm, agents.parameters(algorithm, {}))
    except Refused:
        return False


@pytest.fixture
def toy_bench(monkeypatch):
    """A benchmark of seconds, with a few rows and episodes."""
    for name, value in (("EARLY", 6), ("LATE", 300), ("WINDOW", 4), ("LATE_UPDATE", 400), ("WIDE", 2)):
        monkeypatch.setattr(benchmark, name, value)
    monkeypatch.setattr(benchmark, "EVERY_AGENT", {"chain-8": 20, "riverswim-4": 20})
    monkeypatch.setattr(benchmark, "ONLY_BEF_RLSVI", {("chain-8", 1): 50, ("lds", 3): 20})


def test_bench_measures_every_agent_and_estimator(good, toy_bench):
    printed = good("bench --quick --out bench.csv")
    table = tidy.read("bench.csv", benchmark.COLUMNS)
    for name in benchmark.EVERY_AGENT:
        model = instances.build(*benchmark.INSTANCES[name]).model
        found = table[(table["instance"] == name) & (table["rows"] == 2) & (table["measure"] == "speed")]
        assert list(found["name"]) == [agent for agent in agents.registry.names() if fits(agent, model)]
        assert set(found["episodes"]) == {2}
    growth = table[table["measure"] == "growth"]
    assert list(growth["name"]) == ["bef-rlsvi", *estimators.registry.names()]
    assert [row.name for row in growth[1:].itertuples(index=False) if row.instance == "lds"] == ["gaussian"]
    assert {*zip(table["instance"], table["rows"], strict=True)} >= {("chain-8", 1), ("lds", 3)}
    assert (table["value"] > 0).all()
    assert table["measure"].iloc[-1] == "memory" and table["value"].iloc[-1] > 20
    assert printed.count("\n| chain-8 ") == printed.count("| chain-8 ") == (table["instance"] == "chain-8").sum()


def test_steps_per_second_count_every_row_and_step_by_the_best_repeat(monkeypatch):
    """Three repeats of 5, 2 and 4 seconds: 7 rows of 6 episodes of 40 steps in 2 seconds."""
    clock = iter([5.0, 2.0, 4.0])
    monkeypatch.setattr(benchmark, "timed_run", lambda *run: np.array([0.5, next(clock)]))
    row = benchmark.speed(instances.build("chain", {"horizon": 40}), "chain-8", "greedy", 7, 6, repeats=3)
    assert row["value"] == 7 * 6 * 40 / 2.0


def test_bench_compares_what_two_tables_have_in_common(good, befrl):
    """A number is compared with that of the same instance, agent, rows and episodes, and with no other."""

    def row(name, value, rows=480, episodes=100):
        return ("speed", "chain-8", name, rows, episodes, value)

    tables = {
        "before.csv": [row("greedy", 1000.0), row("psrl", 300.0), row("gone", 5.0), row("ucbvi", 7.0, episodes=10)],
        "after.csv": [row("psrl", 750.0), row("greedy", 500.0), row("new", 5.0), row("ucbvi", 9.0)],
        "other.csv": [row("psrl", 1.0, rows=1)],
    }
    for path, rows in tables.items():
        storage.write_text(path, tidy.text(rows, benchmark.COLUMNS))
    page = good("bench --compare before.csv after.csv")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if " 480 |" in line]
    assert cells == [
        ["chain-8", "greedy", "480", "1,000", "500", "0.50"],
        ["chain-8", "psrl", "480", "300", "750", "2.50"],
    ]
    code, _, error = befrl("bench --compare before.csv other.csv")
    assert code == 2 and "no measurement in common" in error
    assert befrl("bench --compare before.csv missing.csv")[0] == 2


# Help.


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_an_example_that_is_a_command(befrl, verb):
    code, out, err = befrl(f"{verb} --help")
    assert (code, err) == (0, "")
    (example,) = [line.strip() for line in out.split("example:")[1].splitlines() if line.strip()]
    words = shlex.split(example)
    assert words[:2] == ["befrl", verb]
    assert cli.build_parser().parse_args(words[1:]).verb == verb


def test_help_names_every_verb_and_its_examples_are_commands(befrl):
    code, out, _ = befrl("--help")
    assert code == 0
    assert re.findall(r"^ {4}(\w+)", out, flags=re.MULTILINE) == VERBS == verbs.registry.names()
    examples = [line.strip() for line in out.split("examples:")[1].splitlines() if line.startswith("  befrl ")]
    assert examples
    assert all(cli.build_parser().parse_args(shlex.split(line)[1:]).verb in VERBS for line in examples)


def test_the_module_is_the_command(tmp_path):
    """Exit codes and streams of a real process."""

    def call(*words):
        source = Path(cli.__file__).parents[2]
        command = [sys.executable, "-m", "befrl", *words]
        env = os.environ | {"PYTHONPATH": str(source)}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)

    good = call("list", "agents", "--json")
    assert (good.returncode, good.stderr) == (0, "")
    assert [entry["name"] for entry in json.loads(good.stdout)] == agents.registry.names()
    bad = call("instance", "ring")
    assert (bad.returncode, bad.stdout) == (2, "")
    known = ", ".join([*instances.registry.names(), *instances.PRESETS])
    assert bad.stderr == f"befrl: unknown instance 'ring': choose one of {known}\n"


# Bad input.


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Good and bad files to name on a command line."""
    folder = tmp_path_factory.mktemp("stock")
    instance = instances.build("chain", {"bins": 3, "horizon": 4})
    instances.save(folder / "good.npz", "chain", instance, {})
    spec = RunSpec.of(instance, "chain", "greedy", {}, 6, [0, 1, 2])
    log, seconds = runs.run_rows(spec, width=3)
    run_file.save(folder / "runs/greedy/0-2.npz", log, runs.describe(spec, ["greedy"], seconds))
    (folder / "short.npz").write_bytes((folder / "good.npz").read_bytes()[:300])
    (folder / "text.npz").write_text("no zip file")
    with open(folder / "single.npz", "wb") as file:
        np.save(file, np.arange(3))
    (folder / "folder").mkdir()
    for name in ("summary", "curves", "paired"):
        storage.write_text(folder / "foreign" / f"{name}.csv", "a,b\n1,2\n")
    for name, text in (("list", "[1]"), ("empty", "{}"), ("half", '{"id": ')):
        storage.write_text(folder / f"{name}.json", text)
    return folder


@pytest.fixture
def files(stock, tmp_path):
    shutil.copytree(stock, tmp_path, dirs_exist_ok=True)
    return tmp_path


def state(folder):
    """Content and time of every file."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


OUT = "--seeds 2 --out new.npz"
TUNING = f"tune {TINY} --agent greedy --out new.json"
AGGREGATE = "aggregate --runs runs --batches 0-2 --out new --timings new.csv"
COMPONENT = "components --instance good.npz --timings new.csv"
BAD = {
    "": "VERB",
    "walk": "'walk': choose one of aggregate",
    "rnu": "'rnu' (did you mean 'run'?): choose one of aggregate",
    "list": "what",
    "list agent": "'agent' (did you mean 'agents'?): choose one of instances",
    "list agents bef-rlsv": "unknown agent 'bef-rlsv' (did you mean 'bef-rlsvi'?): choose one of bef-rlsvi",
    "list agents --names --json": "--json",
    "bench --fast": "--fast",
    # instance
    "instance ring --out new.npz": "unknown instance 'ring': choose one of chain",
    "instance chain --set bin=3 --out new.npz": "'bin' (did you mean 'bins'?): allowed are bins",
    "instance chain --set bins=1 --out new.npz": "bins = 1 is not allowed: it must be a whole number from 2",
    "instance chain --set bins=2.5 --out new.npz": "bins = 2.5",
    "instance chain --set sigma=nan --out new.npz": "sigma",
    f"instance chain --set bins=1{'0' * 400} --out new.npz": "from 2 to 1000",
    "instance riverswim --set kernel=mine --out new.npz": "one of osband, cho, ayoub",
    "instance chain --set bins --out new.npz": "write name=value",
    "instance chain --set =3 --out new.npz": "write name=value",
    "instance chain --out folder": "folder",
    "instance chain --out good.npz/new.npz": "good.npz",
    # run
    f"run --instance ring --agent greedy {OUT}": "unknown instance 'ring'",
    f"run {TINY} --agent dqn {OUT}": "unknown agent 'dqn': choose one of bef-rlsvi",
    f"run {TINY} --agent greedy --set x=3 {OUT}": "unknown parameter 'x': allowed are planner, features, eta",
    f"run {TINY} --agent greedy --set estimator=guess {OUT}": "'guess' is not allowed: it must be one of ais",
    f"run {TINY} --agent greedy --set planner=guess {OUT}": "'guess' is not allowed: it must be one of chebyshev",
    f"run {TINY} --agent greedy --set estimator=gaussian {OUT}": "'gaussian' cannot work with the family Trunc",
    f"run {TINY} --agent exp-psrl --set planner=jacobi-anger {OUT}": "'jacobi-anger' cannot plan in the family Trunc",
    f"run --instance riverswim --agent bef-rlsvi --set planner=chebyshev {OUT}": "'chebyshev' cannot plan in",
    f"run {TINY} --agent bef-rlsvi --set x=-1 {OUT}": "x = -1 is not allowed",
    f"run {TINY} --agent bef-rlsvi --set x=1 scale=2 {OUT}": "either x or scale",
    f"run --instance chain --instance-set horizon=0 --agent greedy {OUT}": "horizon = 0",
    f"run {TINY} --agent greedy --track V {OUT}": "choose one of U, K",
    f"run {TINY} --agent greedy --seeds x --out new.npz": "seeds = 'x'",
    f"run {TINY} --agent greedy --seeds 5-3 --out new.npz": "seeds = '5-3'",
    f"run {TINY} --agent greedy --seeds 0 --out new.npz": "seeds = '0'",
    f"run {TINY} --agent greedy --seeds 99999999999999999999 --out new.npz": "1000000 at most",
    f"run {TINY} --agent greedy --seeds {'9' * 5000} --out new.npz": "1000000 at most",
    f"run {TINY} --agent greedy --root-seed {'9' * 5000} {OUT}": "a whole number from 0 to 18446744073709551615",
    f"run {TINY} --agent greedy --threads 1025 {OUT}": "a whole number from 1 to 1024",
    f"run {TINY} --agent greedy --seeds 2 --out {'a' * 5000}": "cannot be written",
    f"instance {'a' * 100000} --out new.npz": "choose one of chain",
    f"run {CHAIN} --agent greedy --episodes 0 {OUT}": "--episodes",
    f"run {CHAIN} --agent greedy --episodes many {OUT}": "--episodes",
    f"run {TINY} --agent greedy --threads 0 {OUT}": "--threads",
    f"run {TINY} --agent greedy --lockstep -1 {OUT}": "--lockstep",
    f"run {TINY} --agent greedy --root-seed -1 {OUT}": "root-seed",
    f"run {TINY} --agent greedy --root-seed x {OUT}": "root-seed",
    f"run {TINY} --agent greedy --seeds 2 --out folder": "folder",
    f"run --agent greedy {OUT}": "--instance",
    f"run --instance none.npz --agent greedy {OUT}": "none.npz: there is no such file",
    f"run --instance short.npz --agent greedy {OUT}": "short.npz: truncated",
    f"run --instance text.npz --agent greedy {OUT}": "text.npz: truncated, or not a befrl instance file",
    f"run --instance single.npz --agent greedy {OUT}": "single.npz: ",
    f"run --instance runs/greedy/0-2.npz --agent greedy {OUT}": "not a befrl instance file",
    f"run --instance good.npz --instance-set bins=3 --agent greedy {OUT}": "--instance-set",
    f"run {TINY} --agent greedy --ties last {OUT}": "choose one of random, first",
    f"run {TINY} --agent greedy --sweep eta=3 {OUT}": "--sweep: write NAME=[VALUE,VALUE,...], with numbers",
    f"run {TINY} --agent greedy --sweep eta=[1,-1] {OUT}": "eta = -1 is not allowed",
    f"run {TINY} --agent greedy --sweep x=[1,2] {OUT}": "unknown parameter 'x'",
    f"run {TINY} --agent greedy --sweep eta=[] {OUT}": "--sweep",
    f"run {TINY} --agent greedy --sweep eta=[[1],2] {OUT}": "--sweep: write NAME=[VALUE,VALUE,...], with numbers",
    f"run {TINY} --agent greedy --sweep estimator=[mle,ais] {OUT}": "--sweep",
    f"run {TINY} --agent greedy --tuned none.json {OUT}": "none.json",
    f"run {TINY} --agent greedy --tuned half.json {OUT}": "half.json",
    f"run {TINY} --agent greedy --tuned list.json {OUT}": "list.json: not an outcome of `befrl tune`",
    f"run {TINY} --agent greedy --tuned empty.json {OUT}": "empty.json: not an outcome of `befrl tune`",
    # tune
    f"tune {TINY} --agent greedy --out new.json": "--tune",
    f"{TUNING} --tune eta=3": "--tune: give at least one range",
    f"{TUNING} --tune eta=[3,1]": "--tune: eta = [3, 1] is not allowed: it must be [low, high]",
    f"{TUNING} --tune x=[1,3]": "--tune: unknown parameter 'x'",
    f"{TUNING} --tune eta=[1,3] --seeds 4 2": "tuning.seeds = [4, 2]",
    f"{TUNING} --tune eta=[1,3] --seeds 4 12": "tuning.kept = [8, 3]",
    f"{TUNING} --tune eta=[1,3] --configurations 0": "--configurations",
    f"{TUNING} --tune eta=[1,3] --track V": "choose one of U, K",
    f"{TUNING} --tune eta=[1,3] --ties last": "choose one of random, first",
    f"tune {TINY} --agent dqn --tune eta=[1,3] --out new.json": "unknown agent 'dqn'",
    f"tune {TINY} --agent greedy --tune eta=[1,3] --out folder": "folder",
    # aggregate
    f"{AGGREGATE} --agents greedy oracle": "oracle/0-2.npz: there is no such file",
    f"{AGGREGATE} --agents greedy --tuned random": "--tuned random is not one of the --agents greedy",
    f"{AGGREGATE} --agents greedy --tuned greedy": "runs/greedy/tuning.json",
    f"{AGGREGATE} --agents greedy --level 2": "level",
    f"{AGGREGATE} --agents greedy --level nan": "level",
    "aggregate --runs runs --agents greedy --batches 0-2 --out good.npz --timings new.csv": "good.npz is not a folder",
    "aggregate --runs . --agents folder --batches 0-2 --out new --timings new.csv": "folder/0-2.npz",
    "aggregate --runs runs --agents greedy --batches 0-2 --out new": "--timings",
    "aggregate --runs runs --batches 0-2 --out new --timings new.csv": "--agents",
    # instances
    "instances --output none --names good --out new.csv": "none/results/instances/good.npz: there is no such file",
    "instances --names good": "--out",
    "instances --out new.csv": "--names",
    # components
    "components densities --instance good.npz --set transitions=20 --timings folder --out new": "folder",
    "components planners --instance good.npz --set features=[4,8] repetitions=2 --out new": "--timings is missing",
    f"{COMPONENT} pies --out new": "unknown component study 'pies': choose one of densities, estimators",
    f"{COMPONENT} densities --out new": "the setting 'transitions' is missing: it needs transitions",
    f"{COMPONENT} densities --set steps=3 --out new": "unknown setting 'steps': allowed are transitions",
    f"{COMPONENT} densities --set transitions=0 --out new": "transitions = 0 is not allowed",
    f"{COMPONENT} densities --set transitions=20": "--out",
    f"{COMPONENT} planners --set features=4 repetitions=2 --out new": "features = 4 is not allowed: it must be a",
    f"{COMPONENT} planners --set features=[] repetitions=2 --out new": "features = [] is not allowed",
    f"{COMPONENT} planners --set features=[4,x] repetitions=2 --out new": "features = '[4,x]' is not allowed",
    f"{COMPONENT} estimators --set sizes=[9] repetitions=1.5 --out new": "repetitions = 1.5 is not allowed",
    "components densities --instance none.npz --set transitions=9 --out new": "none.npz: there is no such file",
    "components densities --instance text.npz --set transitions=9 --out new": "text.npz: truncated",
    f"{COMPONENT} scaling --set sizes=[2,3] horizons=[2,3] episodes=2 seeds=0 --out new": "seeds = 0 is not",
    # table1
    "table1 --cases good --out new.csv --timings t.csv": "--cases good: write instance_track",
    "table1 --cases good_U --out new.csv --timings t.csv": "good_U/summary.csv: there is no such file",
    "table1 --cases good_U --out folder --timings t.csv": "folder",
    "table1 --cases good_U --out new.csv --timings folder": "folder",
    # coverage
    "coverage --repetitions 0 --out new.csv": "--repetitions",
    "coverage --repetitions 3 --seed -1 --out new.csv": "--seed",
    "coverage --repetitions 3 --out folder": "folder",
    # published
    "published nobody --experiments a=good --out new --timings t.csv": "unknown published source 'nobody': choose one",
    "published li --experiments reward=none --out new --timings t.csv": "none.npz: there is no such file",
    "published li --experiments race=none --out new --timings t.csv": "unknown experiment of 'li' 'race'",
    "published li --experiments reward --out new --timings t.csv": "write experiment=instance",
    # claim
    "claim C999 --out new.json": "unknown claim 'C999': choose one of C01",
    "claim C31 C999 --trials 5": "C999",
    "claim C31 C37 --trials 5 --out new.json": "one claim at a time",
    "claim C31 --trials 0 --out new.json": "--trials",
    "claim C31 --trials 5 --seed -1 --out new.json": "seed",
    "ledger --out new.csv": "give json files of claims",
    "ledger --counts none.csv": "none.csv",
    "ledger none.json --out new.csv": "none.json",
    "ledger half.json --out new.csv": "half.json",
    "ledger list.json --out new.csv": "list.json",
    "ledger empty.json --out new.csv": "empty.json",
    # figure
    "figure pie --tables foreign --out new": "unknown figure 'pie': choose one of",
    "figure regret --tables none/summary.csv none/curves.csv --out new": "none/summary.csv",
    "figure regret --tables foreign/summary.csv foreign/curves.csv --out new": "foreign/summary.csv",
    "figure regret --tables foreign/summary.csv --out new": "one file for each of its tables: summary, curves",
    "figure regret --out new": "--tables",
    "figure planners --tables none.csv --out new": "none.csv: there is no such file",
    "figure planners --tables foreign/summary.csv --out new": "not a befrl table, the column 'instance' is missing",
    # report
    f"report --study none.yaml --schema {SCHEMA} --out new.html": "none.yaml",
    f"report --study good.npz --schema {SCHEMA} --out new.html": "good.npz",
    "report --study '{}' --schema none.yaml --out new.html": "none.yaml",
    f"report --study '{{}}' --schema {SCHEMA} --out new.html": "required are instances",
    f"report --study '{{' --schema {SCHEMA} --out new.html": "--study",
}


@pytest.mark.parametrize("line", BAD, ids=lambda line: line[:10] + " " + line[-50:])
def test_bad_input_is_one_sentence_and_changes_nothing(befrl, files, line):
    before = state(files)
    code, out, err = befrl(line)
    assert (code, out) == (2, "")
    assert err.startswith("befrl") and err.endswith("\n") and err.count("\n") == 1
    assert len(err) < 1100
    assert BAD[line] in err
    assert state(files) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"theta_p": lambda theta: theta + 1e-6}, "theta_p differs from that of the present family 'chain'"),
        ({"theta_r": lambda theta: theta * np.nan}, "theta_r differs"),
        ({"theta_p": lambda theta: theta[:-1]}, "theta_p differs"),
    ],
)
def test_a_stored_instance_that_is_not_the_codes_any_more_is_refused(befrl, files, change, words):
    arrays, meta = storage.read_arrays("good.npz", "instance")
    arrays |= {key: changed(arrays[key]) for key, changed in change.items()}
    storage.write_arrays("old.npz", "instance", arrays, meta)
    code, _, err = befrl(f"run --instance old.npz --agent greedy {OUT}")
    assert code == 2
    assert words in err


def test_printing_to_a_full_disk_is_a_sentence():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "befrl", "list", "agents"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, "befrl: the output: No space left on device\n")
