"""The command line: what each verb prints and writes."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from befrl import agents, claims, cli, figures, instances, jobs
from befrl.analysis import benchmark, coverage, regret_columns
from befrl.analysis.intervals import mean_interval
from befrl.claims import ledger
from befrl.cli import verbs
from befrl.common import storage, tidy
from befrl.common.layout import REGRET_TABLES
from befrl.common.parameters import describe
from befrl.experiment import run_file
from befrl.learning import estimators
from befrl.model import rewards
from befrl.planning import planners
from helpers import PROJECT, WORKS_ON

VERBS = [
    "aggregate",
    "bench",
    "check",
    "claim",
    "compare",
    "findings",
    "instance",
    "job",
    "list",
    "run",
    "study",
    "tune",
]
CHAIN = "--instance chain --instance-set bins=3 horizon=4"
TINY = f"{CHAIN} --episodes 6"


def test_instance_prints_its_value_and_constants(good):
    words = "instance riverswim --set kernel=cho states=4 horizon=12"
    facts = json.loads(good(f"{words} --json"))
    assert facts.pop("format") == 1
    assert facts["optimal_value"] == pytest.approx(2.6627, abs=5e-5)
    expected = {"kernel": "cho", "states": 4, "horizon": 12, "leak": 0.0, "small": 0.005, "reward_sd": 0.5}
    assert facts["parameters"] == expected
    assert (facts["d"], facts["n_cells"], facts["n_actions"], facts["horizon"]) == (24, 4, 2, 12)
    assert 0 < facts["uniform_value"] < facts["optimal_value"] and facts["gap"] > 0
    assert {"alpha_p", "beta_p", "alpha_r", "beta_r", "B_A", "B_phi_A"} <= set(constants := facts["constants"])
    assert 0 < constants["alpha_p"] <= constants["beta_p"] and 0 < constants["alpha_r"] <= constants["beta_r"]
    assert "2.66271" in good(words)


def test_run_prints_numbers_that_fit_together(good):
    """Of the agent's own setting, and of those of a sweep, side by side."""
    run = json.loads(good(f"run {TINY} --agent bef-rlsvi --set eta=2 --sweep x=[3,0.5] --seeds 4 --out run.npz --json"))
    assert run["optimal_value"] == instances.build("chain", {"bins": 3, "horizon": 4}).optimal_value
    assert (run["seeds"], run["episodes"], run["level"], run["ties"]) == ([0, 1, 2, 3], 6, 0.95, "random")
    log, meta = run_file.load("run.npz")
    labels = ["bef-rlsvi", "bef-rlsvi@x=3", "bef-rlsvi@x=0.5"]
    assert meta["labels"] == [each["label"] for each in run["variants"]] == labels
    for i, each in enumerate(run["variants"]):
        final = np.array(each["final_regret"])
        assert each["mean"] == pytest.approx(final.mean(), rel=1e-12)
        low, high = each["interval"]
        assert (low, high) == pytest.approx(mean_interval(final, 0.95, least=0.0))
        assert 0 <= low <= each["mean"] <= high
        quantiles = {"0.1": np.quantile(final, 0.1), "0.5": np.median(final), "0.9": np.quantile(final, 0.9)}
        assert each["quantiles"] == pytest.approx(quantiles)
        assert each["parameters"]["eta"] == 2.0
        assert log["regret"][i].sum(1).tolist() == each["final_regret"]
    own, three, half = run["variants"]
    assert own["parameters"]["x"] is None and own["derived"]["x"] > 0
    assert three["parameters"]["x"] == three["derived"]["x"] == 3.0 and half["derived"]["x"] == 0.5
    assert run["steps_per_second"] * run["seconds"] == pytest.approx(3 * 4 * 6 * 4)
    assert (meta["algorithm"], meta["track"]) == ("bef-rlsvi", "U") and {"code", "versions", "root_seed"} <= set(meta)
    table = good(f"run {TINY} --agent greedy --seeds 2")
    assert "mean regret" in table and "V* = " in table
    assert good(f"run {TINY} --agent greedy --seeds 2 --quiet") == ""


def test_run_depends_on_instance_name_seeds_and_root_seed_alone(good):
    """An instance file is its family; the name keys the random numbers; a range of seeds is that part of all."""

    def final_regret(words):
        return json.loads(good(f"run {words} --agent bef-rlsvi --episodes 6 --json"))["variants"][0]["final_regret"]

    good("instance chain --set bins=3 horizon=4 --out same.npz")
    good("instance chain --set bins=3 horizon=4 --name other --out other.npz")
    family = final_regret(f"{CHAIN} --seeds 4")
    assert final_regret("--instance same.npz --seeds 4 --lockstep 3") == family
    assert final_regret("--instance other.npz --seeds 4") != family
    assert final_regret(f"{CHAIN} --seeds 2-3") == family[2:]
    assert final_regret(f"{CHAIN} --seeds 4 --root-seed 1") != family


