"""befrl from Python: the code of its pages, the same bits as the command line, and wrong input."""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import befrl
from befrl import cli
from befrl.agents.base import BaseAgent, Plan
from befrl.agents.bef_rlsvi import Agent as BefRlsvi
from befrl.analysis import intervals
from befrl.common.parameters import number
from befrl.experiment import run_file
from helpers import PROJECT

EXACT = (*run_file.LOGGED, *run_file.TRACED, "plans")
SMALL = {"episodes": 12, "seeds": 5}


@pytest.fixture(scope="module")
def mdp():
    return befrl.instance("chain", bins=3, horizon=4)


@pytest.fixture(scope="module")
def compared(mdp):
    return befrl.compare(mdp, {"a": ("bef-rlsvi", {"x": 2}), "b": ("bef-rlsvi", {"x": 5})}, **SMALL)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch, unplugged):
    """Every test has its own folder, and no agent remains in the registry."""
    monkeypatch.chdir(tmp_path)


class Fixed(BaseAgent):
    """Always the same action."""

    @dataclass(frozen=True)
    class Parameters:
        action: float = number(1.0, 0.0, 1.0, "the action")

    def plan(self, k):
        n, H, model = self.problem.n, self.problem.horizon, self.problem.model
        actions = self.parameters.action.astype(int)[:, None, None]
        return Plan(np.broadcast_to(actions, (n, H, model.n_cells)), np.full((n, model.n_anchors), np.nan))


def same(runs, others):
    """Whether two runs have the same bits in all that does not depend on the clock."""
    return all(runs.log[key].tobytes() == others.log[key].tobytes() for key in EXACT)


def test_the_code_and_the_command_of_the_page_agree(tmp_path, capsys):
    """In a namespace like that of a notebook, whose classes are sent to other processes by value."""
    page = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    space = {"__name__": "__main__"}
    for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        exec(block, space)
    runs, compared = space["runs"], space["compared"]
    assert runs.regret.shape == (20, 200) and np.all(runs.regret > -1e-9)
    assert compared.table()["agent"][0] == "oracle" and set(compared.runs) > {"bef", "exp-psrl", "greedy"}
    assert same(runs, compared.runs["bef"])
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    assert capsys.readouterr().out.splitlines()[-1].startswith("seeds = 0 is not allowed")
    # Cores: a class and an instance that exist in no file, in other processes.
    options = {"first": 3, "episodes": 9, "seeds": 6, "lockstep": 3}
    one, two = (befrl.run(space["toy"], space["ExploreThenCommit"], cores=cores, **options) for cores in (1, 2))
    assert same(one, two) and one.meta["instance"] == "toy" and one.meta["settings"] == [{"first": 3}]
    (command,) = re.findall(r"`befrl (run --instance .*?)`", page, flags=re.DOTALL)
    assert cli.main([*command.split(), "--quiet", "--out", "cli.npz"]) == 0
    assert same(befrl.read("cli.npz")["bef-rlsvi"], runs)


def run_notebook(name, **smaller):
    """The variables of a notebook that is stored without outputs, run with other texts in its cells."""
    cells = json.loads((PROJECT / "docs" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) >= 5
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in codes)
    space = {"__name__": "__main__"}
    with matplotlib.rc_context():
        matplotlib.use("Agg")
        for cell in codes:
            text = "".join(cell["source"])
            for before, after in smaller.items():
                text = text.replace(before, after)
            if text.startswith("%%writefile "):
                first, _, text = text.partition("\n")
                Path(first.split()[1]).write_text(text)
            else:
                exec(text, space)
    return space


def test_the_tour_runs():
    space = run_notebook("tour", **{"episodes=300": "episodes=30"})
    space["plt"].close("all")
    assert set(space["compared"].runs) == {"count-bonus", "bef-rlsvi", "greedy", "random", "oracle"}


