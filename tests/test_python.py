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
from befrl.analysis import intervals
from befrl.common.parameters import number
from befrl.experiment import run_file
from helpers import PROJECT

EXACT = (*run_file.LOGGED, *run_file.TRACED, "plans")
SMALL = {"episodes": 12, "seeds": 5}


@pytest.fixture(scope="module")
def mdp():
    return befrl.instance("chain", bins=3, horizon=4)


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch, unplugged):
    """Every test has a folder of its own, and no agent remains in the registry."""
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


# The pages.


def blocks():
    page = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page(tmp_path, capsys):
    """In a namespace like that of a notebook, whose classes are sent to other processes by value."""
    space = {"__name__": "__main__"}
    for block in blocks():
        exec(block, space)
    runs, compared = space["runs"], space["compared"]
    assert runs.regret.shape == (20, 200) and np.all(runs.regret > -1e-9)
    assert compared.table()["agent"][0] == "oracle" and set(compared.runs) > {"bef", "exp-psrl", "greedy"}
    assert same(runs, compared.runs["bef"])
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    assert capsys.readouterr().out.splitlines()[-1].startswith("seeds = 0 is not allowed")
    # What the page says of cores: a class and an instance that exist in no file, in other processes.
    options = {"first": 3, "episodes": 9, "seeds": 6, "lockstep": 3}
    one, two = (befrl.run(space["toy"], space["ExploreThenCommit"], cores=cores, **options) for cores in (1, 2))
    assert same(one, two) and one.meta["instance"] == "toy" and one.meta["settings"] == [{"first": 3}]


def test_the_commands_of_the_page_give_the_same_bits():
    page = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"`befrl (run --instance .*?)`", page, flags=re.DOTALL)
    assert cli.main([*command.split(), "--quiet", "--out", "cli.npz"]) == 0
    space = {"__name__": "__main__"}
    exec(blocks()[0], space)
    assert same(befrl.read("cli.npz")["bef-rlsvi"], space["runs"])


def test_the_tour():
    """The notebook runs, and is stored without outputs."""
    cells = json.loads((PROJECT / "docs" / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) > 5
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in codes)
    space = {"__name__": "__main__"}
    with matplotlib.rc_context():
        matplotlib.use("Agg")
        for cell in codes:
            exec("".join(cell["source"]), space)
        space["plt"].close("all")
    assert set(space["compared"].runs) == {"count-bonus", "bef-rlsvi", "greedy", "random", "oracle"}


def test_importing_befrl_loads_nothing():
    words = "import sys, befrl; dir(befrl); print({'numpy', 'pandas', 'befrl.api'} & {*sys.modules})"
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "src")}
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert befrl.__version__ == project["version"]


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'befrl' has no attribute 'rnu'"):
        _ = befrl.rnu


# The same bits.


@pytest.mark.parametrize("name", ["riverswim-cho-4", "lds"])
def test_the_command_line_and_all_numbers_of_cores_give_the_same_bits(name):
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


def test_a_changed_instance_is_played_as_it_is_in_every_process(mdp):
    """Its family and parameters no longer tell what it is."""
    changed = replace(mdp, horizon=2, theta_r=mdp.theta_r + 0.3)
    one, two = (befrl.run(changed, "greedy", cores=cores, lockstep=2, **SMALL) for cores in (1, 2))
    assert same(one, two) and one.meta["horizon"] == 2
    assert not same(one, befrl.run(mdp, "greedy", **SMALL))


def test_numbers_that_a_user_looked_at_before_do_not_matter(mdp):
    looked_at = replace(mdp)
    looked_at.__dict__["P"] = np.full_like(mdp.P, 0.5)
    assert same(befrl.run(looked_at, "greedy", **SMALL), befrl.run(mdp, "greedy", **SMALL))


def test_a_class_plays_like_the_same_agent_by_name(mdp):
    """Our own class, whose parameters are beside it in its module."""
    from befrl.agents.bef_rlsvi import Agent

    assert same(befrl.run(mdp, Agent, x=2, label="mine", **SMALL), befrl.run(mdp, "bef-rlsvi", x=2, **SMALL))


def test_a_class_can_be_defined_again(mdp):
    first = befrl.run(mdp, Fixed, action=0, **SMALL)

    class Fixed2(Fixed):
        pass

    Fixed2.__name__ = "Fixed"
    assert same(befrl.run(mdp, Fixed2, action=0, **SMALL), first)
    assert same(befrl.run(mdp, "Fixed", action=0, **SMALL), first)


def test_seeds_are_a_number_a_range_or_a_list(mdp):
    several = befrl.run(mdp, "bef-rlsvi", episodes=5, seeds=4)
    assert several.seeds == [0, 1, 2, 3]
    for seeds in ("2-3", range(2, 4), [2, 3], np.array([2, 3])):
        assert befrl.run(mdp, "bef-rlsvi", episodes=5, seeds=seeds).regret.tobytes() == several.regret[2:].tobytes()