def test_aggregate_writes_the_tables_of_run_files(good):
    for agent in ("greedy", "random"):
        good(f"run {TINY} --agent {agent} --seeds 4 --quiet --out runs/{agent}/0-3.npz")
    good("aggregate --runs runs --agents greedy random --batches 0-3 --out tables --timings tables/timings.csv")
    tables = {
        name: tidy.read(f"tables/{name}.csv", getattr(regret_columns, name.upper()))
        for name in (*REGRET_TABLES, "timings")
    }
    assert list(tables["summary"]["variant"]) == list(tables["timings"]["agent"]) == ["greedy", "random"]
    log, _ = run_file.load("runs/greedy/0-3.npz")
    final = log["regret"].sum(2)[0]
    assert tables["summary"]["mean"][0] == pytest.approx(final.mean(), rel=1e-9)
    for words, level in (("", 0.95), ("--level 0.5", 0.5)):
        good(f"aggregate --runs runs --agents greedy random --batches 0-3 --out t{level} --timings t.csv {words}")
        row = tidy.read(f"t{level}/summary.csv", regret_columns.SUMMARY).iloc[0]
        assert (row["low"], row["high"]) == pytest.approx(mean_interval(final, level, least=0.0), rel=1e-9)


def test_claim_prints_its_record_and_writes_it(good):
    (record,) = json.loads(good("claim C31 --trials 5 --json"))["claims"]
    assert (record["id"], record["trials"], record["verdict"]) == ("C31", 5, "holds")
    assert good("claim C31 --trials 5 --out C31.json") == ""
    stored = storage.read_json("C31.json")
    assert {key: stored[key] for key in record} == record | {"seconds": stored["seconds"]}
    assert "verdict" in good("claim C31 --trials 5")
    explained = good("claim C31 --trials 5 --explain")
    assert all(
        f"\n{head}\n" in explained for head in ("The paper", "Derivation", "Test", "Verdict", "Second derivation")
    )
    assert [each["id"] for each in json.loads(good("claim C31 C32 --trials 5 --json"))["claims"]] == ["C31", "C32"]


def test_claim_says_what_a_contest_changes(good, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "CLAIM = 'C30'\nfrom befrl.claims.toolbox.evidence import Evidence\n"
        "def test(rng, trials, **given):\n    return Evidence(2.0, {})\n"
    )
    said = good(f"claim --contest {file} --trials 5")
    assert (
        said.startswith("C30: the verdict changes from holds to open.") and "printed: survives -> refuted (2)" in said
    )
    assert json.loads(good(f"claim --contest {file} --trials 5 --json"))["changes"][0]["after"] == "open"


def test_findings_prints_verdicts_and_coverage(good):
    storage.write_text("here/claims.csv", ledger.table([claims.evaluate("C31", 5, 1)]))
    assert "| Concentration | 1 | 10 |" in good("findings --results here --ledger")
    rows = coverage.study(3, 1)
    storage.write_text("here/coverage.csv", tidy.text(rows, coverage.COLUMNS))
    assert good("findings --results here --coverage") == coverage.markdown(rows) + "\n"


PACKAGES = (agents, estimators, planners, rewards, figures, jobs)
LISTED = {package.__name__.rpartition(".")[2]: package.registry.names() for package in PACKAGES}
LISTED |= {"instances": [*instances.registry.names(), *instances.PRESETS], "claims": claims.names(), "verbs": VERBS}


@pytest.mark.parametrize("what", LISTED)
def test_list_names_everything(good, what):
    known, found = LISTED[what], json.loads(good(f"list {what} --json"))[what]
    assert [entry["name"] for entry in found] == known
    assert all(entry["text"] for entry in found)
    if what in ("instances", "agents"):
        parameters = [parameter for entry in found for parameter in entry["parameters"]]
        assert parameters and all({"name", "default", "allowed", "text"} <= set(each) for each in parameters)
    shown = good(f"list {what}")
    assert all(f"{name}: " in shown for name in known)
    assert good(f"list {what} --names").split() == known