def test_the_notebook_from_a_plug_in_to_a_comparison_runs(capsys):
    """Tuned, with rivals of the study, extended, exported and drawn."""
    smaller = {
        "episodes=200)": "episodes=6, procedure={'configurations': 3, 'refined': 1, 'seeds': [2, 4], 'kept': [2]})"
    }
    space = run_notebook(
        "plug-in-to-paper", **smaller, **{"episodes=200": "episodes=6", "1049": "1004", "1099": "1007"}
    )
    compared, label = space["compared"], "count-bonus"
    assert set(compared.runs) > {label, "bef-rlsvi@tuned", "psrl@tuned", "uc-matrixrl@tuned", "oracle"}
    assert all(runs.seeds == list(range(1000, 1008)) for runs in compared.runs.values())
    assert {key: compared.runs[label].meta["settings"][0][key] for key in ("c", "eta")} == space["tuned"].values
    whole = befrl.run("jao", label, episodes=6, seeds="1000-1007", **space["tuned"].values)
    assert same(whole, compared.runs[label]) and same(whole, befrl.read("comparison").runs[label])
    assert np.array_equal(pd.read_csv("comparison.csv")["regret"], compared.frame()["regret"])
    assert capsys.readouterr().out.count(" & ") == 8 * 8 and Path("regret.pdf").read_bytes().startswith(b"%PDF")


def test_importing_befrl_loads_nothing():
    code = "import sys, befrl; dir(befrl); print({'numpy', 'pandas', 'befrl.api'} & {*sys.modules})"
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"


def test_version_and_unknown_attributes():
    assert befrl.__version__ == tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    with pytest.raises(AttributeError, match="module 'befrl' has no attribute 'rnu'"):
        _ = befrl.rnu


@pytest.mark.parametrize("name", ["riverswim-cho-4", "lds"])
def test_the_command_line_and_any_number_of_cores_give_the_same_bits(name):
    """For a finite and a continuous instance, in track K, whatever number of threads the user's numpy has."""
    words = f"run --instance {name} --agent bef-rlsvi --set x=3 --track K --episodes 15 --seeds 7-12 --root-seed 5"
    assert cli.main([*words.split(), "--quiet", "--out", "cli.npz"]) == 0
    theirs = befrl.read("cli.npz")["bef-rlsvi"]
    with threadpool_limits(limits=2):
        mdp = befrl.instance(name)
        for cores in (1, 2):
            options = {"track": "K", "episodes": 15, "seeds": "7-12", "root_seed": 5, "cores": cores, "lockstep": 4}
            ours = befrl.run(mdp, "bef-rlsvi", x=3, **options)
            assert same(ours, theirs)
            assert all(ours.meta[key] == theirs.meta[key] for key in run_file.META if "second" not in key)


def test_a_changed_instance_is_played_as_it_is(mdp):
    """Also in other processes, although its family and parameters no longer describe it; cached values are ignored."""
    changed = replace(mdp, horizon=2, theta_r=mdp.theta_r + 0.3)
    one, two = (befrl.run(changed, "greedy", cores=cores, lockstep=2, **SMALL) for cores in (1, 2))
    assert same(one, two) and one.meta["horizon"] == 2
    assert not same(one, befrl.run(mdp, "greedy", **SMALL))
    cached = replace(mdp)
    cached.__dict__["P"] = np.full_like(mdp.P, 0.5)
    assert same(befrl.run(cached, "greedy", **SMALL), befrl.run(mdp, "greedy", **SMALL))


def test_a_class_plays_like_the_agent_of_its_name_and_can_be_defined_again(mdp):
    assert same(befrl.run(mdp, BefRlsvi, x=2, label="mine", **SMALL), befrl.run(mdp, "bef-rlsvi", x=2, **SMALL))
    first = befrl.run(mdp, Fixed, action=0, **SMALL)
    again = type("Fixed", (Fixed,), {})
    assert same(befrl.run(mdp, again, action=0, **SMALL), first)
    assert same(befrl.run(mdp, "Fixed", action=0, **SMALL), first)