# What is computed.


def test_the_regret_of_fixed_play_is_that_of_the_formula(mdp):
    """V* - V^pi of a policy without choice, by matrix powers; the first state is in the first bin."""
    value = sum(np.linalg.matrix_power(mdp.P[:, 0], h) @ mdp.R[:, 0] for h in range(4))[0]
    runs = befrl.run(mdp, Fixed, action=0, **SMALL)
    assert np.allclose(runs.regret, mdp.optimum[1][0][0] - value, rtol=0, atol=1e-12)


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
        # One in twelve episodes is the last tenth.
        assert row["failed"] == (compared.runs[name].regret[:, -1] > uniform / 2).mean()
    assert list(table["setting"][["left", "bef"]]) == ["action=0", "x=2"]
    assert set(compared.table().columns) == set(compared.table().attrs["meanings"])


def test_a_comparison_is_that_of_the_command_aggregate(mdp):
    compared = befrl.compare(mdp, {"bef": ("bef-rlsvi", {"x": 2})}, **SMALL)
    for name, runs in compared.runs.items():
        runs.save(f"runs/{name}/0-4.npz")
    words = "aggregate --runs runs --agents bef greedy random oracle --batches 0-4 --out tables --timings timings.csv"
    assert cli.main(words.split()) == 0
    theirs, ours = befrl.read("tables/summary.csv").set_index("agent"), compared.table().set_index("agent")
    for name, other in {"mean": "mean", "low": "low", "high": "high", "median": "q50", "failed": "failed"}.items():
        assert np.allclose(ours[name], theirs[other][ours.index], rtol=1e-9, atol=1e-12)


def test_frames_are_tidy(mdp):
    compared = befrl.compare(mdp, {"bef": ("bef-rlsvi", {"x": 2})}, **SMALL)
    frame = compared.frame()
    assert len(frame) == 4 * 5 * 12 and set(frame.columns) == set(frame.attrs["meanings"])
    wide = frame[frame["agent"] == "bef"].pivot(index="seed", columns="episode", values="regret")
    assert np.array_equal(wide.to_numpy(), compared.runs["bef"].regret)
    last = frame[(frame["episode"] == 12) & (frame["agent"] == "bef")]["cumulative"]
    assert np.allclose(last, compared.runs["bef"].regret.sum(1))


def test_a_figure_is_the_same_every_time_and_changes_no_settings(mdp):
    compared = befrl.compare(mdp, {"a": ("bef-rlsvi", {"x": 2}), "b": ("bef-rlsvi", {"x": 5})}, **SMALL)
    before, backend = dict(matplotlib.rcParams), matplotlib.get_backend()
    for ending in ("png", "svg", "pdf"):
        compared.plot(f"one.{ending}")
        compared.plot(f"two.{ending}")
        assert Path(f"one.{ending}").read_bytes() == Path(f"two.{ending}").read_bytes()
    assert dict(matplotlib.rcParams) == before and matplotlib.get_backend() == backend
    figure = compared.plot()
    (axis,) = figure.axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert set(lines) == {"a", "b", "greedy", "random"}
    assert lines["a"].get_ydata()[-1] == pytest.approx(compared.runs["a"].cumulative[:, -1].mean())
    assert figure.get_suptitle().startswith("chain, reward unknown, K = 12, 5 seeds")
    looks = {(line.get_color(), line.get_marker(), str(line.get_linestyle())) for line in lines.values()}
    assert len(looks) == 4


# Files.


def test_what_was_saved_is_read(mdp):
    runs = befrl.run(mdp, Fixed, **SMALL)
    with pytest.raises(befrl.InputError, match=r"'fixed\.txt' is not allowed: the name of a run file ends in \.npz"):
        runs.save("fixed.txt")
    runs.save("fixed.npz")
    again = befrl.read("fixed.npz")["Fixed"]
    assert same(runs, again) and again.meta.items() >= runs.meta.items()
    assert cli.main("instance chain --set bins=3 horizon=4 --name small --out small.npz".split()) == 0
    instance = befrl.read("small.npz")
    assert instance.name == "small" and np.array_equal(instance.P, mdp.P)


def test_a_file_with_several_settings_is_read_by_name():
    words = "run --instance chain --instance-set bins=3 horizon=4 --agent bef-rlsvi --sweep x=[1,4] --episodes 6"
    assert cli.main([*words.split(), "--seeds", "3", "--quiet", "--out", "sweep.npz"]) == 0
    found = befrl.read("sweep.npz")
    assert list(found) == ["bef-rlsvi", "bef-rlsvi@x=1", "bef-rlsvi@x=4"]
    mdp = befrl.instance("chain", bins=3, horizon=4)
    assert same(found["bef-rlsvi@x=4"], befrl.run(mdp, "bef-rlsvi", x=4, episodes=6, seeds=3))
    assert len(befrl.Comparison(found).table()) == 3