@pytest.mark.parametrize("package", [instances, agents, estimators, planners], ids=lambda each: each.__name__)
def test_list_shows_one_in_full(good, package):
    """First paragraph, file, and every parameter with its default, range and meaning; nothing of the others."""
    what = package.__name__.split(".")[-1]
    for name in package.registry.names()[:3]:
        module = package.registry.module(name)
        first, *rest, last = good(f"list {what} {name}").splitlines()
        assert first == f"{name}: {' '.join(module.__doc__.split(chr(10) * 2)[0].split())}"
        assert last == f"source: {module.__file__}"
        declared = describe(module.Parameters) if what in ("instances", "agents") else []
        for line, each in zip(rest, declared, strict=True):
            assert line.split() == f"{each['name']} = {each['default']}: {each['text']} ({each['allowed']})".split()
        assert [entry["name"] for entry in json.loads(good(f"list {what} {name} --json"))[what]] == [name]


def test_bench_measures_every_agent_and_estimator(good, monkeypatch):
    small = {"EARLY": 6, "LATE": 300, "WINDOW": 4, "LATE_UPDATE": 400, "WIDE": 2}
    small |= {"EVERY_AGENT": {"chain-8": 20, "riverswim-4": 20}, "OTHER_ROWS": {("chain-8", 1): 50, ("lds", 3): 20}}
    for name, value in small.items():
        monkeypatch.setattr(benchmark, name, value)
    printed = good("bench --quick --out bench.csv")
    table = tidy.read("bench.csv", benchmark.COLUMNS)
    for name in benchmark.EVERY_AGENT:
        found = table[(table["instance"] == name) & (table["rows"] == 2) & (table["measure"] == "speed")]
        family = benchmark.INSTANCES[name][0]
        assert list(found["name"]) == [each for each in agents.registry.names() if family in WORKS_ON.get(each, family)]
        assert set(found["episodes"]) == {2}
    growth = table[table["measure"] == "growth"]
    assert list(growth["name"]) == ["bef-rlsvi", *estimators.registry.names()]
    assert [row.name for row in growth[1:].itertuples(index=False) if row.instance == "lds"] == ["gaussian"]
    assert {*zip(table["instance"], table["rows"], strict=True)} >= {("chain-8", 1), ("lds", 3)}
    assert (table["value"] > 0).all()
    assert table["measure"].iloc[-1] == "memory" and table["value"].iloc[-1] > 20
    assert printed.count("\n| chain-8 ") == printed.count("| chain-8 ") == (table["instance"] == "chain-8").sum()


def test_speed_counts_every_row_and_step_by_the_best_repeat(monkeypatch):
    """Three repeats of 5, 2 and 4 seconds: 7 rows of 6 episodes of 40 steps in 2 seconds."""
    clock = iter([5.0, 2.0, 4.0])
    monkeypatch.setattr(benchmark, "timed_run", lambda *run: np.array([0.5, next(clock)]))
    row = benchmark.speed(instances.build("chain", {"horizon": 40}), "chain-8", "greedy", 7, 6, repeats=3)
    assert row["value"] == 7 * 6 * 40 / 2.0


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_names_the_verbs_and_its_examples_are_commands(befrl, verb):
    code, out, err = befrl(f"{verb} --help")
    assert (code, err) == (0, "")
    if not verb:
        assert befrl("") == (0, out, "")
        assert re.findall(r"^ {4}(\w+)", out, flags=re.MULTILINE) == VERBS == verbs.registry.names()
    examples = [line for line in re.split("examples?:", out)[1].splitlines() if line.startswith("  befrl ")]
    shown = {cli.build_parser().parse_args(shlex.split(line)[1:]).verb for line in examples}
    assert shown == {verb} if verb else shown and shown <= {*VERBS}


def test_module_is_the_command(befrl, tmp_path):
    """Exit codes and streams of a real process, also if the disk is full; and the version is that of the project."""

    def call(*words, **streams):
        command, env = [sys.executable, "-m", "befrl", *words], os.environ | {"PYTHONPATH": str(PROJECT / "src")}
        done = subprocess.run(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True, **streams)
        return done.returncode, done.stdout, done.stderr

    code, out, err = call("list", "agents", "--json", stdout=subprocess.PIPE)
    assert (code, err) == (0, "")
    assert [entry["name"] for entry in json.loads(out)["agents"]] == agents.registry.names()
    known = ", ".join([*instances.registry.names(), *instances.PRESETS])
    message = f"befrl: unknown instance 'ring': choose one of {known}\n"
    assert call("instance", "ring", stdout=subprocess.PIPE) == (2, "", message)
    with open("/dev/full", "w") as full:
        assert call("list", "agents", stdout=full)[::2] == (1, "befrl: the output: No space left on device\n")
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    assert befrl("--version") == (0, f"befrl {version}\n", "")