def test_seeds_are_a_number_a_range_or_a_list(mdp):
    several = befrl.run(mdp, "bef-rlsvi", episodes=5, seeds=4)
    assert several.seeds == [0, 1, 2, 3]
    for seeds in ("2-3", range(2, 4), [3, 2], np.array([2, 3])):
        assert befrl.run(mdp, "bef-rlsvi", episodes=5, seeds=seeds).regret.tobytes() == several.regret[2:].tobytes()


def test_the_regret_of_a_fixed_action_by_matrix_powers(mdp):
    """V* - V^pi; the first state is in the first bin."""
    value = sum(np.linalg.matrix_power(mdp.P[:, 0], h) @ mdp.R[:, 0] for h in range(4))[0]
    runs = befrl.run(mdp, Fixed, action=0, **SMALL)
    assert np.allclose(runs.regret, mdp.optimum[1][0][0] - value, rtol=0, atol=1e-12)


def test_an_edited_instance_is_another_one(mdp):
    """Arrays cannot be changed in place, and runs of equal names on different MDPs are not compared."""
    for array in (mdp.theta_p, mdp.theta_r, mdp.start_masses, mdp.P, mdp.R, *mdp.optimum, mdp.optimal_policy):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    theta = mdp.theta_p * 1.001
    other = replace(mdp, theta_p=theta)
    theta[:] = 0
    assert other.name == mdp.name and not np.array_equal(other.theta_p, theta)
    assert (
        repr(other) == f"Instance 'chain': 3 cells, 2 actions, H = 4, d = {mdp.model.d}, V* = {other.optimal_value:.6g}"
    )
    ours, again, theirs = (befrl.run(each, "greedy", **SMALL) for each in (mdp, replace(mdp), other))
    assert len(befrl.Comparison({"a": ours, "b": again}).table()) == 2
    with pytest.raises(befrl.InputError, match="runs of 'b' and 'a' are of two different instances named 'chain'"):
        befrl.Comparison({"a": ours, "b": theirs})


def test_the_oracle_alone_is_compared_with_nothing(mdp):
    table = befrl.Comparison({"best": befrl.run(mdp, "oracle", **SMALL)}).table()
    assert list(table["agent"]) == ["best"] and (table["low"] <= table["high"]).all()


def test_the_table_of_a_comparison_by_hand(mdp):
    compared = befrl.compare(mdp, {"left": (Fixed, {"action": 0}), "bef": ("bef-rlsvi", {"x": 2})}, **SMALL)
    table = compared.table().set_index("agent")
    finals = {name: runs.regret.sum(1) for name, runs in compared.runs.items()}
    assert set(finals) == {"left", "bef", "greedy", "random", "oracle"} and table.index[0] == "oracle"
    best = min((name for name in finals if name != "oracle"), key=lambda name: finals[name].mean())
    uniform = mdp.optimal_value - mdp.uniform_value
    for name, row in table.iterrows():
        difference = finals[name] - finals[best]
        low, high = intervals.mean_interval(finals[name], 0.95, least=0.0)
        expected = [finals[name].mean(), low, high, np.median(finals[name]), difference.mean()]
        expected += [*intervals.mean_interval(difference, 0.95)]
        columns = ["mean", "low", "high", "median", "difference", "difference_low", "difference_high"]
        assert np.allclose(row[columns].astype(float), expected, rtol=1e-12, atol=1e-12)
        # The last tenth of twelve episodes is one episode.
        assert row["failed"] == (compared.runs[name].regret[:, -1] > uniform / 2).mean()
    assert list(table["setting"][["left", "bef"]]) == ["action=0", "x=2"]
    assert set(compared.table().columns) == set(compared.table().attrs["meanings"])