def test_every_committed_table_is_read_with_its_meanings():
    paths = [*(PROJECT / "results" / "reference").glob("*.csv"), *(PROJECT / "tests/reference/smoke").rglob("*.csv")]
    for path in paths:
        frame = befrl.read(path)
        assert list(frame.attrs["meanings"]) == list(frame.columns) and frame.attrs["made_by"].startswith("befrl ")
        pd.testing.assert_frame_equal(frame, pd.read_csv(path))


# The verb.


def test_the_verb_prints_the_same_comparison(mdp, capsys):
    words = "compare chain --set bins=3 horizon=4 --agents bef-rlsvi:x=2 bef-rlsvi:x=5,eta=2 exp-psrl"
    assert cli.main([*words.split(), *"--episodes 12 --seeds 5 --json --plot regret.svg".split()]) == 0
    printed = pd.DataFrame(json.loads(capsys.readouterr().out)).set_index("agent")
    agents = {"bef-rlsvi:x=2": ("bef-rlsvi", {"x": 2}), "bef-rlsvi:x=5,eta=2": ("bef-rlsvi", {"x": 5, "eta": 2})}
    table = befrl.compare(mdp, agents | {"exp-psrl": "exp-psrl"}, **SMALL).table().set_index("agent")
    assert list(printed.index) == list(table.index)
    numbers = ["mean", "low", "high", "median", "failed", "difference", "difference_low", "difference_high"]
    assert np.allclose(printed[numbers], table[numbers], rtol=1e-9, atol=1e-9)
    assert Path("regret.svg").read_bytes().startswith(b"<?xml")
    assert cli.main("compare small.npz --agents greedy --episodes 3 --seeds 1".split()) == 2
    assert cli.main("instance chain --set bins=3 horizon=4 --name small --out small.npz".split()) == 0
    assert cli.main("compare small.npz --agents greedy --episodes 3 --seeds 1".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "'small', track U: 1 seeds, 3 episodes" in lines[0] and len(lines) == 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("chain --agents gredy", "unknown agent 'gredy'"),
        ("chian --agents greedy", "unknown instance 'chian'"),
        ("chain --agents bef-rlsvi:y=3", "agent 'bef-rlsvi': unknown parameter 'y'"),
        ("chain --agents bef-rlsvi:x", "x: write name=value"),
        ("chain --agents greedy greedy", "--agents greedy: is given twice"),
        ("chain --agents greedy --seeds 0", "seeds = '0' is not allowed"),
        ("chain --agents greedy --track X", "unknown track 'X'"),
        ("chain --agents greedy --plot regret.doc", "regret.doc: cannot be drawn, the name must end in .png"),
        ("small.npz --agents greedy", "small.npz: there is no such file"),
        ("small.npz --agents greedy --set bins=3", "--set goes with a family, not with an instance file"),
    ],
)
def test_a_wrong_command_ends_with_a_sentence(words, sentence, capsys):
    assert cli.main(["compare", *words.split()]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


# Wrong input.


class Abstract(BaseAgent):
    pass


class Plain(BaseAgent):
    class Parameters:
        c = 1.0

    def plan(self, k):
        pytest.fail("an agent without sound parameters has planned")


def unequal(mdp):
    """Runs that cannot be paired."""
    return {name: befrl.run(mdp, "random", episodes=2, seeds=seeds) for name, seeds in {"a": 2, "b": 3}.items()}


REFUSED = {
    "an agent that is no agent": (lambda mdp: befrl.run(mdp, int), "agent int is not allowed: it must be a subclass"),
    "an object for a class": (lambda mdp: befrl.run(mdp, 3), "agent = 3 is not allowed"),
    "a class without plan": (lambda mdp: befrl.run(mdp, Abstract), "agent Abstract is not allowed: it must define"),
    "plain parameters": (lambda mdp: befrl.run(mdp, Plain), "must be a dataclass"),
    "an unknown agent": (lambda mdp: befrl.run(mdp, "gredy"), "unknown agent 'gredy'"),
    "an unknown parameter": (lambda mdp: befrl.run(mdp, "greedy", x=3), "agent 'greedy': unknown parameter 'x'"),
    "a bad value": (lambda mdp: befrl.run(mdp, "bef-rlsvi", x=-1), "x = -1 is not allowed"),
    "an own parameter out of range": (lambda mdp: befrl.run(mdp, Fixed, action=2), "action = 2 is not allowed"),
    "an agent that cannot run": (lambda mdp: befrl.run("lds", "rrl-mnl"), "rrl-mnl"),
    "an instance that is none": (lambda mdp: befrl.run(mdp.model, "greedy"), "instance = an object of befrl.model"),
    "an unknown instance": (lambda mdp: befrl.run("chian", "greedy"), "unknown instance 'chian'"),
    "an unknown family": (lambda mdp: befrl.instance("chian"), "unknown instance 'chian'"),
    "no family": (lambda mdp: befrl.instance(mdp), "it must be the name of an instance"),
    "an unknown instance parameter": (lambda mdp: befrl.instance("chain", bin=3), "unknown parameter 'bin'"),
    "no seeds": (lambda mdp: befrl.run(mdp, "greedy", seeds=0), "seeds = 0 is not allowed"),
    "an empty list": (lambda mdp: befrl.run(mdp, "greedy", seeds=[]), "at least one seed"),
    "a seed twice": (lambda mdp: befrl.run(mdp, "greedy", seeds=[1, 1]), "each of them once"),
    "half a seed": (lambda mdp: befrl.run(mdp, "greedy", seeds=1.5), "seeds = 1.5 is not allowed"),
    "a truth value": (lambda mdp: befrl.run(mdp, "greedy", seeds=True), "seeds = True is not allowed"),
    "negative episodes": (lambda mdp: befrl.run(mdp, "greedy", episodes=-1), "episodes = -1 is not allowed"),
    "no cores": (lambda mdp: befrl.run(mdp, "greedy", cores=0), "cores = 0 is not allowed"),
    "a bad root seed": (lambda mdp: befrl.run(mdp, "greedy", root_seed=-2), "root_seed = -2 is not allowed"),
    "a bad track": (lambda mdp: befrl.run(mdp, "greedy", track="X"), "unknown track 'X'"),
    "a bad label": (lambda mdp: befrl.run(mdp, "greedy", label="a@b"), "the name 'a@b' of an agent is not allowed"),
    "no agents": (lambda mdp: befrl.compare(mdp, {}), "agents is not allowed"),
    "a list of agents": (lambda mdp: befrl.compare(mdp, ["greedy"]), "agents is not allowed"),
    "parameters that are none": (lambda mdp: befrl.compare(mdp, {"a": ("greedy", 3)}), "agents: 'a' is not allowed"),
    "a name of ours": (lambda mdp: befrl.compare(mdp, {"greedy": Fixed}), "agent 'greedy' exists already"),
    "no runs": (lambda mdp: befrl.Comparison({"a": 3}), "runs is not allowed"),
    "other seeds": (lambda mdp: befrl.Comparison(unequal(mdp)), "runs of 'b' are of other evaluation seeds"),
    "no path": (lambda mdp: befrl.read(3), "path = 3 is not allowed"),
    "a path that is not there": (lambda mdp: befrl.read("a/b.csv"), r"a/b.csv: there is no such file"),
    "a folder": (lambda mdp: befrl.read("."), "is a folder"),
    "another ending": (lambda mdp: befrl.read(__file__), "befrl reads files that end in .csv, .npz, .json"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_input_is_refused_in_one_sentence(mdp, case):
    call, sentence = REFUSED[case]
    with pytest.raises(befrl.InputError) as refused:
        call(mdp)
    said = str(refused.value)
    assert sentence in said and "\n" not in said and isinstance(refused.value, ValueError)


def test_files_that_are_not_ours_are_refused(tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.json").write_text("{")
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    for name, words in {
        "other.csv": "no table of befrl has the columns a, b",
        "other.json": "cannot be read as JSON",
        "other.npz": "not a befrl run file",
        "broken.npz": "not a befrl run file",
    }.items():
        with pytest.raises(befrl.InputError, match=words):
            befrl.read(name)


def test_nothing_runs_before_everything_is_checked(mdp, monkeypatch):
    monkeypatch.setattr("befrl.experiment.loop.run", lambda *_: pytest.fail("an agent has run"))
    with pytest.raises(befrl.InputError, match="unknown parameter 'y'"):
        befrl.compare(mdp, {"a": "greedy", "b": ("bef-rlsvi", {"y": 1})}, **SMALL)
    with pytest.raises(befrl.InputError, match="must end in"):
        cli.verbs.registry.module("compare").call(
            cli.build_parser().parse_args(["compare", "chain", "--agents", "greedy", "--plot", "a.txt"])
        )


def test_a_mistake_in_a_users_agent_is_shown_where_it_is(mdp):
    """It is not wrong input: the exception comes through, also from another process."""
    for cores in (1, 2):
        with pytest.raises(ZeroDivisionError):
            befrl.run(mdp, ContractError, cores=cores, lockstep=1, episodes=2, seeds=2)


class ContractError(BaseAgent):
    def plan(self, k):
        return 1 / 0