def test_a_comparison_agrees_with_the_command_aggregate(compared):
    for name, runs in compared.runs.items():
        runs.save(f"runs/{name}/0-4.npz")
    words = "aggregate --runs runs --agents a b greedy random oracle --batches 0-4 --out tables --timings timings.csv"
    assert cli.main(words.split()) == 0
    theirs, ours = befrl.read("tables/summary.csv").set_index("agent"), compared.table().set_index("agent")
    for name, other in {"mean": "mean", "low": "low", "high": "high", "median": "q50", "failed": "failed"}.items():
        assert np.allclose(ours[name], theirs[other][ours.index], rtol=1e-9, atol=1e-12)


def test_frames_are_tidy(compared):
    frame = compared.frame()
    assert len(frame) == 5 * 5 * 12 and set(frame.columns) == set(frame.attrs["meanings"])
    wide = frame[frame["agent"] == "a"].pivot(index="seed", columns="episode", values="regret")
    assert np.array_equal(wide.to_numpy(), compared.runs["a"].regret)
    last = frame[(frame["episode"] == 12) & (frame["agent"] == "a")]["cumulative"]
    assert np.allclose(last, compared.runs["a"].regret.sum(1))


def test_a_figure_is_deterministic_and_changes_no_settings(compared):
    before, backend = dict(matplotlib.rcParams), matplotlib.get_backend()
    for ending in ("png", "svg", "pdf"):
        figures = [compared.plot(f"{name}.{ending}") for name in ("one", "two")]
        assert Path(f"one.{ending}").read_bytes() == Path(f"two.{ending}").read_bytes()
    assert dict(matplotlib.rcParams) == before and matplotlib.get_backend() == backend
    (axis,) = figures[0].axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert set(lines) == {"a", "b", "greedy", "random"}
    assert lines["a"].get_ydata()[-1] == pytest.approx(compared.runs["a"].cumulative[:, -1].mean())
    assert figures[0].get_suptitle().startswith("chain, reward unknown, K = 12, 5 seeds")
    styles = {(line.get_color(), line.get_marker(), str(line.get_linestyle())) for line in lines.values()}
    assert len(styles) == 4


def test_saved_files_are_read(mdp):
    runs = befrl.run(mdp, Fixed, **SMALL)
    with pytest.raises(befrl.InputError, match=r"'fixed\.txt' is not allowed: the name of a run file ends in \.npz"):
        runs.save("fixed.txt")
    runs.save("fixed.npz")
    again = befrl.read("fixed.npz")["Fixed"]
    assert same(runs, again) and again.meta.items() >= runs.meta.items()
    assert cli.main("instance chain --set bins=3 horizon=4 --name small --out small.npz".split()) == 0
    instance = befrl.read("small.npz")
    assert instance.name == "small" and np.array_equal(instance.P, mdp.P)


def test_a_file_with_several_settings_is_read_by_name(mdp):
    words = "run --instance chain --instance-set bins=3 horizon=4 --agent bef-rlsvi --sweep x=[1,4] --episodes 6"
    assert cli.main([*words.split(), "--seeds", "3", "--quiet", "--out", "sweep.npz"]) == 0
    found = befrl.read("sweep.npz")
    assert list(found) == ["bef-rlsvi", "bef-rlsvi@x=1", "bef-rlsvi@x=4"]
    assert same(found["bef-rlsvi@x=4"], befrl.run(mdp, "bef-rlsvi", x=4, episodes=6, seeds=3))
    assert len(befrl.Comparison(found).table()) == 3


def test_committed_tables_are_read_with_their_meanings():
    paths = [*(PROJECT / "results" / "reference").glob("*.csv"), *(PROJECT / "tests/reference/smoke").rglob("*.csv")]
    for path in paths:
        frame = befrl.read(path)
        assert list(frame.attrs["meanings"]) == list(frame.columns) and frame.attrs["made_by"].startswith("befrl ")
        pd.testing.assert_frame_equal(frame, pd.read_csv(path))


def test_the_verb_prints_the_same_comparison(mdp, capsys):
    words = "compare chain --set bins=3 horizon=4 --agents bef-rlsvi:x=2 bef-rlsvi:x=5,eta=2 exp-psrl"
    assert cli.main([*words.split(), *"--episodes 12 --seeds 5 --json --plot regret.svg".split()]) == 0
    printed = pd.DataFrame(json.loads(capsys.readouterr().out)["agents"]).set_index("agent")
    agents = {"bef-rlsvi:x=2": ("bef-rlsvi", {"x": 2}), "bef-rlsvi:x=5,eta=2": ("bef-rlsvi", {"x": 5, "eta": 2})}
    table = befrl.compare(mdp, agents | {"exp-psrl": "exp-psrl"}, **SMALL).table().set_index("agent")
    assert list(printed.index) == list(table.index)
    numbers = ["mean", "low", "high", "median", "failed", "difference", "difference_low", "difference_high"]
    assert np.allclose(printed[numbers], table[numbers], rtol=1e-9, atol=1e-9)
    assert Path("regret.svg").read_bytes().startswith(b"<?xml")
    assert cli.main("compare small.npz --agents greedy --episodes 3 --seeds 1".split()) == 2
    assert cli.main("instance chain --set bins=3 horizon=4 --name small --out small.npz".split()) == 0
    assert cli.main("compare small.npz --agents greedy --episodes 3 --seeds 1 --plot one.svg".split()) == 0
    assert Path("one.svg").read_bytes().startswith(b"<?xml")
    lines = capsys.readouterr().out.splitlines()
    assert "'small', track U: 1 seeds, 3 episodes" in lines[0] and len(lines) == 5


def test_a_wrong_command_ends_with_one_line(capsys):
    for words, message in {
        "chain --agents gredy": "unknown agent 'gredy'",
        "chain --agents bef-rlsvi:x": "x: write name=value",
        "chain --agents greedy greedy": "--agents greedy: is given twice",
        "chain --agents greedy --plot regret.doc": "regret.doc: cannot be drawn, the name must end in .png",
        "small.npz --agents greedy": "small.npz: there is no such file",
        "small.npz --agents greedy --set bins=3": "--set goes with a family, not with an instance file",
    }.items():
        assert cli.main(["compare", *words.split()]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1


class Abstract(BaseAgent):
    pass


class Plain(BaseAgent):
    class Parameters:
        c = 1.0

    def plan(self, k):
        pytest.fail("an agent with wrong parameters has planned")


class Failing(BaseAgent):
    def plan(self, k):
        return 1 / 0


# Changes of the arguments of `befrl.run(mdp, "greedy")`, and part of the message.
WRONG_RUNS = [
    ({"agent": int}, "agent int is not allowed: it must be a subclass"),
    ({"agent": 3}, "agent = 3 is not allowed"),
    ({"agent": Abstract}, "agent Abstract is not allowed: it must define"),
    ({"agent": Plain}, "must be a dataclass"),
    ({"agent": "gredy"}, "unknown agent 'gredy'"),
    ({"x": 3}, "agent 'greedy': unknown parameter 'x'"),
    ({"agent": Fixed, "action": 2}, "action = 2 is not allowed"),
    ({"mdp": "lds", "agent": "rrl-mnl"}, "rrl-mnl"),
    ({"mdp": 3}, "instance = 3 is not allowed"),
    ({"mdp": "chian"}, "unknown instance 'chian'"),
    ({"seeds": 0}, "seeds = 0 is not allowed"),
    ({"seeds": []}, "at least one seed"),
    ({"seeds": [1, 1]}, "each of them once"),
    ({"seeds": 1.5}, "seeds = 1.5 is not allowed"),
    ({"seeds": True}, "seeds = True is not allowed"),
    ({"episodes": -1}, "episodes = -1 is not allowed"),
    ({"cores": 0}, "cores = 0 is not allowed"),
    ({"root_seed": -2}, "root_seed = -2 is not allowed"),
    ({"track": "X"}, "unknown track 'X'"),
    ({"label": "a@b"}, "the name 'a@b' of an agent is not allowed"),
]
WRONG_CALLS = [
    (befrl.instance, (3,), "it must be the name of an instance"),
    (befrl.run, (Fixed, "greedy"), "instance = an object of abc.ABCMeta"),
    (befrl.compare, ("chain", {}), "agents is not allowed"),
    (befrl.compare, ("chain", "greedy"), "agents is not allowed"),
    (befrl.compare, ("chain", ["greedy", "greedy"]), "agents: 'greedy' is given twice"),
    (befrl.compare, ("chain", {"a/b": "greedy"}), "the name 'a/b' of an agent is not allowed"),
    (befrl.compare, ("chain", {"a": ("psrl", {"scale": [1, "x"]})}), "the sweep of 'a' is not allowed"),
    (befrl.compare, (["chain", "chain"], ["greedy"]), "each name once"),
    (befrl.compare, ("chain", {"a": ("greedy", 3)}), "agents: 'a' is not allowed"),
    (befrl.compare, ("chain", {"greedy": Fixed}), "agent 'greedy' exists already"),
    (befrl.Comparison, ({"a": 3},), "runs is not allowed"),
    (befrl.read, (3,), "path = 3 is not allowed"),
    (befrl.read, ("a/b.csv",), "a/b.csv: there is no such file"),
    (befrl.read, (".",), "is a folder"),
    (befrl.read, (__file__,), "befrl reads files that end in .csv, .npz, .json"),
]


def assert_rejected(message, function, *arguments, **options):
    with pytest.raises(befrl.InputError) as error:
        function(*arguments, **options)
    text = str(error.value)
    assert message in text and "\n" not in text and isinstance(error.value, ValueError)


def test_wrong_input_is_rejected_in_one_line(mdp):
    for change, message in WRONG_RUNS:
        assert_rejected(message, befrl.run, **{"mdp": mdp, "agent": "greedy"} | change)
    for function, arguments, message in WRONG_CALLS:
        assert_rejected(message, function, *arguments)
    other_seeds = {name: befrl.run(mdp, "random", episodes=2, seeds=n) for name, n in {"a": 2, "b": 3}.items()}
    assert_rejected("runs of 'b' are of other evaluation seeds", befrl.Comparison, other_seeds)
    negative = befrl.Runs(other_seeds["a"].log | {"regret": np.full((1, 2, 2), -1e-6)}, other_seeds["a"].meta)
    assert_rejected("runs of 'a' have the regret -1e-06, and none can", befrl.Comparison, {"a": negative})


def test_files_of_another_origin_are_rejected(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.json").write_text("{")
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    assert_rejected("no table of befrl has the columns a, b", befrl.read, "other.csv")
    assert_rejected("cannot be read as JSON", befrl.read, "other.json")
    assert_rejected("not a befrl run file", befrl.read, "other.npz")
    assert_rejected("not a befrl run file", befrl.read, "broken.npz")


def test_everything_is_checked_before_the_first_run(mdp, monkeypatch):
    kept = befrl.run(mdp, "random", episodes=12, seeds="3-7")
    monkeypatch.setattr("befrl.experiment.loop.run", lambda *_: pytest.fail("an agent has run"))
    wrong = {"a": "greedy", "b": ("bef-rlsvi", {"y": 1})}
    assert_rejected("unknown parameter 'y'", befrl.compare, mdp, wrong, **SMALL)
    assert_rejected("the runs of 'random' have other seeds", befrl.compare, mdp, [kept, "greedy"], **SMALL)
    assert cli.main("compare chain --agents greedy --plot a.txt".split()) == 2


def test_an_exception_in_a_users_agent_is_passed_on(mdp):
    """It is not wrong input: the exception comes through, also from another process."""
    for cores in (1, 2):
        with pytest.raises(ZeroDivisionError):
            befrl.run(mdp, Failing, cores=cores, lockstep=1, episodes=2, seeds=2)
